/**
 * What each server offers, by name and by the pin of its definition, against lists that are kept
 * beside the servers: a change of a definition, or of how pins are made, shows as a difference here.
 * `npm run golden` renews the lists.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Host } from '../../../src/mcp/types.ts';
import { startAsking } from '../../servers/asking.ts';
import { startAuthorization } from '../../servers/authorization.ts';
import { startBroken } from '../../servers/broken.ts';
import { startEverything } from '../../servers/everything.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { startPeer, type StdioServer } from '../../servers/peers.ts';
import { startResuming } from '../../servers/resuming.ts';
import { startTravel } from '../../servers/travel.ts';
import { startUnruly } from '../../servers/unruly.ts';
import { hostOf, newDesk } from './auth-world.ts';
import { afterTest, never, newHost, started } from './setup.ts';

interface Endpoint {
  readonly url: string;
  close(): Promise<void>;
}

async function publicServer(kind: StdioServer['kind']): Promise<Endpoint> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deft-golden-'));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  return startPeer('mcp-proxy-legacy', { kind, folder });
}

const SERVERS: Readonly<Record<string, () => Promise<Endpoint>>> = {
  travel: () => startTravel(),
  legacy: () => startLegacy(),
  broken: () => startBroken({ fault: { kind: 'hang' }, times: 0 }),
  unruly: async () => {
    const unruly = await startUnruly();
    return { url: unruly.url('none'), close: unruly.close };
  },
  asking: () => startAsking(),
  resuming: () => startResuming({ kind: 'http' }),
  everything: () => startEverything('streamableHttp'),
  filesystem: () => publicServer('filesystem'),
  memory: () => publicServer('memory'),
};

async function isKept(name: string, host: Host, server: string): Promise<void> {
  const view = (await host.list()).find(({ record }) => record.id === server);
  const pins = (view?.tools ?? []).map(({ name: tool, pin }) => [tool, pin] as const);
  expect(pins.length).toBeGreaterThan(0);
  const sorted = Object.fromEntries([...pins].sort(([a], [b]) => (a < b ? -1 : 1)));
  await expect(`${JSON.stringify(sorted, null, 2)}\n`).toMatchFileSnapshot(
    `../../servers/golden/${name}.json`,
  );
}

describe('the list of', () => {
  it.each(Object.entries(SERVERS))(
    '%s is the one that is kept',
    async (name, start) => {
      const server = await started(start());
      const { host } = await newHost({ limits: { connect: 60_000, list: 60_000 } });
      const added = await host.add({ url: server.url });
      if (!added.ok) throw new Error(added.error.message);
      await isKept(name, host, added.server.id);
    },
    120_000,
  );

  it('the notebook behind a sign-in is the one that is kept', async () => {
    const server = await started(startAuthorization());
    const desk = await newDesk(server.mcp.url);
    const host = await hostOf(desk);
    expect(await host.signIn(desk.record.id, never())).toEqual({ ok: true });
    await isKept('notebook', host, desk.record.id);
  });
});
