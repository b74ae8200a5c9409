/**
 * A strong model, played by rules: it reads the user's words, the tools it is offered and the
 * results it was sent, and decides the next step from nothing else. It knows no test.
 */
import { fill, findTool, spelledOut, type Known } from './fill.ts';
import { longAnswer } from './long-answer.ts';
import {
  array,
  isObject,
  object,
  parseJson,
  text,
  type Json,
  type Reply,
  type ReplyCall,
  type Seen,
  type SeenTool,
  type SeenTurn,
} from './talk.ts';
import {
  cityIn,
  clockIn,
  dayWords,
  momentIn,
  partOfDay,
  resolveDay,
  routeIn,
  wantsDaysAsSaid,
} from './words.ts';

/** A call of this turn, with what came of it. */
interface Done {
  readonly name: string;
  readonly args: Json;
  readonly result: string;
  readonly isError: boolean;
}

/** One thing that the user wants, as far as it has come. */
type State =
  | { readonly kind: 'call'; readonly call: ReplyCall }
  | { readonly kind: 'wait' }
  | { readonly kind: 'say'; readonly sentence: string };

interface Turn {
  readonly seen: Seen;
  readonly request: string;
  readonly done: readonly Done[];
  readonly now: Date | null;
  readonly asSaid: boolean;
}

/** What a tool's pictures come behind where they are a message of their own; the request stands before it. */
const PICTURES = /^Pictures in the result of /;

/** What it sees in the pictures since the user last spoke, theirs included. */
function picturesIn(turns: readonly SeenTurn[]): string {
  const images = turns.flatMap((turn) => (turn.role === 'assistant' ? [] : (turn.images ?? [])));
  const seen = images.map(
    ({ mime, width, height }) => `a ${mime.slice('image/'.length)} of ${width}×${height}`,
  );
  return seen.length > 0 ? `I see ${seen.join(' and ')}.` : '';
}

export function think(seen: Seen): Reply {
  const turn = readTurn(seen);
  const states = goalsOf(turn).map((goal) => goal(turn));
  const calls = states.flatMap((state) => (state.kind === 'call' ? [state.call] : []));
  const thinking = `The user said: ${turn.request.slice(0, 80)}`;
  if (calls.length > 0 && seen.toolChoice !== 'none') return { thinking, text: '', calls };
  const sentences = states.flatMap((state) => (state.kind === 'say' ? [state.sentence] : []));
  const pictures = picturesIn(seen.turns.slice(startOf(seen)));
  if (pictures) sentences.push(pictures);
  return { thinking, text: sentences.join(' ') || chat(turn), calls: [] };
}

/** Where the user last spoke. */
function startOf(seen: Seen): number {
  return seen.turns.findLastIndex(
    (turn) => turn.role === 'user' && !isNudge(turn.text) && !PICTURES.test(turn.text),
  );
}

function readTurn(seen: Seen): Turn {
  const start = startOf(seen);
  const since = seen.turns.slice(start + 1);
  const done: Done[] = [];
  since.forEach((turn, at) => {
    if (turn.role !== 'assistant') return;
    const results = since.slice(at + 1);
    const end = results.findIndex((other) => other.role !== 'tool');
    const mine = results.slice(0, end < 0 ? undefined : end) as Extract<
      SeenTurn,
      { role: 'tool' }
    >[];
    turn.calls.forEach((call, index) => {
      const result = mine[index];
      if (result)
        done.push({
          name: call.name,
          args: call.args,
          result: result.text,
          isError: result.isError || /^\W{0,3}error\b/i.test(result.text),
        });
    });
  });
  const first = seen.turns[start];
  return {
    seen,
    request: first?.role === 'user' ? first.text : '',
    done,
    now: clockIn(seen.system),
    asSaid: wantsDaysAsSaid(seen.system),
  };
}

/** Words by which an app asks for the rest of an answer. */
function isNudge(words: string): boolean {
  return /^(go on|continue)\b/i.test(words.trim());
}

