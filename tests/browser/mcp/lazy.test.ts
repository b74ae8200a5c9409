/** The SDK is larger than the whole first screen may be, so it must not come with it. */
import { afterEach, expect, it } from 'vitest';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { never, openWorld, tidy, toolOf } from './world.ts';

afterEach(tidy);

const loaded = (part: string) =>
  performance.getEntriesByType('resource').some(({ name }) => name.includes(part));

it('tools are listed and offered before the SDK is loaded, and it comes with the first call', async () => {
  const { host, store } = await openWorld();
  const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
  expect(await host.list()).toHaveLength(1);
  expect(loaded('chrono-node')).toBe(false);
  const { tools } = await toolbox.offer('what time is it', {
    maxTools: 4,
    maxTokens: 9e9,
    cost: () => 1,
  });
  expect(tools[0]).toMatchObject({ name: 'now' });
  expect(loaded('modelcontextprotocol')).toBe(false);
  await host.callTool(toolOf('phone', 'now'), {}, never());
  expect(loaded('modelcontextprotocol')).toBe(true);
});
