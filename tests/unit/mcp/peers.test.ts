/** Against servers and gateways that nobody here wrote, over real HTTP, in both eras. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/store/records.ts';
import { startPeer, type Gateway, type StdioServer } from '../../servers/peers.ts';
import { afterTest, never, newHost, started, toolOf } from './setup.ts';

/** A gateway starts a server for each session, and a busy machine takes its time. */
const SLOW_MS = 120_000;
const LIMITS = { connect: 60_000, list: 60_000, call: 60_000 };

async function joined(gateway: Gateway, kind: StdioServer['kind']) {
  const folder = await mkdtemp(path.join(tmpdir(), 'deft-peer-'));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const peer = await started(startPeer(gateway, { kind, folder }));
  const { host } = await newHost({ limits: LIMITS });
  const added = await host.add({ url: peer.url });
  if (!added.ok) throw new Error(`${added.error.message} ${added.error.detail ?? ''}`);
  const { id } = added.server;
  const names = (await host.list()).find(({ record }) => record.id === id)?.tools.map(nameOf);
  const call = (name: string, args: Record<string, unknown>) =>
    host.callTool(toolOf(id, name), args, never());
  return { folder, server: added.server, names, call };
}

const nameOf = ({ name }: { name: string }) => name;
const textOf = (outcome: Outcome) =>
  outcome.kind === 'result' || outcome.kind === 'tool_error'
    ? outcome.content.map(({ text }) => String(text)).join('\n')
    : outcome.message;

describe('the public memory server', () => {
  it.each<[Gateway, 'modern' | 'legacy', 'http' | 'sse']>([
    ['mcp-proxy', 'modern', 'http'],
    ['mcp-proxy-legacy', 'legacy', 'http'],
    ['supergateway', 'legacy', 'http'],
  ])(
    'behind %s is reached in the %s era, and remembers',
    async (gateway, era, transport) => {
      const { server, names, call } = await joined(gateway, 'memory');
      expect(server).toMatchObject({ era: { kind: era } });
      expect(server.transport ?? 'http').toBe(transport);
      expect(names).toEqual(expect.arrayContaining(['create_entities', 'read_graph']));
      const ada = { name: 'Ada', entityType: 'person', observations: ['Likes trains.'] };
      expect(await call('create_entities', { entities: [ada] })).toMatchObject({ kind: 'result' });
      expect(await call('read_graph', {})).toMatchObject({
        kind: 'result',
        structured: { entities: [expect.objectContaining(ada)] },
      });
    },
    SLOW_MS,
  );
});

describe('the public filesystem server', () => {
  it.each<[Gateway, 'modern' | 'legacy', 'http' | 'sse']>([
    ['mcp-proxy', 'modern', 'http'],
    ['mcp-proxy-sse', 'legacy', 'sse'],
    ['supergateway', 'legacy', 'http'],
  ])(
    'behind %s is reached in the %s era over %s, reads what it may and says no to the rest',
    async (gateway, era, transport) => {
      const { folder, server, names, call } = await joined(gateway, 'filesystem');
      expect(server).toMatchObject({ era: { kind: era } });
      expect(server.transport ?? 'http').toBe(transport);
      expect(names).toEqual(expect.arrayContaining(['read_text_file', 'write_file']));
      const file = path.join(folder, 'note.txt');
      await writeFile(file, 'Milk and bread.');
      expect(textOf(await call('read_text_file', { path: file }))).toContain('Milk and bread.');
      const outside = await call('read_text_file', { path: '/etc/hostname' });
      expect(outside.kind).toBe('tool_error');
      expect(textOf(outside)).toMatch(/denied|outside/i);
    },
    SLOW_MS,
  );
});
