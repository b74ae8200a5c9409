import { describe, expect, it } from 'vitest';
import { bindArguments, dayKind } from '../../../src/mcp/bind.ts';
import type { JsonSchema } from '../../../src/brain/brain.ts';

const PLACE = {
  now: new Date('2026-11-29T14:05:00+05:30'),
  timeZone: 'Asia/Kolkata',
  locale: 'en-IN',
};
const bind = (args: Record<string, unknown>, schema: JsonSchema) =>
  bindArguments('tool', args, schema, PLACE);

const object = (properties: Record<string, unknown>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

describe('days among the arguments', () => {
  const schema = object(
    {
      city: { type: 'string', description: 'Name of the city.' },
      date: { type: 'string', description: 'Day, as YYYY-MM-DD.' },
    },
    ['city', 'date'],
  );

  it('are resolved, and shown as said and as taken', () => {
    expect(bind({ city: 'Goa', date: 'next Friday' }, schema)).toEqual({
      ok: true,
      args: { city: 'Goa', date: '2026-12-04' },
      days: [
        {
          argument: 'date',
          said: 'next Friday',
          value: '2026-12-04',
          shown: 'Friday, 4 December',
        },
      ],
    });
  });

  it('pass untouched where they are exact', () => {
    expect(bind({ city: 'Goa', date: '2026-12-04' }, schema)).toMatchObject({
      ok: true,
      days: [],
    });
  });

  it('are found in objects and lists', () => {
    const nested = object({
      start: object({ dateTime: { type: 'string', format: 'date-time' } }),
      dates: { type: 'array', items: { type: 'string', format: 'date' } },
    });
    expect(
      bind({ start: { dateTime: 'tomorrow 9am' }, dates: ['today', '8 January'] }, nested),
    ).toMatchObject({
      args: {
        start: { dateTime: '2026-11-30T09:00:00+05:30' },
        dates: ['2026-11-29', '2027-01-08'],
      },
      days: [{ argument: 'start.dateTime' }, { argument: 'dates' }, { argument: 'dates' }],
    });
  });

  it('that cannot be read go back to the model where the schema wants a date', () => {
    const strict = object({ date: { type: 'string', format: 'date' } }, ['date']);
    expect(bind({ date: 'when it suits' }, strict)).toEqual({
      ok: false,
      error:
        'tool: date must be a date, not "when it suits". Write date as YYYY-MM-DD or as "tomorrow".',
    });
  });

  it.each<[string, JsonSchema, string | null]>([
    ['x', { type: 'string', format: 'date' }, 'date'],
    ['x', { type: 'string', format: 'date-time' }, 'date-time'],
    ['date', { type: 'string' }, 'date'],
    ['departureDate', { type: 'string' }, 'date'],
    ['return_date', { type: ['string', 'null'] }, 'date'],
    ['day', { type: 'string', description: 'Day of the forecast.' }, 'date'],
    ['when', { type: 'string', description: 'Start, as YYYY-MM-DD.' }, 'date'],
    ['due', { type: 'string', description: 'The due date' }, 'date'],
    ['at', { type: 'string', description: 'ISO 8601 date and time' }, 'date-time'],
    ['start', { type: 'string', description: 'YYYY-MM-DDThh:mm:ss' }, 'date-time'],
    ['day', { type: 'string', enum: ['monday', 'tuesday'] }, null],
    ['days', { type: 'integer' }, null],
    ['day', { type: 'integer', description: 'Day of the month' }, null],
    ['update', { type: 'string', description: 'What to update.' }, null],
    ['query', { type: 'string', description: 'Words; dates may be among them.' }, null],
    ['birthday', { type: 'string' }, null],
    ['holiday', { type: 'string', description: 'Name of the holiday.' }, null],
  ])('%s %j is a %s', (name, schemaOf, kind) => {
    expect(dayKind(name, schemaOf)).toBe(kind);
  });
});

describe('types', () => {
  it.each<[string, unknown, JsonSchema, unknown]>([
    ['a number in words of digits', '3', { type: 'integer' }, 3],
    ['a decimal', '2.5', { type: 'number' }, 2.5],
    ['a number for a text', 42, { type: 'string' }, '42'],
    ['a truth in words', 'True', { type: 'boolean' }, true],
    ['one for a list of such', 'a', { type: 'array', items: { type: 'string' } }, ['a']],
    ['items of a list', ['1', '2'], { type: 'array', items: { type: 'integer' } }, [1, 2]],
    ['one of several types', '7', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 7],
  ])('%s is put right', (_, value, schema, expected) => {
    expect(bind({ x: value }, object({ x: schema }))).toMatchObject({
      ok: true,
      args: { x: expected },
    });
  });

  it.each<[unknown, JsonSchema]>([
    ['3.5', { type: 'integer' }],
    ['three', { type: 'integer' }],
    ['007', { type: 'integer' }],
    ['1e999', { type: 'number' }],
    ['12345678901234567890', { type: 'integer' }],
    ['yes', { type: 'boolean' }],
    ['', { type: 'number' }],
  ])('%j is not forced into %j', (value, schema) => {
    expect(bind({ x: value }, object({ x: schema }))).toMatchObject({ ok: false });
  });

  it('null leaves out an argument that may be left out, and no other', () => {
    const schema = object({ a: { type: 'string' }, b: { type: 'string' } }, ['a']);
    expect(bind({ a: 'x', b: null }, schema)).toMatchObject({ args: { a: 'x' } });
    expect(bind({ a: null }, schema)).toMatchObject({ ok: false });
  });
});

describe('what is wrong is said so that a model can act on it', () => {
  const schema = object(
    {
      city: { type: 'string', description: 'Name of the city.' },
      count: { type: 'integer', minimum: 1 },
      unit: { type: 'string', enum: ['c', 'f'] },
    },
    ['city'],
  );

  it.each<[Record<string, unknown>, string]>([
    [{}, 'tool: The argument city (Name of the city.) is missing.'],
    [{ city: 'Goa', count: 'many' }, 'tool: count must be of type integer, not "many".'],
    [{ city: 'Goa', unit: 'kelvin' }, 'tool: unit must be one of "c", "f", not "kelvin".'],
    [{ city: 'Goa', place: 'x' }, 'tool: There is no argument place. It takes city, count, unit.'],
  ])('%j', (args, error) => {
    expect(bind(args, schema)).toEqual({ ok: false, error });
  });

  it('names at most three problems', () => {
    const many = object({}, ['a', 'b', 'c', 'd', 'e']);
    const bound = bind({}, many);
    expect(bound.ok ? '' : bound.error.match(/is missing/g)).toHaveLength(3);
  });
});

describe('schemas of servers', () => {
  it('of draft-07 and of 2020-12 are both understood', () => {
    const seven = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({ pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] } }),
    };
    const twenty = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...object({
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      }),
    };
    for (const schema of [seven, twenty]) {
      expect(bind({ pair: ['a', 1] }, schema)).toMatchObject({ ok: true });
      expect(bind({ pair: ['a', 'b'] }, schema)).toMatchObject({ ok: false });
    }
  });

  it.each<[string, JsonSchema]>([
    ['a reference into nowhere', object({ x: { $ref: 'https://example.com/x.json' } })],
    ['a broken pattern', object({ x: { type: 'string', pattern: '(' } })],
    ['no type', {}],
    ['properties that are none', { type: 'object', properties: 'x' }],
  ])('that are broken stop nothing: %s', (_, schema) => {
    expect(() => bind({ x: 'y' }, schema)).not.toThrow();
  });

  it('with references inside are followed', () => {
    const schema = {
      ...object({ x: { $ref: '#/$defs/size' } }),
      $defs: { size: { type: 'string', enum: ['s', 'm'] } },
    };
    expect(bind({ x: 's' }, schema)).toMatchObject({ ok: true });
    expect(bind({ x: 'l' }, schema)).toMatchObject({ ok: false });
  });

  it.each(['^(a+)+$', '^(a|a)*$', '^((a+))+$', '(x+x+)+y'])(
    'with a pattern that takes for ever do not hang the page: %s',
    (pattern) => {
      const started = performance.now();
      bind({ x: `${'a'.repeat(40)}!` }, object({ x: { type: 'string', pattern } }));
      expect(performance.now() - started).toBeLessThan(500);
    },
  );

  it('may have arguments beyond those they name, where they say so', () => {
    const open = { ...object({ a: { type: 'string' } }), additionalProperties: true };
    expect(bind({ a: 'x', b: 1 }, open)).toMatchObject({ ok: true, args: { a: 'x', b: 1 } });
  });
});
