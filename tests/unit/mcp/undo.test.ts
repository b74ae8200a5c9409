/**
 * Undo, as far as it is data: what of a server's word is kept and pinned, what the person's own word
 * does, and that nothing is offered which cannot be done as it stands.
 */
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, test } from 'vitest';
import { pinOf } from '../../../src/mcp/pin.ts';
import type { Stock } from '../../../src/mcp/types.ts';
import { fillArguments, undoOf, undoRuleIn, withUndo } from '../../../src/mcp/undo.ts';
import { differenceOf } from '../../../src/policy/difference.ts';
import type {
  CallPart,
  Outcome,
  ToolDefinition,
  ToolListRecord,
  UndoRule,
} from '../../../src/store/records.ts';
import { afterTest, newHost } from './setup.ts';

const rule: UndoRule = {
  tool: 'delete_event',
  arguments: { id: '$result.id', calendar: '$args.calendar', reason: 'undone' },
};

const meta = (value: unknown) => ({ 'deft/undo': value });

describe('what a server says of undoing', () => {
  it('is kept where it can be followed', () => {
    expect(undoRuleIn(meta(rule))).toEqual(rule);
    expect(undoRuleIn(meta({ tool: 'undo_all' }))).toEqual({ tool: 'undo_all', arguments: {} });
  });

  const deep = { tool: 'x', arguments: { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } } };
  it.each([
    ['nothing', undefined],
    ['a text', 'delete_event'],
    ['a list', [rule]],
    ['no tool', { arguments: {} }],
    ['an empty name', { tool: '' }],
    ['a name that is none', { tool: 7 }],
    ['a name without an end', { tool: 'x'.repeat(501) }],
    ['arguments that are a list', { tool: 'x', arguments: [] }],
    ['an argument called __proto__', JSON.parse('{"tool":"x","arguments":{"__proto__":1}}')],
    ['a rule without an end', { tool: 'x', arguments: { a: 'b'.repeat(4_000) } }],
    ['a rule without a floor', deep],
  ])('is dropped where it is %s', (_, value) => {
    expect(undoRuleIn(meta(value))).toBeNull();
  });

  it('is looked for in _meta itself, and not in what that inherits', () => {
    expect(undoRuleIn(Object.create(meta(rule)))).toBeNull();
    expect(undoRuleIn('deft/undo')).toBeNull();
  });
});

describe('the arguments of an undo', () => {
  const fill = (args: UndoRule['arguments'], given: Record<string, unknown>, result: unknown) =>
    fillArguments({ tool: 'x', arguments: args }, given, result);

  it('come from the call, from its result, or are meant as they are', () => {
    expect(fill(rule.arguments, { calendar: 'work' }, { id: 7 })).toEqual({
      id: 7,
      calendar: 'work',
      reason: 'undone',
    });
    expect(
      fill(
        { where: { ids: ['$result.items.1.id', '$price', '$args'] }, n: 3 },
        {},
        { items: [{ id: 'a' }, { id: 'b' }] },
      ),
    ).toEqual({ where: { ids: ['b', '$price', '$args'] }, n: 3 });
  });

  it.each([
    ['a field that is not there', '$result.event.id', { id: 1 }],
    ['a field that is null', '$result.id', { id: null }],
    ['a field of a text', '$result.id.length', { id: 'abc' }],
    ['a place beyond a list', '$result.ids.3', { ids: [1] }],
    ['the length of a list', '$result.ids.length', { ids: [1] }],
    ['what every object inherits', '$result.constructor.name', { id: 1 }],
    ['the prototype', '$result.__proto__.toString', { id: 1 }],
    ['a path without a name', '$result..id', { id: 1 }],
    ['no result at all', '$result.id', undefined],
    ['a result that is huge', '$result.id', { id: 'x'.repeat(20_001) }],
  ])('cannot be filled with %s', (_, place, result) => {
    expect(fill({ id: place }, {}, result)).toBeNull();
    expect(fill({ inside: [{ id: place }] }, {}, result)).toBeNull();
  });

  it('that are called like a part of every object stay arguments', () => {
    const args = fill({ id: '$args.__proto__' }, JSON.parse('{"__proto__":{"a":1}}'), {});
    expect(args).toEqual({ id: { a: 1 } });
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });
});

