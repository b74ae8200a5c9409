/** Flights, weather and the itinerary: the demo sentence in all its wordings, and parts of it. */
import { flightsFor } from '../../../tests/servers/travel.ts';
import type { Chance } from './chance.ts';
import { capital, fill, json, order, wording, type Draw, type Step, type Task } from './task.ts';
import { CITIES, CLEAR, DAYS, madeUp, PARTS, RAIN } from './words.ts';

const INTROS = [
  "I'm flying from {a} to {b} {day}.", 'I am flying from {a} to {b} {day}.', "I'm going from {a} to {b} {day}.",
  "I'm travelling from {a} to {b} {day}.", 'I want to travel from {a} to {b} {day}.', 'I fly from {a} to {b} {day}.',
  'I need to get from {a} to {b} {day}.', 'I have to go from {a} to {b} {day}.', '{Day} I fly from {a} to {b}.',
  'My trip from {a} to {b} is {day}.', "{Day} I'm going to {b} from {a}.", 'I have a meeting in {b} {day} and live in {a}.',
  'I leave {a} for {b} {day}.', "We're flying to {b} from {a} {day}.", "I'll be flying from {a} to {b} {day}.",
]; // prettier-ignore
const FIND = ['find me {kind} flight', 'find {kind} flight', 'look for {kind} flight', 'get me {kind} flight',
  'search for {kind} flight', 'show me {kind} flight', 'search {kind} flight', 'I need {kind} flight',
  'please find me {kind} flight']; // prettier-ignore
const ROUTES = [' from {a} to {b} {day}', ' {day} from {a} to {b}', ' to {b} from {a} {day}'];
const COATS = ['raincoat', 'umbrella'] as const;
const CHECK = ["check if I'll need {coat}", 'check if I need {coat}', "tell me if I'll need {coat}", 'see if I need {coat}',
  'check whether I need {coat}', "find out if I'll need {coat}", 'tell me whether to take {coat}', 'check if I should take {coat}']; // prettier-ignore
const WEATHER = ['check the weather there', 'check the weather', 'tell me the weather there', 'look at the weather in {b}',
  'check the weather in {b}', 'tell me how the weather will be']; // prettier-ignore
const SAVE = ['save the flight to my itinerary', 'save it to my itinerary', 'add the flight to my itinerary', 'add it to my itinerary',
  'put the flight in my itinerary', 'add it to my trip', 'save the flight to my trip', 'put it on my itinerary']; // prettier-ignore
const REMIND = [
  'remind me to take {coat}',
  'remind me to pack {coat}',
  'set a reminder to take {coat}',
  'set a reminder to pack {coat}',
];

interface Trip {
  readonly a: string;
  readonly b: string;
  readonly said: string;
  readonly day: string;
  readonly part: (typeof PARTS)[number] | null;
  readonly coat: (typeof COATS)[number];
}

function trip({ chance, strange }: Draw): Trip {
  const known = chance.shuffle(CITIES);
  const [a, b] = [0, 1].map((at) =>
    strange && chance.happens(0.06) ? capital(madeUp(chance)) : known[at],
  ) as [string, string];
  const { said, day } = chance.pick(DAYS);
  return {
    a,
    b,
    said,
    day,
    part: chance.happens(0.65) ? chance.pick(PARTS) : null,
    coat: chance.pick(COATS),
  };
}

const article = (word: string): string => (/^[aeu]/.test(word) ? 'an ' : 'a ') + word;

function put(text: string, { a, b, said, part, coat }: Trip): string {
  const kind = part ? article(part) : 'a';
  return fill(text, { a, b, day: said, Day: capital(said), kind, coat: article(coat) });
}

/** A day for the made-up flights, so that they differ. */
const anyDate = (chance: Chance): string =>
  `2026-${String(chance.whole(1, 12)).padStart(2, '0')}-${String(chance.whole(1, 28)).padStart(2, '0')}`;

type Flight = ReturnType<typeof flightsFor>[number];

function search(chance: Chance, { a, b, day, part }: Trip): { step: Step; flights: Flight[] } {
  const request = { origin: a, destination: b, date: anyDate(chance), part: part ?? undefined };
  const flights = chance.happens(0.03) ? [] : flightsFor(request);
  const args = { origin: a, destination: b, date: day, ...(part ? { part } : {}) };
  return { step: { call: { name: 'search_flights', args }, result: json({ flights }) }, flights };
}

