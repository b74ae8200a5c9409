/** Connections of their own for tests that look at what goes over them, without a host. */
import { openHttp, type ConnectOptions, type Connection } from '../../../src/mcp/connection.ts';
import type { ServerLogEntry } from '../../../src/mcp/types.ts';
import type { ListKind } from '../../../src/store/records.ts';
import { afterTest } from './setup.ts';

export interface Connected {
  readonly connection: Connection;
  readonly changed: ListKind[];
  readonly log: ServerLogEntry[];
}

export type Given = Partial<ConnectOptions>;

export async function connected(url: string, given: Given = {}): Promise<Connected> {
  const changed: ListKind[] = [];
  const log: ServerLogEntry[] = [];
  const opened = await openHttp({
    peer: { name: 'Test', url: new URL(url), keyHeader: null },
    headers: {},
    secrets: [],
    era: undefined,
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
    online: () => true,
    onChanged: (kind) => changed.push(kind),
    onLog: (entry) => log.push(entry),
    ...given,
  });
  if (!opened.ok) throw new Error(`${opened.error.message} ${opened.error.detail ?? ''}`);
  const { connection } = opened;
  afterTest(() => connection.close());
  return { connection, changed, log };
}

/** The tool as the connection lists it. */
export async function toolFrom(connection: Connection, name: string) {
  const listed = await connection.list();
  if (!listed.ok) throw new Error(listed.error.message);
  const tool = listed.list.tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  return tool;
}
