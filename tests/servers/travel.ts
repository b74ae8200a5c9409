/**
 * The demo server: flights, weather and an itinerary, over MCP. Its data is made up, but the same for
 * the same question, so that a demo can be repeated and a test can know the answer.
 *
 *   npx tsx tests/servers/travel.ts [port]
 */
import { pathToFileURL } from 'node:url';
import { fromJsonSchema, McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { serveMcp, type Served, type ServeOptions } from './mcp-http.ts';

export type Weather = 'rain' | 'clear' | 'auto';

export interface TravelOptions extends ServeOptions {
  /** Forces the sky; `auto` derives it from city and day. */
  readonly weather?: Weather;
}

export interface ItineraryItem {
  readonly item: string;
  readonly date: string;
}

export interface Travel extends Served {
  /** What was saved, in order. */
  itinerary(): readonly ItineraryItem[];
  setWeather(weather: Weather): void;
}

export const TRAVEL_PORT = 4310;

const DAY = { type: 'string', description: 'Day, as YYYY-MM-DD.' } as const;
const FLIGHT = {
  type: 'object',
  properties: {
    flight: { type: 'string' },
    airline: { type: 'string' },
    departs: { type: 'string' },
    price_inr: { type: 'integer' },
  },
  required: ['flight', 'airline', 'departs', 'price_inr'],
} as const;
const ITEM = {
  type: 'object',
  properties: { item: { type: 'string' }, date: { type: 'string' } },
  required: ['item', 'date'],
} as const;

/** The words are those that the small model on the phone was tried with; keep them. */
const SEARCH_FLIGHTS = {
  title: 'Flights',
  description: 'Search flights between two cities on a date.',
  inputSchema: fromJsonSchema<{
    origin: string;
    destination: string;
    date: string;
    part?: PartOfDay;
  }>({
    type: 'object',
    properties: {
      origin: { type: 'string', description: 'City of departure.' },
      destination: { type: 'string', description: 'City of arrival.' },
      date: DAY,
      part: {
        type: 'string',
        enum: ['morning', 'afternoon', 'evening'],
        description: 'Part of the day.',
      },
    },
    required: ['origin', 'destination', 'date'],
  }),
  outputSchema: fromJsonSchema({
    type: 'object',
    properties: { flights: { type: 'array', items: FLIGHT } },
    required: ['flights'],
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const GET_WEATHER = {
  title: 'Weather forecast',
  description: 'Get the weather forecast of a city for a day.',
  inputSchema: fromJsonSchema<{ city: string; date: string }>({
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city.' }, date: DAY },
    required: ['city', 'date'],
  }),
  outputSchema: fromJsonSchema({
    type: 'object',
    properties: {
      city: { type: 'string' },
      sky: { type: 'string', description: 'Rain, showers, sun or clouds, in words.' },
      high_c: { type: 'integer', description: 'Highest temperature, hot or cold, in °C.' },
    },
    required: ['city', 'sky', 'high_c'],
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const ADD_TO_ITINERARY = {
  title: 'Save to itinerary',
  description: "Save an item to the user's trip.",
  inputSchema: fromJsonSchema<{ item: string; date: string }>({
    type: 'object',
    properties: { item: { type: 'string', description: 'What to save.' }, date: DAY },
    required: ['item', 'date'],
  }),
  outputSchema: fromJsonSchema({
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};
const GET_ITINERARY = {
  title: 'Itinerary',
  description: "List what is saved to the user's trip.",
  inputSchema: fromJsonSchema({ type: 'object', properties: {} }),
  outputSchema: fromJsonSchema({
    type: 'object',
    properties: { items: { type: 'array', items: ITEM } },
    required: ['items'],
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** Starts the server; the itinerary lives as long as it does. */
export async function startTravel(options: TravelOptions = {}): Promise<Travel> {
  const itinerary: ItineraryItem[] = [];
  let weather = options.weather ?? 'auto';

  function build(): McpServer {
    const server = new McpServer(
      { name: 'travel', title: 'Travel', version: '1.0.0' },
      { cacheHints: { 'tools/list': { ttlMs: 3_600_000 } } },
    );
    server.registerTool('search_flights', SEARCH_FLIGHTS, async (request) => {
      const problem = problemOf(request.date, request.origin, request.destination);
      return problem ?? answer({ flights: flightsFor(request) });
    });
    server.registerTool('get_weather', GET_WEATHER, async ({ city, date }) => {
      return problemOf(date, city) ?? answer(weatherFor(city, date, weather));
    });
    server.registerTool('add_to_itinerary', ADD_TO_ITINERARY, async ({ item, date }) => {
      const problem = problemOf(date, item);
      if (problem) return problem;
      itinerary.push({ item: item.trim(), date });
      return answer({ ok: true });
    });
    server.registerTool('get_itinerary', GET_ITINERARY, async () => answer({ items: itinerary }));
    return server;
  }

  const served = await serveMcp(build, options);
  return {
    ...served,
    itinerary: () => [...itinerary],
    setWeather: (next) => {
      weather = next;
    },
  };
}

function answer(result: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result,
  };
}

function problemOf(date: string, ...texts: string[]): CallToolResult | null {
  const real = /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(Date.parse(date));
  const problem = !real
    ? 'The date must be a day as YYYY-MM-DD.'
    : texts.some((text) => text.trim() === '')
      ? 'A name is missing.'
      : null;
  return problem ? { content: [{ type: 'text', text: problem }], isError: true } : null;
}

export interface Flight {
  readonly flight: string;
  readonly airline: string;
  /** Local time, HH:MM. */
  readonly departs: string;
  readonly price_inr: number;
}

export type PartOfDay = 'morning' | 'afternoon' | 'evening';

const AIRLINES = [
  ['6E', 'IndiGo'],
  ['AI', 'Air India'],
  ['QP', 'Akasa Air'],
  ['SG', 'SpiceJet'],
] as const;
/** First minute, and how many minutes the departures of a part of the day are spread over. */
const PARTS: Readonly<Record<PartOfDay, readonly [number, number]>> = {
  morning: [6 * 60, 5 * 60],
  afternoon: [12 * 60, 5 * 60],
  evening: [17 * 60 + 30, 5 * 60],
};

/** Four flights a day, earliest first: two in the morning, one each after noon and in the evening. */
export function flightsFor(request: {
  origin: string;
  destination: string;
  date: string;
  part?: PartOfDay | undefined;
}): Flight[] {
  const route = `${key(request.origin)}>${key(request.destination)}`;
  if (key(request.origin) === key(request.destination)) return [];
  const parts: PartOfDay[] = ['morning', 'morning', 'afternoon', 'evening'];
  return parts
    .map((part, place) => {
      const random = hash(`${route}|${request.date}|${place}`);
      const [code, airline] = AIRLINES[random % AIRLINES.length] ?? AIRLINES[0];
      const [first, spread] = PARTS[part];
      const minutes = first + 5 * ((random >>> 4) % (spread / 5));
      return {
        part,
        flight: `${code} ${200 + ((random >>> 9) % 8800)}`,
        airline,
        departs: `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`,
        price_inr: 3_200 + 100 * ((random >>> 14) % 60),
      };
    })
    .filter(({ part }) => request.part === undefined || part === request.part)
    .sort((a, b) => (a.departs < b.departs ? -1 : 1))
    .map(({ flight, airline, departs, price_inr }) => ({ flight, airline, departs, price_inr }));
}

const RAIN = ['light rain', 'heavy rain', 'showers'];
const CLEAR = ['clear sky', 'sunny', 'cloudy'];

export function weatherFor(
  city: string,
  date: string,
  weather: Weather,
): { city: string; sky: string; high_c: number } {
  const random = hash(`${key(city)}|${date}`);
  const wet = weather === 'auto' ? random % 5 < 2 : weather === 'rain';
  const skies = wet ? RAIN : CLEAR;
  // Forced weather is one that a test can name.
  const sky = (weather === 'auto' ? skies[(random >>> 5) % skies.length] : skies[0]) ?? '';
  const warmth = (random >>> 9) % 7;
  return { city: city.trim(), sky, high_c: (wet ? 25 : 28) + warmth };
}

function key(text: string): string {
  return text.trim().toLowerCase();
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** FNV-1a, 32 bits, stirred once more so that near texts differ in every bit. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1)
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  value = Math.imul(value ^ (value >>> 15), 0x846ca68b);
  return (value ^ (value >>> 16)) >>> 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const travel = await startTravel({ port: Number(process.argv[2] ?? TRAVEL_PORT) });
  console.log(`Travel, the demo MCP server: ${travel.url}`);
}
