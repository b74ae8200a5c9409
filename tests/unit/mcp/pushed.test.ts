/** Servers that tell how a task stands: the next question after it comes at once. */
import { describe, expect, it } from 'vitest';
import { startAsking } from '../../servers/asking.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { newHost, never, started, toolOf, until } from './setup.ts';

async function added(url: string) {
  const { host } = await newHost();
  const answer = await host.add({ url });
  if (!answer.ok) throw new Error(answer.error.message);
  return { host, id: answer.server.id };
}

/** Both want to be asked again only after a minute. */
describe('a task of a server that tells how it stands', () => {
  it('of 2025-11-25 is asked after at once', async () => {
    const server = await started(startLegacy({ tasks: true }));
    const { host, id } = await added(server.url);
    const tool = { ...toolOf(id, 'job'), execution: { taskSupport: 'required' as const } };
    const call = host.callTool(tool, {}, never(), {
      task: () => void until(() => server.streams() > 0).then(server.finish),
    });
    expect(await call).toMatchObject({ kind: 'result', content: [{ text: 'worked' }] });
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('of 2026-07-28 is listened for and asked after at once, and the stream ends with it', async () => {
    const server = await started(startAsking({ pushes: true, pollMs: 60_000 }));
    const { host, id } = await added(server.url);
    const call = host.callTool(toolOf(id, 'waiting_job'), {}, never());
    await until(() => server.listeners() === 1);
    server.finish();
    expect(await call).toMatchObject({ kind: 'result', content: [{ text: 'finished null' }] });
    await until(() => server.listeners() === 0);
    expect(server.counts()['tasks/get']).toBe(1);
  });
});

describe('a task of a server that tells nothing', () => {
  it('is asked after at the pace that the server wants', async () => {
    const server = await started(startAsking());
    const { host, id } = await added(server.url);
    const call = host.callTool(toolOf(id, 'job'), {}, never());
    expect(await call).toMatchObject({ kind: 'result' });
    expect(server.counts()['tasks/get']).toBeGreaterThan(1);
  });
});
