/**
 * "Benchmark this phone": each stored model reads and writes one fixed text and does ten small tool
 * tasks, through the same brain as in a conversation, and they are ranked.
 *
 * Promises: the same tasks for every model and every phone, so that reports can be laid side by side;
 * no tool is ever called; a model that fails is in the report with its reason.
 */
import type { Brain, BrainUsage, ModelCall, ToolSpec } from '../brain.ts';
import { toMeasurement } from './figures.ts';
import type { BenchmarkedModel, BenchmarkProgress, BenchmarkReport } from './types.ts';

const NOW = 'Sunday 2026-11-29 14:05, Asia/Kolkata';

/** About 200 tokens: enough that reading it is measured, and little enough for a slow phone. */
const TEXT = `Read this and say in three sentences what it is about.

The first lighthouse on the rock was made of wood and stood for four years before a storm took it. The second, of oak and iron, burned down one night in December, when the keeper was ninety-four years old. The third was built by an engineer who studied how an old tree stands in the wind: wide at the foot, heavy in its lower half, growing narrow towards the top. He had every block of granite cut so that it locked into its neighbours, and set the first of them into the rock itself. It took three summers, because work was possible only for a few hours at low tide. When it was finished, people came from other countries to look at it. The tower never failed. It was taken down after more than a hundred years, because the sea had begun to hollow out the rock beneath it, and its upper half was built up again on the shore, where it still stands.`;

type Args = Readonly<Record<string, string | number | readonly (string | number)[]>>;

interface Task {
  readonly ask: string;
  /** Names of the tools that are offered. */
  readonly offered: readonly string[];
  /** The right call; an argument may have several right values. Null: no tool is to be called. */
  readonly expected: { readonly name: string; readonly args: Args } | null;
}

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, { readonly type: string; readonly description: string }>>,
): ToolSpec {
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
  };
}

const text = (description: string) => ({ type: 'string', description });
const number = (description: string) => ({ type: 'number', description });

const TOOLS: readonly ToolSpec[] = [
  tool('get_weather', 'Get the weather forecast of a city for a day.', {
    city: text('Name of the city.'),
    date: text('Day, as YYYY-MM-DD.'),
  }),
  tool('find_flights', 'Find flights between two cities.', {
    origin: text('City of departure.'),
    destination: text('City of arrival.'),
    date: text('Day, as YYYY-MM-DD.'),
  }),
  tool('convert_currency', 'Convert an amount of money from one currency into another.', {
    amount: number('How much.'),
    from: text('Currency code, e.g. USD.'),
    to: text('Currency code, e.g. EUR.'),
  }),
  tool('set_timer', 'Start a timer.', { minutes: number('How many minutes it runs.') }),
  tool('create_reminder', 'Create a reminder for a day.', {
    text: text('What to be reminded of.'),
    date: text('Day, as YYYY-MM-DD.'),
  }),
  tool('search_notes', "Search the user's notes.", { query: text('Words to look for.') }),
  tool('send_message', 'Send a text message to a contact.', {
    to: text('Name of the contact.'),
    text: text('What to say.'),
  }),
  tool('play_music', 'Play music of an artist.', { artist: text('Name of the artist.') }),
  tool('get_stock_price', 'Get the latest price of a stock.', { symbol: text('Ticker symbol.') }),
];

const TOMORROW = ['2026-11-30', 'tomorrow'];

/** Ten tasks that an assistant on a phone is given every day. */
export const TASKS: readonly Task[] = [
  {
    ask: "What's the weather in Mumbai tomorrow?",
    offered: ['get_weather', 'set_timer'],
    expected: { name: 'get_weather', args: { city: 'Mumbai', date: TOMORROW } },
  },
  {
    ask: 'Find me a flight from Delhi to Paris on 2026-12-04.',
    offered: ['find_flights', 'get_weather', 'convert_currency'],
    expected: {
      name: 'find_flights',
      args: { origin: 'Delhi', destination: 'Paris', date: '2026-12-04' },
    },
  },
  {
    ask: 'How much is 250 USD in EUR?',
    offered: ['convert_currency', 'get_stock_price'],
    expected: { name: 'convert_currency', args: { amount: 250, from: 'USD', to: 'EUR' } },
  },
  {
    ask: 'Set a timer for 12 minutes.',
    offered: ['set_timer', 'create_reminder'],
    expected: { name: 'set_timer', args: { minutes: 12 } },
  },
  {
    ask: 'Remind me to water the plants tomorrow.',
    offered: ['create_reminder', 'set_timer', 'search_notes'],
    expected: {
      name: 'create_reminder',
      args: { text: ['water the plants', 'water plants'], date: TOMORROW },
    },
  },
  {
    ask: 'Look for passport in my notes.',
    offered: ['search_notes', 'create_reminder'],
    expected: { name: 'search_notes', args: { query: 'passport' } },
  },
  {
    ask: 'Text Asha: I am running late.',
    offered: ['send_message', 'create_reminder', 'play_music'],
    expected: { name: 'send_message', args: { to: 'Asha', text: 'I am running late' } },
  },
  {
    ask: 'Play some Miles Davis.',
    offered: ['play_music', 'search_notes'],
    expected: { name: 'play_music', args: { artist: 'Miles Davis' } },
  },
  {
    ask: 'What does the stock TSLA cost right now?',
    offered: ['get_stock_price', 'convert_currency'],
    expected: { name: 'get_stock_price', args: { symbol: 'TSLA' } },
  },
  {
    ask: 'Thank you, that was all for today.',
    offered: ['set_timer', 'play_music'],
    expected: null,
  },
];

