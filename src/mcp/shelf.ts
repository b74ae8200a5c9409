/**
 * Servers and their lists as they are stored, kept in memory: a thousand tools are not read from the
 * database again because one server has changed. A row that did not change keeps its identity.
 */
import type { ServerRecord, ToolListRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { Stock } from './types.ts';

export interface Shelf {
  /** What is stored now. */
  stock(): Promise<Stock>;
  close(): void;
}

type Held = {
  readonly servers: Map<string, ServerRecord>;
  readonly lists: Map<string, ToolListRecord>;
};

export function createShelf(store: Pick<Store, 'servers' | 'lists' | 'changes'>): Shelf {
  /** Keys of rows that were written since they were read. */
  const changed = { servers: new Set<string>(), lists: new Set<string>() };
  let held: Promise<Held> | null = null;

  const close = store.changes.subscribe(({ topic, key }) => {
    if (topic === 'servers' || topic === 'lists') changed[topic].add(key);
  });

  async function readAll(): Promise<Held> {
    changed.servers.clear();
    changed.lists.clear();
    const [servers, lists] = await Promise.all([store.servers.all(), store.lists.all()]);
    return {
      servers: new Map(servers.map((record) => [record.id, record])),
      lists: new Map(lists.map((list) => [list.server, list])),
    };
  }

  /** Reads again what has changed, one row each. */
  async function catchUp(now: Held): Promise<Held> {
    const [servers, lists] = [[...changed.servers], [...changed.lists]];
    changed.servers.clear();
    changed.lists.clear();
    await Promise.all([
      ...servers.map(async (id) => put(now.servers, id, await store.servers.get(id))),
      ...lists.map(async (id) => put(now.lists, id, await store.lists.get(id))),
    ]);
    return now;
  }

  return {
    async stock() {
      const next: Promise<Held> = held ? held.then(catchUp) : readAll();
      held = next;
      next.catch(() => {
        // Read whole the next time: which rows are out of date is not known any more.
        if (held === next) held = null;
      });
      const { servers, lists } = await next;
      return { servers: [...servers.values()], lists: new Map(lists) };
    },
    close,
  };
}

function put<T>(rows: Map<string, T>, key: string, row: T | undefined): void {
  if (row === undefined) rows.delete(key);
  else rows.set(key, row);
}
