import { describe, expect, it } from 'vitest';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { InPageServer, OfferBudget, Tool, Toolbox } from '../../../src/mcp/types.ts';
import type { ToolDefinition } from '../../../src/store/records.ts';
import { newHost, never, silentServer, started, until, type World } from './setup.ts';
import { startTravel } from '../../servers/travel.ts';

const TRAVEL_SENTENCE =
  "I'm flying from Delhi to Goa next Friday. Find me a morning flight, check if I'll need a raincoat, and save the flight to my itinerary.";

const roomy: OfferBudget = { maxTools: 2_000, maxTokens: 1e9, cost: () => 1 };

const tool = (name: string, description: string, rest: Partial<ToolDefinition> = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
  ...rest,
});

const PHONE = silentServer('phone', [
  tool('set_reminder', 'Remind the user of something at a time.'),
  tool('now', 'Get the current date, time and time zone.'),
  tool('device_status', "Get the phone's network, battery and free storage."),
]);

async function toolboxOver(...servers: InPageServer[]): Promise<World & { toolbox: Toolbox }> {
  const world = await newHost({ inPage: servers });
  return { ...world, toolbox: toolboxOf(world) };
}

const toolboxOf = ({ store, host }: World): Toolbox =>
  createToolbox({ store, host, timeZone: () => 'Asia/Kolkata', locale: () => 'en-IN' });

const namesOf = (tools: readonly Tool[]) => tools.map(({ modelName }) => modelName);

describe('an offer', () => {
  it('holds everything where everything fits, best first', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const offer = await toolbox.offer('how much battery is left', roomy);
    expect(namesOf(offer.tools)).toEqual(['device_status', 'set_reminder', 'now']);
    expect(offer.best).toBeGreaterThan(0);
    expect(offer.match).toBeGreaterThan(5);
    expect(offer.omitted).toBe(0);
  });

  it('holds only what matches for a small model', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const small = { ...roomy, maxTools: 5 };
    const offer = await toolbox.offer('how much battery is left', small);
    expect(namesOf(offer.tools)).toEqual(['device_status']);
    expect(offer.omitted).toBe(2);
    expect(await toolbox.offer('who painted the Mona Lisa', small)).toEqual({
      tools: [],
      best: 0,
      match: 0,
      omitted: 3,
    });
  });

  it('leaves out what matches nothing where room is scarce for a large one', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const scarce = { ...roomy, maxTokens: 2 };
    const offer = await toolbox.offer('how much battery is left', scarce);
    expect(namesOf(offer.tools)).toEqual(['device_status']);
    // Nothing matches: it may be a follow-up, so the room is filled.
    expect(await toolbox.offer('ok do it', scarce)).toMatchObject({ best: 0, omitted: 1 });
  });

  it('keeps to its tokens, and takes a smaller tool where a larger one does not fit', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const cost = ({ name }: Tool) => (name === 'device_status' ? 90 : 20);
    const offer = await toolbox.offer('battery zone', { maxTools: 5, maxTokens: 50, cost });
    expect(namesOf(offer.tools)).toEqual(['now']);
  });

  it('knows neither tools that are off nor those of servers that are off', async () => {
    const other = silentServer('other', [tool('shout', 'Shout.')]);
    const { toolbox, host } = await toolboxOver(PHONE, other);
    await host.setTool('phone', 'now', false);
    await host.update('other', { enabled: false });
    const offer = await toolbox.offer('', roomy);
    expect(namesOf(offer.tools)).toEqual(['set_reminder', 'device_status']);
    await host.setTool('phone', 'now', true);
    expect(namesOf((await toolbox.offer('', roomy)).tools)).toContain('now');
  });

  it('keeps the names of tools when others are turned off', async () => {
    const two = silentServer('shop', [tool('search', 'Search the shop.')], 'Shop');
    const one = silentServer('docs', [tool('search', 'Search the docs.')], 'Docs');
    const { toolbox, host } = await toolboxOver(one, two);
    await host.setTool('docs', 'search', false);
    expect(namesOf((await toolbox.offer('search', roomy)).tools)).toEqual(['shop_search']);
  });

  it('believes the hints of a trusted server alone', async () => {
    const travel = await started(startTravel());
    const world = await newHost({ inPage: [PHONE] });
    const toolbox = toolboxOf(world);
    const added = await world.host.add({ url: travel.url });
    if (!added.ok) throw new Error(added.error.message);
    const weather = async () =>
      (await toolbox.offer('weather', roomy)).tools.find(({ name }) => name === 'get_weather');
    expect(await weather()).toMatchObject({ readOnly: false, idempotent: false, local: false });
    await world.host.update(added.server.id, { trustHints: true, private: true });
    expect(await weather()).toMatchObject({ readOnly: true, idempotent: true, private: true });
  });

  it('finds what the travel sentence needs among the tools of the phone, in little room', async () => {
    const travel = await started(startTravel());
    const world = await newHost({ inPage: [PHONE] });
    await world.host.add({ url: travel.url });
    const offer = await toolboxOf(world).offer(TRAVEL_SENTENCE, { ...roomy, maxTools: 4 });
    expect(namesOf(offer.tools).sort()).toEqual([
      'add_to_itinerary',
      'get_itinerary',
      'get_weather',
      'search_flights',
    ]);
  });

  it('is made of the stored lists: no request is made, and none for a fresh list behind it', async () => {
    const travel = await started(startTravel());
    const world = await newHost({ inPage: [PHONE] });
    await world.host.add({ url: travel.url });
    travel.resetCounts();
    const toolbox = toolboxOf(world);
    for (let turn = 0; turn < 5; turn += 1) await toolbox.offer(TRAVEL_SENTENCE, roomy);
    expect(travel.counts()).toEqual({});
  });

  it('uses a stale list, and renews it behind', async () => {
    const travel = await started(startTravel());
    let clock = Date.now();
    const world = await newHost({ inPage: [PHONE], now: () => clock });
    const added = await world.host.add({ url: travel.url });
    if (!added.ok) throw new Error(added.error.message);
    clock += 2 * 3_600_000;
    travel.resetCounts();
    const toolbox = toolboxOf(world);
    expect((await toolbox.offer('weather', roomy)).tools).toHaveLength(7);
    await until(async () => (await world.store.lists.get(added.server.id))?.fetchedAt === clock);
    await toolbox.offer('weather', roomy);
    expect(travel.counts()['tools/list']).toBe(1);
  });

  it('is made where the server of a stale list is gone', async () => {
    const travel = await startTravel();
    let clock = Date.now();
    const world = await newHost({ inPage: [PHONE], now: () => clock });
    const added = await world.host.add({ url: travel.url });
    await travel.close();
    clock += 30 * 24 * 3_600_000;
    const offer = await toolboxOf(world).offer('weather', roomy);
    expect(namesOf(offer.tools)).toContain('get_weather');
    await until(
      async () =>
        added.ok && (await world.store.servers.get(added.server.id))?.lastError !== undefined,
    );
    expect(namesOf((await toolboxOf(world).offer('weather', roomy)).tools)).toContain(
      'get_weather',
    );
  });

  it('of a thousand tools takes a few milliseconds', async () => {
    const many = Array.from({ length: 1_000 }, (_, i) =>
      tool(`tool_${i}`, `Does the thing number ${i} with flights, weather and words like w${i}x.`),
    );
    const { toolbox } = await toolboxOver(silentServer('many', many));
    const budget = { ...roomy, maxTools: 8 };
    await toolbox.offer(TRAVEL_SENTENCE, budget);
    const times = [];
    for (let run = 0; run < 9; run += 1) {
      const before = performance.now();
      await toolbox.offer(TRAVEL_SENTENCE, budget);
      times.push(performance.now() - before);
    }
    // The best of them: what it takes on a machine that is not busy with something else.
    expect(Math.min(...times)).toBeLessThan(5);
  });
});

