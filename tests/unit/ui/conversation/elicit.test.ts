/** A server's form: every kind of field, what is wrong with what was typed, what the server gets. */
import { describe, expect, test } from 'vitest';
import {
  contentOf,
  faultOf,
  formOf,
  startOf,
  writtenIn,
  type Field,
} from '../../../../src/ui/conversation/elicit.ts';

const one = (property: Record<string, unknown>, required = true): Field => {
  const [field] = formOf({
    properties: { it: property },
    required: required ? ['it'] : [],
  }).fields;
  if (!field) throw new Error('no field');
  return field;
};
const fault = (
  property: Record<string, unknown>,
  value: string | boolean | string[],
  need = true,
) => faultOf(one(property, need), { it: value });

describe('the fields of a form', () => {
  test('come in the server’s order, with titles, notes and defaults', () => {
    const { fields, left } = formOf({
      type: 'object',
      required: ['firstName'],
      properties: {
        firstName: { type: 'string', title: 'First name', description: 'As on your passport.' },
        bagCount: { type: 'integer', default: 2 },
        news: { type: 'boolean', default: true },
        seat: { type: 'string', enum: ['w', 'a'], enumNames: ['Window', 'Aisle'], default: 'a' },
        meal: { type: 'string', oneOf: [{ const: 'veg', title: 'Vegetarian' }, { const: 'any' }] },
        extras: {
          type: 'array',
          items: { anyOf: [{ const: 'x', title: 'X' }] },
          default: ['x', 'y'],
        },
        nested: { type: 'object' },
        list: { type: 'array', items: { type: 'string' } },
      },
    });
    expect(fields.map(({ name, label, kind }) => [name, label, kind])).toEqual([
      ['firstName', 'First name', 'text'],
      ['bagCount', 'Bag count', 'number'],
      ['news', 'News', 'switch'],
      ['seat', 'Seat', 'choice'],
      ['meal', 'Meal', 'choice'],
      ['extras', 'Extras', 'choices'],
    ]);
    expect(left).toEqual(['nested', 'list']);
    expect(fields[0]).toMatchObject({ required: true, note: 'As on your passport.' });
    expect(fields[3]).toMatchObject({ options: [{ value: 'w', title: 'Window' }, { value: 'a' }] });
    expect(fields[4]).toMatchObject({ options: [{ title: 'Vegetarian' }, { title: 'any' }] });
    expect(startOf(fields)).toEqual({
      firstName: '',
      bagCount: '2',
      news: true,
      seat: 'a',
      meal: '',
      extras: ['x'],
    });
  });

  test.each([
    ['password', true],
    ['newPassword', true],
    ['api_key', true],
    ['accessToken', true],
    ['pin', true],
    ['cardNumber', true],
    ['shipping', false],
    ['postcard', false],
    ['pinned', false],
    ['keyword', false],
  ])('%s is taken for a secret: %s', (name, secret) => {
    expect(formOf({ properties: { [name]: { type: 'string' } } }).fields[0]?.secret).toBe(secret);
  });

  test('a secret is known by its title, too', () => {
    expect(one({ type: 'string', title: 'Your credit card' }).secret).toBe(true);
  });

  test('a form without end is cut, and a form of nonsense is empty', () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`f${n}`, { type: 'string' }]),
    );
    expect(formOf({ properties: many })).toMatchObject({ left: { length: 40 } });
    expect(formOf({ properties: 7, required: 'x' })).toEqual({ fields: [], left: [] });
    expect(formOf({ properties: { x: null, y: 3 } })).toEqual({ fields: [], left: ['x', 'y'] });
  });
});

