import { expect, test } from 'vitest';
import { allTools } from '../../../src/mcp/tools.ts';

const found = (id: string, url: string, trustHints = false) => {
  const server = { id, name: 'S', url, addedAt: 0, enabled: true, trustHints, private: false };
  const definition = {
    name: 'look',
    inputSchema: {},
    annotations: { readOnlyHint: true },
    pin: 'a',
  };
  const list = { server: id, fetchedAt: 0, ttlMs: 0, tools: [definition], off: [] };
  return allTools([server], new Map([[id, list]]))[0]?.tool;
};

test('only a server in the page counts as the phone’s own, however an address is written', () => {
  expect(found('phone', 'phone:', true)).toMatchObject({ local: true, readOnly: true });
  for (const url of ['https://x.test/', 'HTTPS://x.test/', ' https://x.test/', '\thttp://x.test/'])
    expect(found('s1', url), url).toMatchObject({ local: false, readOnly: false });
  expect(found('s1', 'phone:')).toMatchObject({ local: false, readOnly: false });
});
