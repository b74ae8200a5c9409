/** What the tests of the cloud wires share: a real store, a brain of a chosen wire, tools, a turn. */
import 'fake-indexeddb/auto';
import type {
  Brain,
  BrainError,
  BrainEvent,
  BrainMessage,
  BrainRequest,
  ModelCall,
  ToolSpec,
} from '../../../../src/brain/brain.ts';
import { createCloud, type CloudOptions } from '../../../../src/brain/cloud/accounts.ts';
import type { CloudKind } from '../../../../src/store/records.ts';
import { openStore } from '../../../../src/store/open.ts';
import type { Store } from '../../../../src/store/store.ts';

export interface WireCase {
  readonly kind: CloudKind;
  readonly path: string;
}

export const WIRES: readonly WireCase[] = [
  { kind: 'openai', path: '/v1' },
  { kind: 'anthropic', path: '/v1' },
  { kind: 'gemini', path: '/v1beta' },
];

export const KEY = 'secret-key-1234567890';

let stores = 0;
export function newStore(): Promise<Store> {
  return openStore({ name: `cloud-${++stores}`, channel: false });
}

/** A brain behind a stored account, made the way the app makes it. */
export async function brainAt(
  baseUrl: string,
  kind: CloudKind,
  model: string,
  options: Omit<CloudOptions, 'store'> & {
    readonly key?: string;
    readonly preset?: string;
    readonly images?: boolean;
  } = {},
): Promise<Brain> {
  const { key = KEY, preset = 'other', images, ...rest } = options;
  const store = await newStore();
  await store.accounts.put({
    id: 'one',
    kind,
    preset,
    label: 'Test host',
    baseUrl,
    model,
    contextTokens: 100_000,
    ...(images === undefined ? {} : { images }),
  });
  if (key) await store.vault.set('cloud:one', key);
  const brain = await createCloud({ store, ...rest }).brain('one');
  if (!brain) throw new Error('no brain');
  return brain;
}

export const NOW = 'Sunday 2026-11-29 14:05, Asia/Kolkata';

export function ask(text: string, more: Partial<BrainRequest> = {}): BrainRequest {
  return {
    system: 'You are helpful.',
    now: NOW,
    messages: [{ role: 'user', text }],
    tools: [],
    toolChoice: 'auto',
    maxTokens: 500,
    ...more,
  };
}

export interface Answer {
  readonly events: readonly BrainEvent[];
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ModelCall[];
  readonly sent: readonly Extract<BrainEvent, { type: 'sent' }>[];
  readonly usage: Extract<BrainEvent, { type: 'usage' }>['usage'] | undefined;
  readonly end: string;
  readonly error: BrainError | undefined;
}

export async function collect(
  brain: Brain,
  request: BrainRequest,
  signal: AbortSignal = new AbortController().signal,
  onEvent: (event: BrainEvent) => void = () => undefined,
): Promise<Answer> {
  const events: BrainEvent[] = [];
  for await (const event of brain.stream(request, signal)) {
    events.push(event);
    onEvent(event);
  }
  const of = <T extends BrainEvent['type']>(type: T) =>
    events.filter((event): event is Extract<BrainEvent, { type: T }> => event.type === type);
  const end = events.at(-1);
  if (end?.type !== 'end' || of('end').length !== 1) throw new Error('must end once, and last');
  return {
    events,
    text: of('text')
      .map((event) => event.text)
      .join(''),
    thinking: of('thinking')
      .map((event) => event.text)
      .join(''),
    calls: of('call').map((event) => event.call),
    sent: of('sent'),
    usage: of('usage').at(-1)?.usage,
    end: end.reason,
    error: end.reason === 'error' ? end.error : undefined,
  };
}

export const TRAVEL =
  "I'm flying from Delhi to Goa next Friday. Find me a morning flight, check if I'll need a raincoat, and save the flight to my itinerary.";

const string = (description: string) => ({ type: 'string', description });

export const TRAVEL_TOOLS: readonly ToolSpec[] = [
  {
    name: 'search_flights',
    description: 'Search flights between two cities on a date.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        origin: string('City of departure.'),
        destination: string('City of arrival.'),
        date: string('Day, as YYYY-MM-DD.'),
        part: {
          type: 'string',
          enum: ['morning', 'afternoon', 'evening'],
          description: 'Part of the day.',
        },
      },
      required: ['origin', 'destination', 'date'],
      additionalProperties: false,
    },
  },
  {
    name: 'get_weather',
    description: 'Get the weather forecast of a city for a day.',
    inputSchema: {
      type: 'object',
      properties: { city: string('Name of the city.'), date: string('Day, as YYYY-MM-DD.') },
      required: ['city', 'date'],
    },
  },
  {
    name: 'add_to_itinerary',
    description: "Save an item to the user's trip.",
    inputSchema: {
      type: 'object',
      properties: { item: string('What to save.'), date: string('Day, as YYYY-MM-DD.') },
      required: ['item', 'date'],
    },
  },
];

export interface World {
  readonly sky: string;
  readonly flights?: readonly unknown[];
  /** Name of a tool whose call the person denies. */
  readonly denied?: string;
  /** Name of a tool that fails. */
  readonly broken?: string;
}

const FLIGHTS = [
  { flight: 'UK 847', airline: 'Vistara', departs: '18:20', price_inr: 4900 },
  { flight: '6E 2131', airline: 'IndiGo', departs: '07:40', price_inr: 5400 },
  { flight: 'AI 883', airline: 'Air India', departs: '10:15', price_inr: 6100 },
];

export interface Turn {
  readonly answer: Answer;
  /** The calls of each step. */
  readonly steps: readonly (readonly ModelCall[])[];
  readonly messages: readonly BrainMessage[];
}

/** Runs a turn against tools that answer as the demo server does. */
export async function runTurn(
  brain: Brain,
  request: BrainRequest,
  world: World,
  mostSteps = 6,
): Promise<Turn> {
  const messages = [...request.messages];
  const steps: (readonly ModelCall[])[] = [];
  for (;;) {
    const answer = await collect(brain, { ...request, messages });
    if (answer.end !== 'calls' || steps.length >= mostSteps) return { answer, steps, messages };
    steps.push(answer.calls);
    messages.push({ role: 'assistant', text: answer.text, calls: answer.calls });
    for (const call of answer.calls)
      messages.push({ role: 'tool', callId: call.id, name: call.name, ...resultOf(call, world) });
  }
}

function resultOf(call: ModelCall, world: World): { text: string; isError: boolean } {
  const error = (message: string) => ({ text: JSON.stringify({ error: message }), isError: true });
  if (call.args === null) return error(`the arguments are not JSON: ${call.raw}`);
  const tool = TRAVEL_TOOLS.find(({ name }) => name === call.name);
  if (!tool) return error(`no tool ${call.name}`);
  for (const name of tool.inputSchema.required as string[])
    if (call.args[name] === undefined) return error(`${name} is missing`);
  if (call.name === world.denied) return error('the user said no; do not try it again');
  if (call.name === world.broken) return error('the booking system is down');
  const result =
    call.name === 'search_flights'
      ? { flights: world.flights ?? FLIGHTS }
      : call.name === 'get_weather'
        ? { city: call.args.city, sky: world.sky, high_c: 29 }
        : { ok: true };
  return { text: JSON.stringify(result), isError: false };
}