describe('what is typed', () => {
  test.each([
    [{ type: 'string' }, '', 'Fill this in.'],
    [{ type: 'string', minLength: 3 }, 'ab', 'Write at least 3 characters; these are 2.'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'Write at most 2 characters; these are 3.'],
    [{ type: 'string', maxLength: 1 }, '😀', null],
    [
      { type: 'string', format: 'email' },
      'me',
      'Write an email address, such as name@example.com.',
    ],
    [{ type: 'string', format: 'email' }, 'me@example.com', null],
    [
      { type: 'string', format: 'uri' },
      'example',
      'Write a whole address, such as https://example.com.',
    ],
    [{ type: 'string', format: 'uri' }, 'https://example.com/a', null],
    [{ type: 'string', format: 'date' }, 'soon', 'Choose a day.'],
    [{ type: 'string', format: 'date-time' }, 'soon', 'Choose a day and a time.'],
    [{ type: 'string', pattern: '^[A-Z]{3}$' }, 'del', 'The server wants this in another form.'],
    [
      { type: 'string', pattern: '^[A-Z]{3}$', description: 'Three letters.' },
      'del',
      'The server wants this in another form: Three letters.',
    ],
    [{ type: 'string', pattern: '^[A-Z]{3}$' }, 'DEL', null],
    [{ type: 'string', pattern: '(((' }, 'x', null],
    [{ type: 'number' }, '', 'Write a number.'],
    [{ type: 'number' }, 'two', 'Write a number, in digits.'],
    [{ type: 'number' }, '1,5', null],
    [{ type: 'number' }, '0,125', null],
    [{ type: 'number' }, '1,000', 'Write it without a comma between the thousands.'],
    [{ type: 'integer' }, '-12,345,678', 'Write it without a comma between the thousands.'],
    [{ type: 'integer' }, '1.5', 'Write a whole number.'],
    [{ type: 'integer', minimum: 1, maximum: 9 }, '12', 'Write a number from 1 to 9.'],
    [{ type: 'integer', minimum: 1 }, '0', 'Write a number from 1 up.'],
    [{ type: 'integer', maximum: 9 }, '12', 'Write a number up to 9.'],
    [{ type: 'boolean' }, false, null],
    [{ type: 'string', enum: ['a'] }, '', 'Choose one.'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, [], 'Choose at least one.'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 }, ['a'], 'Choose at least 2.'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['a', 'b'], 'Choose at most 1.'],
  ] as const)('%j with %j: %s', (property, value, sentence) => {
    expect(fault(property, value as string)).toBe(sentence);
  });

  test('nothing is no fault where nothing is required', () => {
    for (const property of [
      { type: 'string', minLength: 5 },
      { type: 'number' },
      { type: 'string', enum: ['a'] },
    ])
      expect(fault(property, '', false)).toBeNull();
    expect(fault({ type: 'array', items: { enum: ['a'] }, minItems: 1 }, [], false)).toBeNull();
  });

  test('a pattern that could take for ever is left to the server', () => {
    const field = one({ type: 'string', pattern: '^(a+)+$' });
    expect(faultOf(field, { it: `${'a'.repeat(50)}!` })).toBeNull();
  });
});

test('the server gets typed values, and nothing of what was left empty', () => {
  const { fields } = formOf({
    required: ['name', 'when'],
    properties: {
      name: { type: 'string' },
      mail: { type: 'string', format: 'email' },
      note: { type: 'string' },
      when: { type: 'string', format: 'date-time' },
      count: { type: 'integer' },
      price: { type: 'number' },
      yes: { type: 'boolean' },
      seat: { type: 'string', enum: ['w'] },
      extras: { type: 'array', items: { enum: ['a', 'b'] } },
      none: { type: 'array', items: { enum: ['a'] } },
    },
  });
  const time = new Date(2026, 11, 4, 8, 30);
  const content = contentOf(fields, {
    name: 'Asha ',
    mail: ' asha@example.com ',
    note: '  ',
    when: '2026-12-04T08:30',
    count: '3',
    price: '1,5',
    yes: false,
    seat: 'w',
    extras: ['b'],
    none: [],
  });
  expect(content).toEqual({
    name: 'Asha ',
    mail: 'asha@example.com',
    when: time.toISOString(),
    count: 3,
    price: 1.5,
    yes: false,
    seat: 'w',
    extras: ['b'],
  });
});

describe('what was typed when the question was over', () => {
  test('is kept field by field, without what stood there before and without secrets', () => {
    const { fields } = formOf({
      properties: {
        name: { type: 'string', title: 'Name' },
        city: { type: 'string', title: 'City', default: 'Pune' },
        bags: { type: 'integer', title: 'Bags' },
        password: { type: 'string', title: 'Password' },
        news: { type: 'boolean' },
      },
    });
    const typed = { ...startOf(fields), name: 'Asha', bags: '2', password: 'hunter2', news: true };
    expect(writtenIn(fields, typed)).toEqual([
      { label: 'Name', text: 'Asha' },
      { label: 'Bags', text: '2' },
    ]);
  });
});
