/** What the demo promises, and the whole path of the travel sentence without a model. */
import { describe, expect, it } from 'vitest';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { flightsFor, startTravel, weatherFor, type Travel } from '../../servers/travel.ts';
import { newHost, never, started } from './setup.ts';

const NOW = new Date('2026-11-29T14:05:00+05:30');

async function connected(travel: Travel) {
  const world = await newHost();
  const added = await world.host.add({ url: travel.url });
  if (!added.ok) throw new Error(added.error.message);
  const toolbox = createToolbox({ ...world, timeZone: () => 'Asia/Kolkata' });
  const { tools } = await toolbox.offer('', { maxTools: 9, maxTokens: 9e9, cost: () => 1 });
  const call = async (name: string, args: Record<string, unknown>) => {
    const bound = toolbox.bind({ id: name, name, args, raw: '' }, tools, NOW);
    if (!bound.ok) return bound.error;
    const outcome = await toolbox.call(bound.call, never());
    return resultText(outcome, bound.call.tool.serverName, 5_000);
  };
  return { ...world, call, id: added.server.id };
}

describe('the travel demo', () => {
  it('answers the travel sentence, and is listed in none of its steps', async () => {
    const travel = await started(startTravel({ weather: 'rain' }));
    const { call } = await connected(travel);
    travel.resetCounts();
    const date = 'next Friday';
    const found = await call('search_flights', { origin: 'Delhi', destination: 'Goa', date });
    expect(found).toMatch(
      /^\{"flights":\[\{"flight":"\w\w \d+","airline":"[\w ]+","departs":"\d\d:\d\d","price_inr":\d+\}/,
    );
    expect(await call('get_weather', { city: 'Goa', date })).toMatch(
      /^\{"city":"Goa","sky":"light rain","high_c":\d+\}$/,
    );
    expect(await call('add_to_itinerary', { item: 'Flight 6E 2131', date })).toBe('{"ok":true}');
    expect(travel.itinerary()).toEqual([{ item: 'Flight 6E 2131', date: '2026-12-04' }]);
    expect(await call('get_itinerary', {})).toContain('Flight 6E 2131');
    const counts = travel.counts();
    expect(counts['tools/list']).toBeUndefined();
    expect(counts).toMatchObject({ 'tools/call': 4, 'tools/call add_to_itinerary': 1 });
  });

  it('shows its counts over HTTP, too', async () => {
    const travel = await started(startTravel());
    await connected(travel);
    const shown = await fetch(new URL('/__counts', travel.url));
    expect(await shown.json()).toEqual(travel.counts());
  });

  it('has morning and evening flights for any two cities, earliest first, the same each time', () => {
    for (const [origin, destination] of [
      ['Delhi', 'Goa'],
      ['Oslo', 'Lima'],
      ['பாரிஸ்', '東京'],
    ] as const) {
      const flights = flightsFor({ origin, destination, date: '2026-12-04' });
      const departures = flights.map(({ departs }) => departs);
      expect(departures).toEqual([...departures].sort());
      expect(departures[0]! < '11:00').toBe(true);
      expect(departures.at(-1)! >= '17:30').toBe(true);
      expect(flightsFor({ origin, destination, date: '2026-12-04' })).toEqual(flights);
    }
    expect(flightsFor({ origin: 'Goa', destination: 'goa ', date: '2026-12-04' })).toEqual([]);
  });

  it('filters by part of the day', () => {
    const evening = flightsFor({
      origin: 'Delhi',
      destination: 'Goa',
      date: '2026-12-04',
      part: 'evening',
    });
    expect(evening).toHaveLength(1);
    expect(evening[0]!.departs >= '17:30').toBe(true);
  });

  it('rains when it is told to, and by itself only sometimes', async () => {
    expect(weatherFor('Goa', '2026-12-04', 'rain').sky).toBe('light rain');
    expect(weatherFor('Goa', '2026-12-04', 'clear').sky).toBe('clear sky');
    const skies = Array.from(
      { length: 30 },
      (_, day) => weatherFor('Goa', `2026-12-${day + 1}`, 'auto').sky,
    );
    const wet = skies.filter((sky) => /rain|showers/.test(sky)).length;
    expect(wet).toBeGreaterThan(3);
    expect(wet).toBeLessThan(27);
    const travel = await started(startTravel({ weather: 'rain' }));
    const { call } = await connected(travel);
    travel.setWeather('clear');
    expect(await call('get_weather', { city: 'Goa', date: 'tomorrow' })).toContain('clear sky');
  });
});