const plain = (value: unknown): string =>
  String(value)
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, '');

/** Whether the calls are what the task wants: the one call, with these arguments and no others. */
export function isRight({ expected }: Task, calls: readonly ModelCall[]): boolean {
  if (!expected) return calls.length === 0;
  const [call] = calls;
  if (calls.length !== 1 || !call || call.name !== expected.name || !call.args) return false;
  const wanted = Object.entries(expected.args);
  const { args } = call;
  return (
    Object.keys(args).length === wanted.length &&
    wanted.every(([name, values]) =>
      [values].flat().some((value) => name in args && plain(args[name]) === plain(value)),
    )
  );
}

interface Answer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly usage: BrainUsage;
  /** What went wrong, as a sentence. */
  readonly error?: string;
  readonly aborted: boolean;
}

async function ask(
  brain: Brain,
  words: string,
  tools: readonly ToolSpec[],
  maxTokens: number,
  signal: AbortSignal,
): Promise<Answer> {
  const calls: ModelCall[] = [];
  let said = '';
  let usage: BrainUsage = {};
  const request = {
    system: '',
    now: NOW,
    messages: [{ role: 'user', text: words } as const],
    tools,
    toolChoice: tools.length > 0 ? ('auto' as const) : ('none' as const),
    maxTokens,
    temperature: 0,
    // Measured in the same few tokens as the others.
    think: false,
  };
  for await (const event of brain.stream(request, signal)) {
    if (event.type === 'text') said += event.text;
    else if (event.type === 'call') calls.push(event.call);
    else if (event.type === 'usage') usage = { ...usage, ...event.usage };
    else if (event.type === 'end') {
      const error = event.reason === 'error' ? { error: event.error.message } : {};
      return { text: said, calls, usage, aborted: event.reason === 'aborted', ...error };
    }
  }
  return { text: said, calls, usage, aborted: signal.aborted };
}

const SPEED_TOKENS = 64;
const TASK_TOKENS = 96;

/** A model to be measured. */
export interface Candidate {
  readonly id: string;
  readonly label: string;
  readonly engine: string;
  readonly quantisation?: string;
  /** Bytes. */
  readonly memory: number;
  readonly storage: number;
  readonly brain: Brain;
}

async function measure(
  { brain, ...known }: Candidate,
  step: () => void,
  signal: AbortSignal,
): Promise<BenchmarkedModel | null> {
  const speed = await ask(brain, TEXT, [], SPEED_TOKENS, signal);
  if (speed.aborted) return null;
  const of = TASKS.length;
  if (speed.error !== undefined) return { ...known, right: 0, of, tasks: [], error: speed.error };
  step();
  const { prefillRate, decodeRate, firstTokenMs } = toMeasurement(speed.usage, 0) ?? {};
  const tasks: BenchmarkedModel['tasks'][number][] = [];
  for (const task of TASKS) {
    const tools = TOOLS.filter(({ name }) => task.offered.includes(name));
    const answer = await ask(brain, task.ask, tools, TASK_TOKENS, signal);
    if (answer.aborted) return null;
    const said = answer.error ?? (answer.calls.map(({ raw }) => raw).join('\n') || answer.text);
    const right = answer.error === undefined && isRight(task, answer.calls);
    tasks.push({ ask: task.ask, right, said });
    step();
  }
  return {
    ...known,
    ...(prefillRate === undefined ? {} : { prefillRate }),
    ...(decodeRate === undefined ? {} : { decodeRate }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    right: tasks.filter(({ right }) => right).length,
    of,
    tasks,
  };
}

/** Best first: more tasks right, then quicker. */
export function ranked(models: readonly BenchmarkedModel[]): BenchmarkedModel[] {
  return models.toSorted((a, b) => b.right - a.right || (b.decodeRate ?? 0) - (a.decodeRate ?? 0));
}

/** Measures one model after the other. After an abort the report holds those that were done. */
export async function runBenchmark(
  candidates: readonly Candidate[],
  device: string,
  onProgress: (progress: BenchmarkProgress) => void,
  signal: AbortSignal,
): Promise<BenchmarkReport> {
  const of = candidates.length * (TASKS.length + 1);
  const models: BenchmarkedModel[] = [];
  for (const [index, candidate] of candidates.entries()) {
    let done = index * (TASKS.length + 1);
    const tell = (): void => onProgress({ label: candidate.label, done, of });
    tell();
    const found = await measure(
      candidate,
      () => {
        done += 1;
        tell();
      },
      signal,
    );
    if (!found) break;
    models.push(found);
  }
  return { name: 'benchmark', date: new Date().toISOString(), device, models: ranked(models) };
}
