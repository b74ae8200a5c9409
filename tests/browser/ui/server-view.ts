/** A server as the host shows it, for tests of the screens and of their words. */
import type { ServerView } from '../../../src/mcp/types.ts';
import type { ServerRecord } from '../../../src/store/records.ts';

export type ViewChange = Omit<Partial<ServerView>, 'record'> & { record?: Partial<ServerRecord> };

/** A server at rest that offers nothing, changed as the test wants it. */
export function serverView(change: ViewChange = {}): ServerView {
  const { record, ...view } = change;
  return {
    record: {
      id: 'notes',
      name: 'Notes',
      url: 'https://notes.example/mcp',
      addedAt: 1,
      enabled: true,
      trustHints: false,
      private: false,
      ...record,
    },
    local: false,
    status: 'idle',
    tools: [],
    listedAt: 1,
    stale: false,
    prompts: [],
    resources: [],
    templates: [],
    cut: [],
    appeared: [],
    missing: [],
    rule: null,
    log: [],
    era: null,
    auth: 'none',
    ...view,
  };
}