const event = (more: Partial<ToolDefinition> = {}) => ({
  name: 'create_event',
  inputSchema: { type: 'object' },
  pin: 'p1',
  undo: rule,
  ...more,
});
const remover = {
  name: 'delete_event',
  pin: 'p2',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, calendar: { type: 'string' }, reason: {} },
    required: ['id'],
    additionalProperties: false,
  },
};

const stockOf = (more: Partial<ToolListRecord> = {}): Stock => ({
  servers: [
    {
      ...{ id: 's1', name: 'Calendar', url: 'https://calendar.example/mcp', addedAt: 1 },
      ...{ enabled: true, trustHints: false, private: false },
    },
  ],
  lists: new Map([
    ['s1', { server: 's1', fetchedAt: 1, ttlMs: 1, tools: [event(), remover], off: [], ...more }],
  ]),
});

const done = (outcome: Outcome, more: Partial<CallPart> = {}): CallPart => ({
  ...{ kind: 'call', step: 1, callId: 'k1', server: 's1', serverName: 'Calendar' },
  ...{ tool: 'create_event', title: 'Create', modelName: 'create_event', pin: 'p1' },
  ...{ args: { calendar: 'work' }, days: [], readOnly: false, state: 'done', outcome },
  ...more,
});
const structured = (value: unknown): Outcome => ({
  kind: 'result',
  content: [{ type: 'text', text: 'Created.' }],
  structured: value,
});
const words = (text: string): Outcome => ({ kind: 'result', content: [{ type: 'text', text }] });

describe('an undo is offered', () => {
  it('from the structured result, its types put right', () => {
    const offer = undoOf(stockOf(), done(structured({ id: 12 })));
    expect(offer?.tool.name).toBe('delete_event');
    expect(offer?.args).toEqual({ id: '12', calendar: 'work', reason: 'undone' });
  });

  it('from a text that is an object of JSON', () => {
    expect(undoOf(stockOf(), done(words('{"id":"e1"}')))?.args.id).toBe('e1');
  });

  it('as the person wants it, whatever the server says', () => {
    const own = { of: 'create_event', tool: 'delete_event', arguments: { id: 'mine' } };
    const call = done(words('Created.'), { pin: 'an older one' });
    expect(undoOf(stockOf({ undo: [own] }), call)?.args).toEqual({ id: 'mine' });
  });
});

