/** All that servers can do, on a page of a real browser: fetch, streams and CORS as they are. */
import { commands } from 'vitest/browser';
import { afterEach, expect, test } from 'vitest';
import { openHttp, type BoundAsks, type Connection } from '../../../src/mcp/connection.ts';
import type { McpServerSpec } from '../../servers/mcp-commands.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const never = () => new AbortController().signal;

async function connected(spec: McpServerSpec): Promise<Connection> {
  const url = await commands.startMcpServer(spec);
  cleanups.push(() => commands.stopMcpServer(url));
  const asks: BoundAsks = {
    elicit: async (request) => ({
      action: 'accept',
      ...(request.mode === 'form' ? { content: { name: 'Mira' } } : {}),
    }),
  };
  const opened = await openHttp({
    peer: { name: 'Test', url: new URL(url), keyHeader: null },
    headers: {},
    secrets: [],
    era: undefined,
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
    online: () => true,
    onChanged: () => undefined,
    asks,
    patience: { firstMs: 10 },
  });
  if (!opened.ok) throw new Error(`${opened.error.message} ${opened.error.advice}`);
  cleanups.push(() => opened.connection.close());
  return opened.connection;
}

test.each(['streamableHttp', 'sse'] as const)(
  'a server of the older era over %s lists, reads, asks and tells of changes',
  async (over) => {
    const connection = await connected({ kind: 'everything', over });
    expect(connection.transport).toBe(over === 'sse' ? 'sse' : 'http');
    const listed = await connection.list();
    if (!listed.ok) throw new Error(listed.error.message);
    const { tools, prompts, resources, templates } = listed.list;
    expect([tools, prompts, resources, templates].every(({ length }) => length > 1)).toBe(true);
    const uri = 'demo://resource/dynamic/text/1';
    expect(await connection.readResource(uri, never())).toMatchObject({ ok: true });
    const call = (name: string) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (!tool) throw new Error(`There is no ${name}.`);
      return connection.call(tool, {}, never());
    };
    expect(JSON.stringify(await call('trigger-elicitation-request'))).toContain('Mira');
    const updated = new Promise<void>((resolve) => {
      void connection.watch(uri, resolve).then(() => call('toggle-subscriber-updates'));
    });
    await updated;
  },
);

test('a server of the newer era asks before it answers, and makes tasks of calls', async () => {
  const connection = await connected({ kind: 'asking' });
  expect(connection.era).toBe('modern');
  const call = async (name: string) =>
    JSON.stringify(await connection.call({ name, inputSchema: { type: 'object' } }, {}, never()));
  expect(await call('greet')).toContain('accept Mira');
  expect(await call('visit')).toContain('visit: accept');
  expect(await call('asking_job')).toContain('Mira');
});
