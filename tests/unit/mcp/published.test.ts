/** What servers publish, and whether what they send is what they promised. */
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { ListEnd } from '../../../src/mcp/connection.ts';
import { findMismatch } from '../../../src/mcp/schema.ts';
import { serveMcp } from '../../servers/mcp-http.ts';
import { connected } from './connecting.ts';
import { never, started } from './setup.ts';

const CAPABILITIES = { tools: {}, prompts: {}, resources: {} };

async function serving(prepare: (server: McpServer['server']) => void) {
  const served = await started(
    serveMcp(
      () => {
        const mcp = new McpServer({ name: 'lists', version: '1' }, { capabilities: CAPABILITIES });
        prepare(mcp.server);
        return mcp;
      },
      { eras: 'modern' },
    ),
  );
  return { served, ...(await connected(served.url)) };
}

const listed = (end: ListEnd) => {
  if (!end.ok) throw new Error(end.error.message);
  return end.list;
};
const object = { type: 'object' as const };

describe('lists', () => {
  it('without an end are cut each for itself, and what came is kept', async () => {
    const { connection, served } = await serving((server) => {
      let page = 0;
      const nextCursor = () => `${(page += 1)}`;
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'a', inputSchema: object }],
      }));
      server.setRequestHandler('prompts/list', () => ({
        prompts: [{ name: crypto.randomUUID() }],
        nextCursor: nextCursor() + crypto.randomUUID(),
      }));
      server.setRequestHandler('resources/list', () => ({
        resources: [{ uri: 'a:b', name: 'b' }],
        nextCursor: 'the same',
      }));
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: Array.from({ length: 2_001 }, (_, index) => ({
          uriTemplate: `a:{b}/${index}`,
          name: `${index}`,
        })),
      }));
    });
    const { tools, prompts, resources, templates, cut } = listed(await connection.list());
    expect(cut).toEqual(['prompts', 'resources', 'templates']);
    expect([tools, resources].map(({ length }) => length)).toEqual([1, 1]);
    expect(templates).toHaveLength(2_000);
    expect(prompts.length).toBe(served.counts()['prompts/list']);
    expect(prompts.length).toBeLessThan(60);
  });

  it('that are offered and then refused leave the others as they are', async () => {
    const { connection } = await serving((server) => {
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'a', inputSchema: object }],
      }));
    });
    const { tools, prompts, cut } = listed(await connection.list());
    expect([tools.length, prompts.length, cut.length]).toEqual([1, 0, 0]);
  });

  it('say how long they hold and who may share them: the least of all', async () => {
    const { connection } = await serving((server) => {
      server.setRequestHandler('tools/list', () => ({
        tools: [],
        ttlMs: 9_000,
        cacheScope: 'public' as const,
      }));
      server.setRequestHandler('prompts/list', () => ({
        prompts: [],
        ttlMs: 4_000,
        cacheScope: 'private' as const,
      }));
    });
    expect(listed(await connection.list())).toMatchObject({ ttlMs: 4_000, cacheScope: 'private' });
  });

  it('keep of an entry what is known of it, and leave out what could harm', async () => {
    const deep = { ...object, properties: { a: nested(150) } } as typeof object;
    const { connection } = await serving((server) => {
      server.setRequestHandler('tools/list', () => ({
        tools: [
          { name: 'good', inputSchema: object, _meta: { x: 1 } },
          { name: 'good', inputSchema: object, description: 'the same name again' },
          { name: 'deep', inputSchema: deep },
        ],
      }));
      server.setRequestHandler('prompts/list', () => ({
        prompts: [{ name: 'p', arguments: [{ name: 'who', required: true }], _meta: { x: 1 } }],
      }));
    });
    const { tools, prompts } = listed(await connection.list());
    expect(tools).toEqual([{ name: 'good', inputSchema: object }]);
    expect(prompts).toEqual([{ name: 'p', arguments: [{ name: 'who', required: true }] }]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a name that is none', { a: { type: 'string', 'x-mcp-header': 'a b' } }],
    ['no name', { a: { type: 'string', 'x-mcp-header': '' } }],
    [
      'one name twice',
      {
        a: { type: 'string', 'x-mcp-header': 'Same' },
        b: { type: 'string', 'x-mcp-header': 'same' },
      },
    ],
    ['an object', { a: { type: 'object', 'x-mcp-header': 'A' } }],
    ['a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['items', { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } }],
    ['an alternative', { a: { anyOf: [{ type: 'string', 'x-mcp-header': 'A' }] } }],
  ])('leave out tools that want a header of %s', async (_, properties) => {
    const fine = {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      at: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone' } } },
      plain: { type: 'object', default: { 'x-mcp-header': 'only data' } },
    };
    const { connection } = await serving((server) => {
      server.setRequestHandler('tools/list', () => ({
        tools: [
          { name: 'faulty', inputSchema: { ...object, properties } as typeof object },
          { name: 'fine', inputSchema: { ...object, properties: fine } as typeof object },
        ],
      }));
    });
    const { tools } = listed(await connection.list());
    expect(tools.map(({ name }) => name)).toEqual(['fine']);
  });
});

describe('structured output', () => {
  const outputSchema = {
    type: 'object',
    properties: { high: { type: 'integer' }, sky: { enum: ['clear', 'rain'] } },
    required: ['high'],
  };
  const answer = async (structuredContent: unknown, more: Record<string, unknown> = {}) => {
    const { connection } = await serving((server) => {
      server.setRequestHandler('tools/call', () => ({
        content: [{ type: 'text' as const, text: 'hot' }],
        ...(structuredContent === undefined ? {} : { structuredContent }),
        ...more,
      }));
    });
    return connection.call({ name: 'weather', inputSchema: object, outputSchema }, {}, never());
  };

  it('as it was promised comes without a word', async () => {
    expect(await answer({ high: 31, sky: 'clear' })).toEqual({
      kind: 'answer',
      isError: false,
      content: [{ type: 'text', text: 'hot' }],
      structured: { high: 31, sky: 'clear' },
    });
  });

  it('that is not what was promised is kept, and what is wrong is said', async () => {
    expect(await answer({ sky: 'blue' })).toMatchObject({
      structured: { sky: 'blue' },
      content: [{ text: 'hot' }],
      note: 'The result is not what the tool promised; use it with care. The field high is missing. sky must be one of "clear", "rain", not "blue".',
    });
    expect(await answer([1, 2])).toMatchObject({
      structured: [1, 2],
      note: expect.stringMatching(/It must be of type object/),
    });
  });

  it('that was promised and did not come is said; of a failed call nothing is expected', async () => {
    expect(await answer(undefined)).toMatchObject({ note: expect.stringMatching(/sent none/) });
    expect(await answer(undefined, { isError: true })).not.toHaveProperty('note');
  });

  it('is held to the draft that its schema names, and not to a schema that nobody can follow', () => {
    const tuple = [{ type: 'string' }, { type: 'number' }];
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', items: tuple };
    const now = { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: tuple };
    for (const schema of [old, now]) {
      expect(findMismatch(['a', 1], schema)).toBeNull();
      expect(findMismatch([1, 'a'], schema)).not.toBeNull();
    }
    expect(findMismatch({ a: 1 }, { $ref: 'https://elsewhere.example/schema' })).toBeNull();
  });
});

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { properties: { a: nested(levels - 1) } };
}
