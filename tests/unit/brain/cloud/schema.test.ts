/** A tool's schema is told to every interface in a form that it takes. */
import { describe, expect, test } from 'vitest';
import { anthropicSchema, geminiSchema, objectSchema } from '../../../../src/brain/cloud/schema.ts';

describe('an object at the root', () => {
  test('is made of an empty schema', () => {
    expect(objectSchema({})).toEqual({ type: 'object', properties: {} });
  });

  test('loses the dialect and keeps the rest', () => {
    const kept = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      required: ['a'],
      additionalProperties: false,
      $defs: { a: { type: 'string' } },
    };
    expect(
      objectSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...kept }),
    ).toEqual(kept);
  });

  test('has alternatives merged: what only some ask for is optional', () => {
    expect(
      objectSchema({
        type: 'object',
        anyOf: [
          {
            properties: { id: { type: 'string' }, by: { type: 'string' } },
            required: ['id', 'by'],
          },
          {
            properties: { name: { type: 'string' }, by: { type: 'string' } },
            required: ['name', 'by'],
          },
        ],
      }),
    ).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, by: { type: 'string' }, name: { type: 'string' } },
      required: ['by'],
    });
  });

  test('has parts merged: what one asks for is asked for', () => {
    expect(
      objectSchema({
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } } },
        ],
      }),
    ).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a'],
    });
  });
});

test('Anthropic is not told of properties whose names it refuses', () => {
  expect(
    anthropicSchema({
      type: 'object',
      properties: { 'filter[name]': { type: 'string' }, ok: { type: 'string' } },
      required: ['filter[name]', 'ok'],
    }),
  ).toEqual({ type: 'object', properties: { ok: { type: 'string' } }, required: ['ok'] });
});

describe('Gemini’s schema', () => {
  const property = (schema: Record<string, unknown>, defs = {}) =>
    (
      geminiSchema({ type: 'object', properties: { p: schema }, ...defs })!.properties as {
        p: unknown;
      }
    ).p;

  test('is none where a tool takes no arguments', () => {
    expect(
      geminiSchema({ type: 'object', properties: {}, additionalProperties: false }),
    ).toBeNull();
  });

  test('drops what Gemini refuses and keeps what it knows', () => {
    expect(
      geminiSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        title: 'Search',
        type: 'object',
        properties: {
          q: {
            type: 'string',
            description: 'Words.',
            minLength: 1,
            format: 'uri',
            default: 'x',
            examples: ['y'],
          },
          n: { type: 'integer', minimum: 1, exclusiveMaximum: 9 },
        },
        required: ['q'],
        additionalProperties: false,
      }),
    ).toEqual({
      title: 'Search',
      type: 'object',
      properties: {
        q: { type: 'string', description: 'Words.', minLength: 1 },
        n: { type: 'integer', minimum: 1 },
      },
      required: ['q'],
    });
  });

  test.each([
    ['a nullable type', { type: ['string', 'null'] }, { nullable: true, type: 'string' }],
    [
      'a union of types',
      { type: ['string', 'integer'], description: 'Id.' },
      { description: 'Id.', anyOf: [{ type: 'string' }, { type: 'integer' }] },
    ],
    [
      'a choice that may be null',
      { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }], description: 'N.' },
      { type: 'integer', minimum: 0, nullable: true, description: 'N.' },
    ],
    [
      'oneOf',
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    ],
    ['a constant', { const: 'email' }, { type: 'string', enum: ['email'] }],
    [
      'an enumeration of numbers, told in words',
      { type: 'integer', enum: [1, 2], description: 'Level.' },
      { type: 'integer', description: 'Level. One of: 1, 2.' },
    ],
    ['an enumeration without a type', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['a list without items', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] },
      { type: 'array', items: { type: 'number' } },
    ],
    [
      'a date with a time',
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date-time' },
    ],
    [
      'an object without properties',
      { type: 'object', additionalProperties: true },
      { type: 'object' },
    ],
    ['no type at all', { description: 'Anything.' }, { description: 'Anything.', type: 'string' }],
  ])('takes %s', (_name, from, to) => {
    expect(property(from)).toEqual(to);
  });

  test('puts references in place, and their words beside them', () => {
    expect(
      property(
        { $ref: '#/$defs/place', description: 'Where from.' },
        {
          $defs: {
            place: { type: 'object', properties: { city: { $ref: '#/$defs/name' } } },
            name: { type: 'string' },
          },
        },
      ),
    ).toEqual({
      description: 'Where from.',
      type: 'object',
      properties: { city: { type: 'string' } },
    });
  });

  test('ends a schema that refers to itself', () => {
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
    };
    expect(() => JSON.stringify(geminiSchema(tree))).not.toThrow();
    expect(() => geminiSchema({ $ref: '#' })).not.toThrow();
  });
});
