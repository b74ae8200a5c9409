/** A conversation of any length, as the app's own backup file. */
import { ARCHIVE_FORMAT, ARCHIVE_VERSION } from '../../src/store/archive-shape.ts';
import type { ArchiveDocument, ArchivedMessage } from '../../src/store/archive-shape.ts';

const WORDS = 'The path goes up behind the church and comes out of the wood at the second bridge.';

/** Questions of a line, answers of one to six paragraphs, a list in every fifth. */
function message(index: number, time: number): ArchivedMessage {
  const question = index % 2 === 0;
  const paragraphs = Array.from(
    { length: 1 + (index % 6) },
    () => `${WORDS} **${index}.** ${WORDS}`,
  );
  if (index % 5 === 0) paragraphs.push('- boots\n- a raincoat\n- `a map` of the hills');
  return {
    id: `message-${index}`,
    role: question ? 'user' : 'assistant',
    createdAt: time + index,
    state: 'done',
    parts: [
      question
        ? { kind: 'text', step: 0, text: `How does it go on after stage ${index}?` }
        : { kind: 'text', step: 1, text: paragraphs.join('\n\n') },
    ],
  };
}

export function archiveOf(conversation: string, messages: number): ArchiveDocument {
  const time = Date.now() - 86_400_000;
  return {
    format: ARCHIVE_FORMAT,
    version: ARCHIVE_VERSION,
    exportedAt: time,
    settings: {},
    servers: [],
    lists: [],
    grants: [],
    reminders: [],
    accounts: [],
    conversations: [
      {
        conversation: {
          id: conversation,
          title: 'A walk in three days',
          createdAt: time,
          updatedAt: time,
          mode: 'auto',
          draft: '',
          queue: [],
          private: false,
          pinned: false,
        },
        messages: Array.from({ length: messages }, (_, index) => message(index, time)),
      },
    ],
  };
}