describe('a bound call', () => {
  const call = (name: string, args: Record<string, unknown> | null) => ({
    id: 'c1',
    name,
    args,
    raw: '',
  });
  const NOW = new Date('2026-11-29T14:05:00+05:30');
  const dated = silentServer('trip', [
    tool('add', 'Add an item.', {
      inputSchema: {
        type: 'object',
        properties: {
          item: { type: 'string' },
          date: { type: 'string', description: 'Day, as YYYY-MM-DD.' },
        },
        required: ['item', 'date'],
      },
    }),
  ]);

  it('has its days resolved and its arguments checked', async () => {
    const { toolbox } = await toolboxOver(dated);
    const { tools } = await toolbox.offer('', roomy);
    expect(toolbox.bind(call('add', { item: 'a', date: 'next Friday' }), tools, NOW)).toMatchObject(
      {
        ok: true,
        call: {
          callId: 'c1',
          tool: { server: 'trip', name: 'add' },
          args: { item: 'a', date: '2026-12-04' },
          days: [{ said: 'next Friday', value: '2026-12-04' }],
        },
      },
    );
  });

  it.each<[string, Record<string, unknown> | null, RegExp]>([
    ['fly', {}, /There is no tool fly\. The tools are: add\./],
    ['add', null, /not name=value pairs/],
    ['add', { item: 'a' }, /date .* is missing/],
  ])('of %s(%j) is none, with a sentence for the model', async (name, args, error) => {
    const { toolbox } = await toolboxOver(dated);
    const { tools } = await toolbox.offer('', roomy);
    const bound = toolbox.bind(call(name, args), tools, NOW);
    expect(bound).toMatchObject({ ok: false, error: expect.stringMatching(error) });
  });

  it('is made of offered tools alone', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const { tools } = await toolbox.offer('battery', { ...roomy, maxTools: 1 });
    expect(toolbox.bind(call('now', {}), tools, NOW)).toMatchObject({ ok: false });
  });

  it('finds its tool again by its pin, and not once the definition changed', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const { tools } = await toolbox.offer('', roomy);
    const [first] = tools;
    if (!first) throw new Error('No tool.');
    expect(await toolbox.find('phone', first.name, first.pin)).toMatchObject({ name: first.name });
    expect(await toolbox.find('phone', first.name, 'other')).toBeNull();
    expect(await toolbox.find('gone', first.name, first.pin)).toBeNull();
  });

  it('that cannot be carried out ends in words', async () => {
    const { toolbox } = await toolboxOver(PHONE);
    const { tools } = await toolbox.offer('', roomy);
    const bound = toolbox.bind(call('now', {}), tools, NOW);
    if (!bound.ok) throw new Error(bound.error);
    expect(await toolbox.call(bound.call, never())).toMatchObject({ kind: 'unavailable' });
  });
});