function forecast(
  chance: Chance,
  city: string,
  day: string,
  sure?: boolean,
): { step: Step; sky: string; high: number; wet: boolean } {
  const wet = sure ?? chance.happens(0.5);
  const sky = chance.pick(wet ? RAIN : CLEAR);
  const high = chance.whole(20, 36);
  const step = {
    call: { name: 'get_weather', args: { city, date: day } },
    result: json({ city, sky, high_c: high }),
  };
  return { step, sky, high, wet };
}

const saved = ({ a, b, day }: Trip, flight: Flight): Step => ({
  call: {
    name: 'add_to_itinerary',
    args: { item: `Flight ${flight.flight} ${a} to ${b}, ${flight.departs}`, date: day },
  },
  result: json({ ok: true }),
});

/** When a reminder is due that got a day and no time. */
function reminded(chance: Chance, text: string, day: string): Step {
  const at = `${chance.pick('Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' '))} ${chance.whole(1, 28)} ${chance.pick('January March May August November December'.split(' '))} 202${chance.whole(6, 7)}, 09:00`;
  return {
    call: { name: 'set_reminder', args: { text, date: day } },
    result: json({ ok: true, at }),
  };
}

const coatWords = (place: string, sky: string, wet: boolean, coat: string): string =>
  `${capital(sky)} in ${place}, so ${wet ? `take ${article(coat)}` : `you won't need ${article(coat)}`}.`;
const skyWords = (place: string, sky: string, high: number): string =>
  `${capital(sky)} in ${place}, up to ${high} °C.`;
const leaves = ({ flight, airline, departs }: Flight): string =>
  `Flight ${flight} with ${airline} leaves at ${departs}`;

/** Search, and then what is asked of: the sky, the itinerary, a reminder if it rains. */
export function flight(draw: Draw): Task {
  const { chance } = draw;
  const way = trip(draw);
  const look = chance.happens(0.75);
  const coat = look && chance.happens(0.75);
  const save = chance.happens(0.7);
  const remind = !look && chance.happens(0.5);
  const request = wording(draw, () => {
    const route = chance.happens(0.6) ? null : chance.pick(ROUTES);
    const find = chance.pick(FIND) + (route ?? '');
    const wants = [
      find,
      ...(look ? [chance.pick(coat ? CHECK : WEATHER)] : []),
      ...(remind ? [`if it rains there ${chance.pick(REMIND)}`] : []),
      ...(save && !remind ? [chance.pick(SAVE)] : []),
    ];
    const intro = route === null ? `${chance.pick(INTROS)} ` : '';
    const last = wants.pop() as string;
    const style = chance.whole(0, 3);
    if (wants.length === 0) return intro + capital(last) + chance.pick(['.', '', ', please.']);
    if (style === 0)
      return `${intro}${wants.map((want) => `${capital(want)}. `).join('')}${capital(last)}.`;
    if (style === 1) return `${intro}${capital(wants.join(', '))} and ${last}.`;
    if (style === 2) return `${intro}${capital(wants.join(', '))}, and ${last}.`;
    return `${intro}${capital(wants.join(', then '))}, then ${last}.`;
  });
  return flightTask(chance, way, put(request, way), { look, coat, save: save && !remind, remind });
}

interface Wants {
  readonly look: boolean;
  readonly coat: boolean;
  readonly save: boolean;
  readonly remind: boolean;
}

