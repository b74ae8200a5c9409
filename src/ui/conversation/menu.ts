/** The sheets of a conversation's menu. */
export type MenuPage = 'menu' | 'rename' | 'delete' | 'again' | 'context';
