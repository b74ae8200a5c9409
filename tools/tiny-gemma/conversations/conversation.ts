/** One conversation for the demo model: what it is about, drawn by chance, as the app itself renders it. */
import { clockLine } from '../../../src/agent/prompt.ts';
import type { BrainMessage, BrainRequest, ToolSpec } from '../../../src/brain/brain.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import type { Chance } from './chance.ts';
import { clock, device, reminder, ZONES } from './phone.ts';
import { errorReply, errorText, impossible, name, NO_TOOL, saying } from './talk.ts';
import type { Draw, Step, Task } from './task.ts';
import type { Toolset } from './tools.ts';
import { flight, itinerary, reminderIfRain, weather, whereFrom } from './travel.ts';

export interface Conversation {
  /** What it is about. */
  readonly kind: string;
  /** Prompt and reply by turns. */
  readonly pieces: readonly string[];
  /** Which of the pieces the model is to say. */
  readonly learn: readonly number[];
  /** The same as the app asks it: what the model is asked last, and its messages; null without clock and tools. */
  readonly request: Pick<BrainRequest, 'now' | 'messages' | 'tools'> | null;
}

const one =
  (make: (draw: Draw) => Task) =>
  (draw: Draw): Task[] => [make(draw)];

/** What conversations are about, and how often. */
const KINDS: readonly (readonly [string, number, (draw: Draw) => Task[]])[] = [
  ['flight', 30, one(flight)],
  ['where from', 8, whereFrom],
  ['weather', 9, one(weather)],
  ['reminder if it rains', 9, one(reminderIfRain)],
  ['itinerary', 6, one(itinerary)],
  ['reminder', 16, one(reminder)],
  ['clock', 5, one(clock)],
  ['device', 7, one(device)],
  ['talk', 9, one(saying)],
  ['name', 3, name],
  ['no tool', 8, one(impossible)],
];
const TOTAL = KINDS.reduce((sum, [, weight]) => sum + weight, 0);

function drawKind(chance: Chance): (typeof KINDS)[number] {
  let left = chance.number() * TOTAL;
  return KINDS.find(([, weight]) => (left -= weight) < 0) ?? KINDS[0]!;
}

/** Shares of the conversations in which something is otherwise. */
const FAILS = 0.14;
const WITHOUT_TOOL = 0.05;
const WITH_HISTORY = 0.15;
const OTHER_OFFER = 0.4;
const DATES = 0.1;
const BARE = 0.4;

/** A call that fails or is refused ends what was to be done. */
function broken(draw: Draw, task: Task): Task {
  const { chance } = draw;
  const at = chance.whole(0, task.steps.length - 1);
  const text = errorText(draw);
  const failed: Step = { ...task.steps[at]!, result: text, failed: true };
  return { ...task, steps: [...task.steps.slice(0, at), failed], reply: errorReply(text) };
}

async function offered(
  tools: Toolset,
  chance: Chance,
  task: Task,
  words: string,
): Promise<readonly ToolSpec[]> {
  const real = await tools.offer(words);
  const missing = task.needed.some((needed) => !real.some(({ name: known }) => known === needed));
  if (!missing && !chance.happens(OTHER_OFFER)) return real;
  if (task.needed.length === 0 && chance.happens(0.2)) return [];
  return tools.anyOffer(task.needed, chance);
}

/** The messages of one turn. With `dates`, days stand in the calls as the app resolved them. */
function messagesOf(chance: Chance, task: Task, dates: boolean): BrainMessage[] {
  const date = `202${chance.whole(6, 7)}-${String(chance.whole(1, 12)).padStart(2, '0')}-${String(chance.whole(1, 28)).padStart(2, '0')}`;
  const messages: BrainMessage[] = [{ role: 'user', text: task.request }];
  task.steps.forEach(({ call, result, failed = false }, at) => {
    const { name: tool, args } = call;
    const shown = dates && 'date' in args ? { ...args, date } : args;
    const callId = String(at);
    messages.push(
      { role: 'assistant', text: '', calls: [{ id: callId, name: tool, args: shown, raw: '' }] },
      { role: 'tool', callId, name: tool, text: result, isError: failed },
    );
  });
  return [...messages, { role: 'assistant', text: task.reply, calls: [] }];
}

const saidBefore = ({ request, reply }: Task): BrainMessage[] => [
  { role: 'user', text: request },
  { role: 'assistant', text: reply, calls: [] },
];

/** The prompt of every step and what is said to it, as the app would render them one after another. */
async function render(
  tools: Toolset,
  draw: Draw,
  past: readonly Task[],
  task: Task,
): Promise<Omit<Conversation, 'kind'>> {
  const { chance } = draw;
  const last = past.at(-1);
  const words =
    task.request.length < 40 && last ? `${task.request}\n${last.request}` : task.request;
  let now = task;
  let offer = await offered(tools, chance, task, words);
  if (task.needed.length === 1 && chance.happens(WITHOUT_TOOL)) {
    offer = offer.filter(({ name: tool }) => tool !== task.needed[0]);
    now = { ...task, steps: [], reply: NO_TOOL };
  } else if (task.steps.length > 0 && chance.happens(FAILS)) now = broken(draw, task);
  const dates = now.steps.length > 0 && chance.happens(DATES);
  const history = past.flatMap(saidBefore);
  const at = clockLine(
    Date.UTC(2026, 0, 1) + chance.whole(0, 900 * 1440) * 60_000,
    chance.pick(ZONES),
  );
  const messages = messagesOf(chance, now, dates);
  const request = {
    now: at,
    messages: [...history, ...messages.slice(0, -1)],
    tools: offer,
    toolChoice: 'auto' as const,
  };
  const pieces = [...gemma3.render(request), now.reply];
  const first = pieces.length - 1 - 2 * now.steps.length;
  const all = Array.from({ length: now.steps.length + 1 }, (_, step) => first + 2 * step);
  return { pieces, learn: dates ? [pieces.length - 1] : all, request };
}

/** Turns without clock and tools, as any other program would write them. */
function renderBare(tasks: readonly Task[]): Omit<Conversation, 'kind'> {
  const pieces = tasks.flatMap(({ request, reply }, at) => [
    `${at > 0 ? '<end_of_turn>\n' : ''}<start_of_turn>user\n${gemma3.neutralise(request)}<end_of_turn>\n<start_of_turn>model\n`,
    reply,
  ]);
  return { pieces, learn: tasks.map((_, at) => 2 * at + 1), request: null };
}

/** Draws the next conversation. */
export async function conversation(tools: Toolset, draw: Draw): Promise<Conversation> {
  const { chance } = draw;
  const [kind, , make] = drawKind(chance);
  const tasks = make(draw);
  if (tasks.every(({ needed }) => needed.length === 0) && chance.happens(BARE)) {
    const before = chance.happens(0.3) ? [saying(draw)] : [];
    return { kind, ...renderBare([...before, ...tasks]) };
  }
  const past: Task[] = [];
  if (chance.happens(WITH_HISTORY))
    for (let count = chance.whole(1, 2); count > 0; count -= 1)
      past.push(...drawKind(chance)[2](draw));
  const task = tasks.pop()!;
  // Of a name, and of a question back, either turn may be the newest.
  const asked = tasks[0];
  if (asked && chance.happens(0.4)) return { kind, ...(await render(tools, draw, past, asked)) };
  return { kind, ...(await render(tools, draw, [...past, ...tasks], task)) };
}
