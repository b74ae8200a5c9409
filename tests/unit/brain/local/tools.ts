/** The tools that the tests of the phone's brain offer. */
import type { ToolSpec } from '../../../../src/brain/brain.ts';

const text = (description: string) => ({ type: 'string', description });
const DAY = text('Day, as YYYY-MM-DD.');

export const searchFlights: ToolSpec = {
  name: 'search_flights',
  description: 'Search flights between two cities on a date.',
  inputSchema: {
    type: 'object',
    properties: {
      origin: text('City of departure.'),
      destination: text('City of arrival.'),
      date: DAY,
      part: {
        type: 'string',
        enum: ['morning', 'afternoon', 'evening'],
        description: 'Part of the day.',
      },
    },
    required: ['origin', 'destination', 'date'],
  },
};

export const getWeather: ToolSpec = {
  name: 'get_weather',
  description: 'Get the weather forecast of a city for a day.',
  inputSchema: {
    type: 'object',
    properties: { city: text('Name of the city.'), date: DAY },
    required: ['city', 'date'],
  },
};

export const setReminder: ToolSpec = {
  name: 'set_reminder',
  description: 'Set a reminder on this phone.',
  inputSchema: {
    type: 'object',
    properties: {
      text: text('What to be reminded of.'),
      date: DAY,
      time: text('Time, as HH:MM.'),
    },
    required: ['text'],
  },
};

export const now: ToolSpec = {
  name: 'now',
  description: 'Tell the date and the time.',
  inputSchema: { type: 'object', properties: {} },
};

/** One argument of every type, a choice, a recursive one and one without a type. */
export const everything: ToolSpec = {
  name: 'everything',
  description: 'Takes everything.',
  inputSchema: {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      names: { type: 'array', items: { type: 'string' }, maxItems: 3 },
      weight: { type: 'number' },
      fast: { type: 'boolean' },
      place: {
        type: 'object',
        properties: { city: { type: 'string' }, kind: { enum: ['a', 'b "c"', 3, null] } },
        required: ['city'],
      },
      free: { type: 'object' },
      code: { anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] },
      tree: { $ref: '#/$defs/tree' },
      any: {},
    },
    required: ['count', 'names'],
    $defs: {
      tree: {
        type: 'object',
        properties: { left: { $ref: '#/$defs/tree' }, name: { type: 'string' } },
      },
    },
  },
};

export const CLOCK = 'Sunday 2026-11-29 14:05, Asia/Kolkata';