describe('no undo is offered', () => {
  const good = structured({ id: 'e1' });
  it.each<[string, Stock, CallPart]>([
    ['of a call of unknown outcome', stockOf(), done({ kind: 'unknown', message: '', advice: '' })],
    ['of a call that failed', stockOf(), done({ kind: 'tool_error', content: [] })],
    ['of a call that only read', stockOf(), done(good, { readOnly: true })],
    ['of a call that still runs', stockOf(), done(good, { state: 'running' })],
    ['of a server that is gone', { servers: [], lists: new Map() }, done(good)],
    ['where the definition is not the one that was called', stockOf(), done(good, { pin: 'p0' })],
    [
      'where the tool names none',
      stockOf({ tools: [event({ undo: undefined }), remover] }),
      done(good),
    ],
    ['where the inverse is gone', stockOf({ tools: [event()] }), done(good)],
    ['where the inverse is off', stockOf({ off: ['delete_event'] }), done(good)],
    [
      'where the inverse has changed and is held back',
      stockOf({ held: [{ ...remover, pin: 'p0' }] }),
      done(good),
    ],
    ['where the result lacks what it needs', stockOf(), done(structured({ event: 'e1' }))],
    ['where the result gives another type', stockOf(), done(structured({ id: ['e1'] }))],
    ['where the text is no object', stockOf(), done(words('["e1"]'))],
    ['where the text is no JSON', stockOf(), done(words('Created e1.'))],
    [
      'where the text is without a floor',
      stockOf(),
      done(words(`{"id":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)),
    ],
    [
      'where the text is huge',
      stockOf(),
      done(words(`{"id":"e1","x":"${'y'.repeat(1_000_000)}"}`)),
    ],
  ])('%s', (_, stock, call) => {
    expect(undoOf(stock, call)).toBeNull();
  });
});

describe('the pin and the reading of a change', () => {
  const plain: ToolDefinition = { name: 'create_event', inputSchema: { type: 'object' } };
  it('is the same as ever without an undo, and another one with each', async () => {
    const pins = await Promise.all(
      [
        plain,
        { ...plain, undo: undefined },
        { ...plain, undo: rule },
        event({ undo: { ...rule, tool: 'x' } }),
      ].map((tool) => pinOf(tool)),
    );
    expect(pins[0]).toBe(pins[1]);
    expect(new Set(pins).size).toBe(3);
  });

  it('tells in words that a way to undo came, changed or went', () => {
    const hints = (before?: UndoRule, after?: UndoRule) =>
      differenceOf({ ...plain, undo: before }, { ...plain, undo: after }).hints;
    const shown = JSON.stringify(rule.arguments);
    expect(hints(undefined, rule)).toEqual([
      `Its server now says that it is undone by “delete_event” with ${shown}.`,
    ]);
    expect(hints(rule, { tool: 'wipe', arguments: {} })).toEqual([
      `Its server now says that it is undone by “wipe” with {}. Before, it was “delete_event” with ${shown}.`,
    ]);
    expect(hints(rule)).toEqual(['Its server no longer says how it is undone.']);
  });
});

test('the person says for each tool once how it is undone, and takes it back', () => {
  const list = stockOf().lists.get('s1')!;
  const first = withUndo(list, 'create_event', { tool: 'a', arguments: {} });
  const second = withUndo(first, 'create_event', { tool: 'b', arguments: { id: 1 } });
  expect(second.undo).toEqual([{ of: 'create_event', tool: 'b', arguments: { id: 1 } }]);
  expect(withUndo(second, '__proto__', { tool: 'c', arguments: {} }).undo).toHaveLength(2);
  expect(withUndo(second, 'create_event', null)).not.toHaveProperty('undo');
});

test('a server that changes how a tool is undone has that tool held back; the person’s own way stays', async () => {
  let undo: unknown = rule;
  const handler = createMcpHandler(
    () => {
      const made = new McpServer({ name: 'calendar', version: '1.0.0' });
      const inputSchema = fromJsonSchema<Record<string, unknown>>({ type: 'object' });
      made.registerTool(
        'create_event',
        { inputSchema, _meta: { ...meta(undo), 'else/where': 'not kept' } },
        async () => ({ content: [] }),
      );
      return made;
    },
    { legacy: 'reject' },
  );
  afterTest(() => handler.close());
  const { host, store } = await newHost({
    online: () => true,
    fetch: async (input, init) => handler.fetch(new Request(input, init)),
  });
  const added = await host.add({ url: 'https://calendar.example/mcp' });
  if (!added.ok) throw new Error(added.error.message);
  const { id } = added.server;
  const toolNow = async () => (await host.list())[0]?.tools[0];
  expect((await toolNow())?.undo).toEqual(rule);
  expect(await toolNow()).not.toHaveProperty('_meta');
  await host.setUndo(id, 'create_event', { tool: 'mine', arguments: {} });

  undo = { ...rule, tool: 'wipe' };
  await host.refresh(id);
  expect((await toolNow())?.held?.undo).toEqual(rule);
  expect((await host.list())[0]?.undo).toEqual([
    { of: 'create_event', tool: 'mine', arguments: {} },
  ]);

  await host.remove(id);
  expect(await store.lists.get(id)).toBeUndefined();
});