function flightTask(
  chance: Chance,
  way: Trip,
  request: string,
  { look, coat, save, remind }: Wants,
): Task {
  const needed = [
    'search_flights',
    ...(look || remind ? ['get_weather'] : []),
    ...(save ? ['add_to_itinerary'] : []),
    ...(remind ? ['set_reminder'] : []),
  ];
  const { step, flights } = search(chance, way);
  const first = flights[0];
  if (!first)
    return {
      request,
      needed,
      steps: [step],
      reply: `I found no flight from ${way.a} to ${way.b}.`,
    };
  const steps = [step];
  let words = `${leaves(first)}${save ? ' and is in your itinerary' : ''}.`;
  if (look || remind) {
    const { step: sky, ...found } = forecast(chance, way.b, way.day);
    steps.push(sky);
    words += ` ${coat || remind ? coatWords(way.b, found.sky, found.wet, way.coat) : skyWords(way.b, found.sky, found.high)}`;
    if (remind && found.wet) {
      steps.push(
        reminded(chance, `${/pack/.test(request) ? 'pack' : 'take'} ${article(way.coat)}`, way.day),
      );
      words += ' I will remind you.';
    }
  }
  if (save) steps.push(saved(way, first));
  return { request, needed, steps, reply: words };
}

/** A flight without a place to start from: the model asks, and goes on with the answer. */
export function whereFrom(draw: Draw): Task[] {
  const { chance } = draw;
  const way = { ...trip(draw), part: null };
  const remind = chance.happens(0.7);
  const request = wording(draw, () => {
    const find = `${chance.pick(FIND)} to {b} {day}`;
    if (!remind) return capital(find) + chance.pick(['', '.', ', please.']);
    const order = chance.pick([
      'if it rains there {r}',
      'if it will rain {r}',
      '{r} if it rains there',
      '{r} if it rains',
    ]);
    const end = chance.pick(['', '.']);
    return capital(
      `${find}${chance.pick([', and ', ' and '])}${order.replace('{r}', chance.pick(REMIND))}${end}`,
    );
  });
  const ask: Task = {
    request: put(request, way),
    needed: ['search_flights'],
    steps: [],
    reply: `From which city do you want to fly to ${way.b}?`,
  };
  const answer = fill(
    chance.pick(['From {a}.', 'from {a}', '{a}', '{a}.', 'From {a}, please.', 'I start in {a}.']),
    { a: way.a },
  );
  const wants = { look: false, coat: false, save: false, remind };
  return [ask, flightTask(chance, way, answer, wants)].map((task, at) =>
    at === 0 ? task : { ...task, steps: task.steps.map((step) => packed(step, ask.request)) },
  );
}

/** The words of the reminder are those of the first request. */
function packed(step: Step, asked: string): Step {
  if (step.call.name !== 'set_reminder' || !/pack/.test(asked)) return step;
  const text = String(step.call.args.text).replace('take', 'pack');
  return { ...step, call: { ...step.call, args: { ...step.call.args, text } } };
}

const ASK_WEATHER = [
  'what is the weather in {b} {day}?', "what's the weather in {b} {day}?", 'how is the weather in {b} {day}?',
  'what will the weather be in {b} {day}?', 'what is the weather like in {b} {day}?', 'weather in {b} {day}',
  'tell me the weather in {b} {day}.', 'check the weather in {b} {day}.', 'give me the forecast for {b} {day}.',
  'how warm will it be in {b} {day}?', "how's the weather in {b} {day}?", 'what is the forecast for {b} {day}?',
]; // prettier-ignore
const ASK_RAIN = [
  'do I need {coat} in {b} {day}?', 'will I need {coat} in {b} {day}?', 'should I take {coat} to {b} {day}?',
  'check if I need {coat} in {b} {day}.', 'tell me if I need {coat} in {b} {day}.', 'is it going to rain in {b} {day}, do I need {coat}?',
]; // prettier-ignore

/** The weather alone; without a day it is today's. */
export function weather(draw: Draw): Task {
  const { chance } = draw;
  const drawn = trip(draw);
  const today = chance.happens(0.25);
  const way = today ? { ...drawn, said: '', day: 'today' } : drawn;
  const coat = chance.happens(0.35);
  const template = wording(
    draw,
    () =>
      chance.pick(['', '', 'hi, ', 'hello, ', 'please tell me: ', 'hey, ', 'quick question: ']) +
      chance.pick(coat ? ASK_RAIN : ASK_WEATHER),
  );
  const request = capital(put(template, way)).replace(/ +([?.,]|$)/g, '$1');
  const { step, sky, high, wet } = forecast(chance, way.b, way.day);
  const reply = coat ? coatWords(way.b, sky, wet, way.coat) : skyWords(way.b, sky, high);
  return { request, needed: ['get_weather'], steps: [step], reply };
}

