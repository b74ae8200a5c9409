/** Where the addresses lead that stand for something else: `/`, the shortcuts, `/share`. */
import type { App } from '../app.ts';
import type { Route } from './router.ts';

/** Words that another app shared (Web Share Target: title, text, url), as one draft. */
function shared(query: URLSearchParams): string {
  const words = ['title', 'text', 'url'].map((name) => query.get(name)?.trim() ?? '');
  return words.filter((word, index) => word && words.indexOf(word) === index).join('\n');
}

async function fresh(app: App, draft = ''): Promise<string> {
  const { id } = await app.conversations.create();
  if (draft) {
    const session = await app.conversations.open(id);
    await session?.setDraft(draft);
    session?.close();
  }
  return `/c/${id}`;
}

/** The path to go on to. */
export async function openHome(app: App, route: Route): Promise<string> {
  const { query } = route;
  if (route.screen.name === 'share') return fresh(app, shared(query));
  if (query.has('server'))
    return `/servers?${new URLSearchParams({ server: query.get('server') ?? '' })}`;
  if (query.has('new')) return fresh(app);
  if (!(await app.settings.get()).firstRunDone) return '/welcome';
  const [last] = await app.conversations.list();
  return last ? `/c/${last.id}` : fresh(app);
}
