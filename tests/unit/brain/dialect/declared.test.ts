import { describe, expect, test } from 'vitest';
import type { JsonSchema, ToolSpec } from '../../../../src/brain/brain.ts';
import { declared } from '../../../../src/brain/local/dialect/declared.ts';
import { dumps } from '../../../../src/brain/local/dialect/json.ts';
import { everything, searchFlights } from '../local/tools.ts';

const tool = (inputSchema: JsonSchema, description = 'Does it.'): ToolSpec => ({
  name: 'it',
  description,
  inputSchema,
});
const properties = (inputSchema: JsonSchema): unknown =>
  declared(tool(inputSchema)).function.parameters.properties;

describe('a tool is declared to a model', () => {
  test('as it was published, where that is short and plain', () => {
    const { name, description, inputSchema } = searchFlights;
    expect(declared(searchFlights)).toEqual({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    });
  });

  test('without what says nothing to a model', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft-07/schema',
      type: 'object',
      title: 'Input',
      additionalProperties: false,
      properties: {
        day: {
          type: ['string', 'null'],
          title: 'Day',
          pattern: '^x$',
          format: 'date',
          description: ' A\n day. ',
        },
        size: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], description: 'Size.' },
      },
      required: ['day', 'lost', 7],
    };
    expect(declared(tool(schema)).function.parameters).toEqual({
      type: 'object',
      properties: {
        day: { type: 'string', format: 'date', description: 'A day.' },
        size: { type: 'integer', minimum: 1, description: 'Size.' },
      },
      required: ['day'],
    });
  });

  test('with its references followed, and no tree without an end', () => {
    expect(properties(everything.inputSchema)).toMatchObject({
      tree: { type: 'object', properties: { left: { type: 'object' }, name: { type: 'string' } } },
    });
    const wide = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`p${at}`, { $ref: '#' }] as const),
    );
    expect(dumps(declared(tool({ type: 'object', properties: wide }))).length).toBeLessThan(60_000);
    for (const $ref of ['#/$defs/%zz', '#/nowhere', 'https://example.org/', '#/__proto__'])
      expect(properties({ properties: { a: { $ref } } })).toEqual({ a: {} });
  });

  test('in few words, however many it brings', () => {
    const words = 'Word and word. '.repeat(200);
    const { description, parameters } = declared(
      tool(
        { properties: { a: { description: words, enum: Array.from({ length: 99 }, String) } } },
        words,
      ),
    ).function;
    expect(description).toHaveLength(300);
    expect(JSON.stringify(parameters).length).toBeLessThan(300);
  });
});

test('JSON is written as Python writes it', () => {
  const value = { a: [1, 'é "x"', null, true], b: {}, c: [], d: { e: 0.5 }, f: undefined };
  expect(dumps(value)).toBe(
    '{"a": [1, "é \\"x\\"", null, true], "b": {}, "c": [], "d": {"e": 0.5}}',
  );
  expect(dumps({ a: [1], b: {} }, 4)).toBe('{\n    "a": [\n        1\n    ],\n    "b": {}\n}');
});