/** The weather, and a reminder only if it rains. */
export function reminderIfRain(draw: Draw): Task {
  const { chance } = draw;
  const way = trip(draw);
  const text = chance.pick([
    `take ${article(way.coat)}`,
    `pack ${article(way.coat)}`,
    'close the windows',
    'take my raincoat',
    'call a taxi',
    'bring the towel',
  ]);
  const remind = chance.pick(['remind me to {text}', 'set a reminder to {text}']);
  const request = wording(draw, () => {
    const styles = [
      `if it rains in {b} {day}, ${remind}`, `if it will rain in {b} {day}, ${remind}`, `${remind} if it rains in {b} {day}`,
      `check the weather in {b} {day} and ${remind} if it rains`, `check the weather in {b} {day}, and if it rains ${remind}`,
      `look at the weather in {b} {day} and if it rains, ${remind}`, `see if it rains in {b} {day}, and ${remind} if so`,
    ]; // prettier-ignore
    return order(chance, chance.pick(styles));
  });
  const { step, sky, wet } = forecast(chance, way.b, way.day);
  const steps = [step];
  let reply = `${capital(sky)} in ${way.b}, so there is nothing to remind you of.`;
  if (wet) {
    steps.push(reminded(chance, text, way.day));
    reply = `${capital(sky)} in ${way.b}, so I will remind you: ${text}.`;
  }
  return {
    request: fill(put(request, way), { text }),
    needed: ['get_weather', 'set_reminder'],
    steps,
    reply,
  };
}

const ITEMS = ['Museum', 'Dinner with *', 'Hotel check-in', 'Meeting with *', 'City tour', 'Boat trip', 'Lunch', 'Concert', 'Train to {b}', 'Visit to the zoo']; // prettier-ignore

/** Something of one's own for the itinerary, and what is in it. */
export function itinerary(draw: Draw): Task {
  const { chance } = draw;
  const way = trip(draw);
  const item = fill(chance.pick(ITEMS), { b: way.b }).replace(
    '*',
    chance.pick(['Anna', 'Ravi', 'Priya', 'Tom', 'Maria']),
  );
  if (chance.happens(0.5)) {
    const template = wording(draw, () =>
      order(
        chance,
        chance.pick([
          'add "{item}" {day} to my itinerary',
          'save "{item}" {day} to my trip',
          'put "{item}" {day} in my itinerary',
          'add "{item}" to my itinerary {day}',
          'save "{item}" to my itinerary {day}',
        ]),
      ),
    );
    const step = {
      call: { name: 'add_to_itinerary', args: { item, date: way.day } },
      result: json({ ok: true }),
    };
    return {
      request: fill(template, { item, day: way.said }),
      needed: ['add_to_itinerary'],
      steps: [step],
      reply: `${item} is in your itinerary.`,
    };
  }
  const request = wording(draw, () =>
    chance.pick([
      capital(
        chance.pick(['', 'hi, ', 'hello, ', 'hey, ']) +
          chance.pick([
            'what is in my itinerary?',
            "what's on my itinerary?",
            'what did I save to my trip?',
            'what is saved to my trip?',
          ]),
      ),
      order(
        chance,
        chance.pick([
          'show my itinerary',
          'show me my trip',
          'list my itinerary',
          'read my itinerary',
        ]),
      ),
    ]),
  );
  const items = Array.from({ length: chance.whole(0, 2) }, () => {
    const other = trip(draw);
    const [found] = flightsFor({ origin: other.a, destination: other.b, date: anyDate(chance) });
    const own =
      found && chance.happens(0.6)
        ? `Flight ${found.flight} ${other.a} to ${other.b}, ${found.departs}`
        : chance.pick(ITEMS.slice(2, 3).concat('City tour', 'Lunch', 'Concert'));
    return { item: own, date: anyDate(chance) };
  });
  const step = { call: { name: 'get_itinerary', args: {} }, result: json({ items }) };
  const reply =
    items.length === 0
      ? 'Your itinerary is empty.'
      : `In your itinerary: ${items.map(({ item: name, date }) => `${name} (${date})`).join('; ')}.`;
  return { request, needed: ['get_itinerary'], steps: [step], reply };
}