/** Results of a travel search, of a forecast, …: found in JSON wherever it begins in the text. */
function dataIn(result: string): unknown {
  const at = result.search(/[[{]/);
  if (at < 0) return undefined;
  for (
    let end = result.length;
    end > at;
    end = result.lastIndexOf(result[at] === '{' ? '}' : ']', end - 2) + 1
  ) {
    const value = parseJson(result.slice(at, end));
    if (value !== undefined) return value;
    if (end < 2) break;
  }
  return undefined;
}

function errorIn(done: Done): string {
  const data = dataIn(done.result);
  const said = isObject(data) ? text(data.error) || text(data.message) : '';
  return (said || done.result.replace(/^error:?\s*/i, ''))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 240);
}

function isDenied(done: Done): boolean {
  return /\b(said no|denied|declined|refused|not allowed|did not allow)\b/i.test(done.result);
}

/** A day in the form that the system text asks for. */
function dayFor(turn: Turn, words: string | null): string | undefined {
  if (!words) return undefined;
  return turn.asSaid || !turn.now ? words : resolveDay(words, turn.now);
}

/** What came of a tool in this turn; the call to make where it is still to be made, or made right. */
function progress(
  turn: Turn,
  tool: SeenTool,
  args: Json,
): { readonly call: ReplyCall } | { readonly done: Done } {
  const tries = turn.done.filter((done) => done.name === tool.name);
  const last = tries.at(-1);
  if (!last) return { call: { name: tool.name, args } };
  // An error after a call that was not the right one: it is made again, right, but once only.
  if (last.isError && !isDenied(last) && tries.length < 2 && !sameCall(last.args, args))
    return { call: { name: tool.name, args } };
  return { done: last };
}

/** Days may have been resolved on the way, so only their being there counts. */
function sameCall(a: Json, b: Json): boolean {
  const keys = Object.keys(b);
  return (
    keys.length === Object.keys(a).length &&
    keys.every((key) =>
      /date|day|when|time|at$/i.test(key)
        ? typeof a[key] === typeof b[key]
        : JSON.stringify(a[key]) === JSON.stringify(b[key]),
    )
  );
}

type Goal = (turn: Turn) => State;

const say = (sentence: string): State => ({ kind: 'say', sentence });
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

function goalsOf({ request, seen }: Turn): Goal[] {
  if (seen.tools.length === 0 && !/flight|weather|raincoat|remind me/i.test(request)) return [];
  const explicit = explicitGoal(request, seen.tools);
  if (explicit) return [explicit];
  const goals: Goal[] = [];
  const flies = /\b(flights?|fly|flying)\b/i.test(request);
  if (flies && routeIn(request)) goals.push(flightGoal);
  if (/\b(weather|rain|raincoat|umbrella|forecast|sunny)\b/i.test(request)) goals.push(weatherGoal);
  if (flies && /\b(save|add|put)\b.*\b(itinerary|trip|plan)\b/i.test(request)) goals.push(saveGoal);
  if (/\bremind me\b/i.test(request)) goals.push(reminderGoal);
  if (/\bwhat (time|day|date)\b|\bwhat('s| is) the (time|date)\b/i.test(request))
    goals.push(readingGoal(/\b(now|clock|time|date)\b/, /remind|flight|weather|itinerary/));
  if (/\b(battery|storage|network|device)\b/i.test(request))
    goals.push(readingGoal(/\b(battery|device|storage)\b/));
  return goals;
}

interface Flight {
  readonly id: string;
  readonly departs: string;
  readonly price: number | null;
}

/** Every object in the data that has a flight's number and a time of departure. */
function flightsIn(data: unknown): Flight[] {
  if (Array.isArray(data)) return data.flatMap(flightsIn);
  if (!isObject(data)) return [];
  const entries = Object.entries(data);
  const find = (pattern: RegExp) => entries.find(([key]) => pattern.test(key))?.[1];
  const time = /\d{1,2}:\d{2}/.exec(String(find(/^depart|^time$|^leaves/i) ?? ''))?.[0];
  const id = find(/^flight(_?(number|no|id))?$|^number$|^code$|^id$/i);
  if (time && (typeof id === 'string' || typeof id === 'number')) {
    const price = Number(find(/price|fare|cost/i));
    return [
      {
        id: String(id),
        departs: time.padStart(5, '0'),
        price: Number.isFinite(price) ? price : null,
      },
    ];
  }
  return entries.flatMap(([, value]) => flightsIn(value));
}

function choose(turn: Turn, flights: readonly Flight[]): Flight | null {
  const part = partOfDay(turn.request);
  const hours = { morning: [4, 12], afternoon: [12, 17], evening: [17, 24] } as const;
  const fitting = flights.filter((flight) => {
    const hour = Number(flight.departs.slice(0, 2));
    return !part || (hour >= hours[part][0] && hour < hours[part][1]);
  });
  const cheapest = /\bcheap(est)?\b/i.test(turn.request);
  const [best] = [...fitting].sort((a, b) =>
    cheapest && a.price !== null && b.price !== null
      ? a.price - b.price
      : a.departs.localeCompare(b.departs),
  );
  return best ?? null;
}

function flightTool(turn: Turn): SeenTool | null {
  return findTool(turn.seen.tools, /\bflights?\b/, /book|cancel|save|itinerary/);
}

function searchOf(turn: Turn) {
  const tool = flightTool(turn);
  const route = routeIn(turn.request);
  if (!tool || !route) return null;
  const known: Known = {
    from: route.from,
    to: route.to,
    day: dayFor(turn, dayWords(turn.request)),
    part: partOfDay(turn.request) ?? undefined,
  };
  return { route, ...progress(turn, tool, fill(tool, known)) };
}

/** The flight that this turn is about, once the search has found it. */
function chosenFlight(turn: Turn): Flight | null {
  const search = searchOf(turn);
  if (!search || !('done' in search) || search.done.isError) return null;
  return choose(turn, flightsIn(dataIn(search.done.result)));
}

const flightGoal: Goal = (turn) => {
  const search = searchOf(turn);
  if (!search) return say('I have no tool to search flights with.');
  if ('call' in search) return { kind: 'call', call: search.call };
  if (isDenied(search.done)) return say('All right, I did not search for flights.');
  if (search.done.isError) return say(`The flight search failed: ${errorIn(search.done)}`);
  const flight = chosenFlight(turn);
  const part = partOfDay(turn.request);
  if (!flight)
    return say(
      `I found no ${part ? `${part} ` : ''}flight from ${search.route.from} to ${search.route.to}.`,
    );
  // Where it is to be saved, the sentence about that names it.
  if (goalsOf(turn).includes(saveGoal)) return { kind: 'wait' };
  return say(
    `Flight ${flight.id} leaves ${search.route.from} for ${search.route.to} at ${flight.departs}.`,
  );
};

const saveGoal: Goal = (turn) => {
  const tool = findTool(
    turn.seen.tools,
    /\b(itinerary|trip)\b/,
    /get|list|show|read|remove|delete/,
  );
  const search = searchOf(turn);
  if (!search || 'call' in search) return { kind: 'wait' };
  const flight = chosenFlight(turn);
  if (!flight) return { kind: 'wait' };
  const named = `Flight ${flight.id} at ${flight.departs}`;
  if (!tool) return say(`${named} fits, but I have no tool to save it with.`);
  const weather = weatherOf(turn);
  if (weather && 'call' in weather) return { kind: 'wait' };
  const words = dayWords(turn.request);
  const saved = progress(
    turn,
    tool,
    fill(tool, {
      item: `Flight ${flight.id}`,
      id: flight.id,
      day: dayFor(turn, words),
      time: flight.departs,
      from: search.route.from,
      to: search.route.to,
      city: search.route.to,
    }),
  );
  if ('call' in saved) return { kind: 'call', call: saved.call };
  if (isDenied(saved.done)) return say(`${named} fits; as you wished, I did not save it.`);
  if (saved.done.isError) return say(`${named} fits, but saving it failed: ${errorIn(saved.done)}`);
  return say(`${named} is in your itinerary${words ? ` for ${words}` : ''}.`);
};

function weatherOf(turn: Turn) {
  if (!goalsOf(turn).includes(weatherGoal)) return null;
  const tool = findTool(turn.seen.tools, /\b(weather|forecast)\b/);
  const city = routeIn(turn.request)?.to ?? cityIn(turn.request);
  if (!tool || !city) return null;
  const day = dayFor(turn, dayWords(turn.request) ?? 'today');
  return { city, ...progress(turn, tool, fill(tool, { city, to: city, day })) };
}

/** What the forecast says, and whether it rains, from whatever fields the tool has. */
function forecastIn(result: string): { sky: string; wet: boolean } {
  const data = dataIn(result);
  const words: string[] = [];
  let chance: number | null = null;
  const visit = (value: unknown, key: string): void => {
    if (Array.isArray(value)) value.forEach((inner) => visit(inner, key));
    else if (isObject(value)) for (const [name, inner] of Object.entries(value)) visit(inner, name);
    else if (
      typeof value === 'string' &&
      /sky|weather|condition|summary|description|forecast/i.test(key)
    )
      words.push(value);
    else if (typeof value === 'number' && /rain|precip/i.test(key))
      chance = Math.max(chance ?? 0, value > 0 && value <= 1 ? value * 100 : value);
  };
  visit(data ?? result, data === undefined ? 'summary' : '');
  const sky = words[0] ?? (chance === null ? 'unclear' : `${chance}% chance of rain`);
  const said = /rain|shower|drizzle|storm|monsoon/i.test(sky) && !/\bno rain|rainless/i.test(sky);
  return { sky, wet: said || (chance !== null && chance >= 40) };
}

const weatherGoal: Goal = (turn) => {
  const weather = weatherOf(turn);
  if (!weather) return say('I have no tool for the weather.');
  if ('call' in weather) return { kind: 'call', call: weather.call };
  if (isDenied(weather.done)) return say('All right, I did not look at the weather.');
  if (weather.done.isError)
    return say(`The weather could not be checked: ${errorIn(weather.done)}`);
  const { sky, wet } = forecastIn(weather.done.result);
  const thing = /\bumbrella\b/i.test(turn.request) ? 'an umbrella' : 'a raincoat';
  const asked = /\b(raincoat|umbrella)\b/i.test(turn.request);
  const told = `${capital(sky)} in ${weather.city}`;
  if (!asked) return say(`${told}.`);
  return say(wet ? `${told}, so take ${thing}.` : `${told}, so you won't need ${thing}.`);
};

const reminderGoal: Goal = (turn) => {
  const tool = findTool(turn.seen.tools, /\bremind/, /list|delete|cancel|dismiss/);
  const clause = /\bremind me\b(.*)/is.exec(turn.request)?.[1] ?? '';
  const moment = momentIn(clause, turn.now);
  const what = (moment ? moment.rest : clause)
    .replace(/\s+/g, ' ')
    .replace(/^\s*(to|about|that)\b/i, '')
    .replace(/\b(at|on|in)?\s*[.!?]?\s*$/i, '')
    .trim()
    .replace(/^(to|about|that)\s+/i, '');
  if (!tool) return say('I have no tool to set a reminder with.');
  if (!moment) return say(`When shall I remind you to ${what}?`);
  const when = turn.asSaid || !moment.iso ? moment.words : moment.iso;
  const set = progress(
    turn,
    tool,
    fill(tool, {
      item: what,
      moment: when,
      day: turn.asSaid || !moment.iso ? moment.words : moment.iso.slice(0, 10),
      time: moment.iso?.slice(11),
    }),
  );
  if ('call' in set) return { kind: 'call', call: set.call };
  if (isDenied(set.done)) return say('All right, I set no reminder.');
  if (set.done.isError) return say(`The reminder could not be set: ${errorIn(set.done)}`);
  return say(`I will remind you to ${what} ${moment.words}.`);
};

/** A tool without arguments whose reading is the answer. */
function readingGoal(purpose: RegExp, never?: RegExp): Goal {
  return (turn) => {
    const tool = findTool(turn.seen.tools, purpose, never);
    if (!tool) return say('I have no tool for that.');
    const reading = progress(turn, tool, {});
    if ('call' in reading) return { kind: 'call', call: reading.call };
    if (isDenied(reading.done)) return say('All right, I did not look.');
    if (reading.done.isError) return say(`That did not work: ${errorIn(reading.done)}`);
    return say(`${inWords(dataIn(reading.done.result) ?? reading.done.result)}.`);
  };
}

function inWords(data: unknown): string {
  if (!isObject(data)) return String(data).replace(/\s+/g, ' ').trim().slice(0, 300);
  return Object.entries(data)
    .map(
      ([key, value]) =>
        `${key.replace(/_/g, ' ')}: ${isObject(value) ? inWords(value) : String(value)}`,
    )
    .join(', ');
}

/** "Use the tool NAME with …": any tool, by its name, with what the user spelled out. */
function explicitGoal(request: string, tools: readonly SeenTool[]): Goal | null {
  const asked = /\b(?:use|call|run)\s+(?:the\s+)?(?:tool\s+)?[`"']?([\w.-]+)/i
    .exec(request)?.[1]
    ?.replace(/[.-]+$/, '');
  if (!asked) return null;
  const tool =
    tools.find((one) => one.name === asked) ??
    tools.find((one) => one.name.endsWith(asked) && asked.length > 2);
  if (!tool) return null;
  const words = request.slice(request.indexOf(asked) + asked.length);
  return (turn) => {
    const used = progress(turn, tool, spelledOut(tool, words));
    if ('call' in used) return { kind: 'call', call: used.call };
    if (isDenied(used.done)) return say('All right, I did not do it.');
    if (used.done.isError) return say(`That did not work: ${errorIn(used.done)}`);
    return say(`Done. ${capital(inWords(dataIn(used.done.result) ?? used.done.result))}.`);
  };
}

function chat({ request, seen, done }: Turn): string {
  if (done.length > 0) return `Done. ${capital(done.at(-1)!.result.slice(0, 200))}`;
  if (/\bmarkdown\b|\blong answer\b/i.test(request)) return longAnswer(request);
  const count = /\bcount (?:up )?to (\d{1,4})\b/i.exec(request);
  if (count) return Array.from({ length: Number(count[1]) }, (_, n) => n + 1).join(' ');
  const sum = /(-?\d+(?:\.\d+)?)\s*([+*/x×-])\s*(-?\d+(?:\.\d+)?)/.exec(request);
  if (sum)
    return `${sum[1]} ${sum[2]} ${sum[3]} = ${calculate(Number(sum[1]), sum[2]!, Number(sum[3]))}.`;
  const echo = /^(?:please )?(?:say|repeat|echo)\s+"?([^"]+?)"?[.!]?$/i.exec(request.trim());
  if (echo) return `${capital(echo[1]!)}.`;
  if (/\bwhat did i (say|ask|tell)\b|\bmy (first|last) (message|question)\b/i.test(request)) {
    const earlier = seen.turns.filter((turn) => turn.role === 'user').slice(0, -1);
    const one = /\bfirst\b/i.test(request) ? earlier[0] : earlier.at(-1);
    return one?.role === 'user' ? `You said: ${one.text}` : 'You have said nothing before.';
  }
  if (/^(hi|hello|hey|good (morning|evening))\b/i.test(request.trim()))
    return 'Hello. How can I help?';
  return `You said: ${request.slice(0, 300)} Tell me what you would like me to do with it.`;
}

function calculate(a: number, sign: string, b: number): string {
  const value = sign === '+' ? a + b : sign === '-' ? a - b : sign === '/' ? a / b : a * b;
  return String(Math.round(value * 1e6) / 1e6);
}

/** Whether any tool was called since the user last spoke. */
export function hasCalled(seen: Seen): boolean {
  return readTurn(seen).done.length > 0;
}

/** The first call that this turn began with. */
export function firstCall(seen: Seen): ReplyCall | null {
  const [first] = readTurn(seen).done;
  return first ? { name: first.name, args: object(first.args) } : null;
}

/** Required arguments of a tool, by name. */
export function requiredOf(seen: Seen, name: string): readonly string[] {
  return array(seen.tools.find((tool) => tool.name === name)?.schema.required).map(text);
}
