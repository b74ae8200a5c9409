/**
 * The tools that the demo model is offered: the phone's own and those of the demo server, as it lists
 * them, chosen by the app's own toolbox.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ToolSpec } from '../../../src/brain/brain.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { ToolCaller } from '../../../src/mcp/types.ts';
import { DEVICE_STATUS, NOW, SET_REMINDER } from '../../../src/phone/tools.ts';
import type { ServerRecord, ToolDefinition, ToolListRecord } from '../../../src/store/records.ts';
import { startTravel } from '../../../tests/servers/travel.ts';
import type { Chance } from './chance.ts';

/** As many as the model's row in models/demo/rows.json says. */
const MOST = 5;

/** Tools of other servers, which the model is to leave alone. */
const STRANGERS: readonly ToolSpec[] = (
  [
    ['play_song', 'Play a song.', { song: 'Name of the song.' }],
    ['send_message', 'Send a message to a person.', { to: 'Who.', text: 'What to say.' }],
    ['search_web', 'Search the web.', { query: 'What to look for.' }],
    ['order_food', 'Order food from a restaurant.', { dish: 'What to eat.', restaurant: '' }],
    ['turn_on_lamp', 'Turn a lamp on.', { room: 'Which room.' }],
    ['get_stock_price', 'Get the price of a stock.', { symbol: 'Symbol of the company.' }],
    ['book_hotel', 'Book a hotel in a city.', { city: 'City.', nights: 'How many nights.' }],
    ['create_issue', 'Open an issue in a repository.', { title: 'Title.', body: 'Text.' }],
    ['convert_money', 'Convert money from one currency to another.', { amount: '', to: '' }],
  ] as const
).map(([name, description, words]) => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(words).map(([key, text]) => [key, { type: 'string', description: text }]),
    ),
    required: Object.keys(words).slice(0, 1),
  },
}));

export interface Toolset {
  /** The app's own tools, by name. */
  readonly all: ReadonlyMap<string, ToolSpec>;
  /** What the app would offer for these words. */
  offer(words: string): Promise<readonly ToolSpec[]>;
  /** Another offer that holds the named tools, of any size and in any order, or strangers too. */
  anyOffer(needed: readonly string[], chance: Chance): readonly ToolSpec[];
}

/** The tools as the demo server lists them. */
async function travelTools(): Promise<ToolDefinition[]> {
  const travel = await startTravel({ port: 0 });
  const client = new Client({ name: 'tiny-gemma', version: '1.0.0' });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(travel.url)));
    const { tools } = await client.listTools();
    return tools.map((tool) => ({ ...(tool as unknown as ToolDefinition), pin: tool.name }));
  } finally {
    await client.close();
    await travel.close();
  }
}

const server = (id: string, name: string, url: string): ServerRecord => ({
  id,
  name,
  url,
  addedAt: 0,
  enabled: true,
  trustHints: true,
  private: false,
});

const list = (id: string, tools: readonly ToolDefinition[]): ToolListRecord =>
  ({
    server: id,
    fetchedAt: 0,
    ttlMs: 0,
    tools: tools.map((tool) => ({ ...tool, pin: tool.name })),
    off: [],
  }) as unknown as ToolListRecord;

const specOf = ({ name, description, inputSchema }: ToolDefinition): ToolSpec => ({
  name,
  description: description ?? '',
  inputSchema,
});

/** Reads the tools and makes the toolbox. */
export async function openToolset(): Promise<Toolset> {
  const phone = [SET_REMINDER, NOW, DEVICE_STATUS];
  const travel = await travelTools();
  const host: ToolCaller = {
    stock: async () => ({
      servers: [
        server('phone', 'This phone', 'phone:'),
        server('travel', 'Travel demo', 'http://travel.example/mcp'),
      ],
      lists: new Map([
        ['phone', list('phone', phone)],
        ['travel', list('travel', travel)],
      ]),
    }),
    renewStale: () => undefined,
    callTool: () => Promise.reject(new Error('Nothing is called here.')),
    resumeTask: () => Promise.reject(new Error('Nothing is called here.')),
  };
  const toolbox = createToolbox({
    store: {
      changes: { subscribe: () => () => undefined },
    } as unknown as Parameters<typeof createToolbox>[0]['store'],
    host,
    timeZone: () => 'Asia/Kolkata',
  });
  const all = new Map([...phone, ...travel].map((tool) => [tool.name, specOf(tool)]));
  return {
    all,
    async offer(words) {
      const budget = { maxTools: MOST, maxTokens: 100_000, cost: () => 1 };
      const { tools } = await toolbox.offer(words, budget);
      return tools.map(({ modelName, description, inputSchema }) => ({
        name: modelName,
        description,
        inputSchema,
      }));
    },
    anyOffer(needed, chance) {
      const others = [...all.values()].filter(({ name }) => !needed.includes(name));
      const more = chance.shuffle(chance.happens(0.15) ? [...others, ...STRANGERS] : others);
      const size = chance.whole(needed.length, Math.max(MOST, needed.length));
      const named = needed.flatMap((name) => all.get(name) ?? []);
      return chance.shuffle([...named, ...more.slice(0, size - named.length)]);
    },
  };
}
