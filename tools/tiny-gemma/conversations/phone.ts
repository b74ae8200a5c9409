/** The phone's own tools: reminders, the clock, battery, network and storage. */
import { capital, fill, json, order, wording, type Draw, type Task } from './task.ts';
import { DAYS, madeUp, NOISE, PEOPLE, TASKS, THINGS, TIMES } from './words.ts';

const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

const two = (number: number): string => String(number).padStart(2, '0');

/** Something to be reminded of. */
function thing({ chance, strange }: Draw): string {
  if (strange && chance.happens(0.12))
    return Array.from({ length: chance.whole(2, 4) }, () =>
      chance.happens(0.3) ? madeUp(chance) : chance.pick(NOISE),
    ).join(' ');
  return chance
    .pick(TASKS)
    .replace(/\*/g, () => chance.pick(PEOPLE))
    .replace(/#/g, () => chance.pick(THINGS));
}

const WHEN = {
  both: ['remind me to {text} {day} {time}', 'remind me {day} {time} to {text}', 'remind me {time} {day} to {text}',
    'set a reminder {day} {time} to {text}', 'set a reminder to {text} {day} {time}', '{day} {time}, remind me to {text}',
    'remind me to {text} {time} {day}'],
  day: ['remind me to {text} {day}', 'remind me {day} to {text}', 'set a reminder {day} to {text}', 'set a reminder to {text} {day}',
    '{day}, remind me to {text}'],
  time: ['remind me to {text} {time}', 'remind me {time} to {text}', 'set a reminder {time} to {text}', 'set a reminder to {text} {time}'],
  none: ['remind me to {text}', 'set a reminder to {text}', "don't let me forget to {text}"],
} as const; // prettier-ignore

/** A reminder with the words of its day and time. */
export function reminder(draw: Draw): Task {
  const { chance } = draw;
  const kind = chance.pick(['both', 'both', 'both', 'day', 'time', 'none'] as const);
  const template = wording(draw, () => order(chance, chance.pick(WHEN[kind])));
  const text = thing(draw);
  const { said, day } = chance.pick(DAYS);
  const { said: clock, time } = chance.pick(TIMES);
  const args = {
    text,
    ...(kind === 'both' || kind === 'day' ? { date: day } : {}),
    ...(kind === 'both' || kind === 'time' ? { time } : {}),
  };
  const at = `${chance.pick(WEEKDAYS)} ${chance.whole(1, 30)} ${chance.pick(MONTHS)} 202${chance.whole(6, 7)}, ${two(chance.whole(0, 23))}:${two(chance.whole(0, 59))}`;
  return {
    request: fill(template, { text, day: said, time: clock }).replace(/^./, (first) =>
      first.toUpperCase(),
    ),
    needed: ['set_reminder'],
    steps: [
      {
        call: { name: 'set_reminder', args },
        result: json(kind === 'both' ? { ok: true } : { ok: true, at }),
      },
    ],
    reply:
      kind === 'both'
        ? `I will remind you ${said} ${clock}: ${text}.`
        : `I will remind you on ${at}: ${text}.`,
  };
}

/** Greetings and the like before a question. */
const HELLO = [
  '',
  '',
  'hi, ',
  'hello, ',
  'hey, ',
  'please tell me: ',
  'quick question: ',
  'tell me, ',
];
const TIME = [
  'what time is it?',
  'what time is it now?',
  "what's the time?",
  'what is the time?',
  'do you have the time?',
  'how late is it?',
];
const DAY = [
  'what day is it?',
  'what day is it today?',
  "what's the date?",
  'what is the date today?',
  'which day is today?',
  "what is today's date?",
];

/** Time or day. */
export function clock(draw: Draw): Task {
  const { chance } = draw;
  const time = chance.happens(0.5);
  const request = capital(wording(draw, () => chance.pick(HELLO) + chance.pick(time ? TIME : DAY)));
  const now = {
    weekday: chance.pick(WEEKDAYS),
    date: `202${chance.whole(6, 7)}-${two(chance.whole(1, 12))}-${two(chance.whole(1, 28))}`,
    time: `${two(chance.whole(0, 23))}:${two(chance.whole(0, 59))}`,
    zone: chance.pick(ZONES),
  };
  return {
    request,
    needed: ['now'],
    steps: [{ call: { name: 'now', args: {} }, result: json(now) }],
    reply: time ? `It is ${now.time}.` : `Today is ${now.weekday}, ${now.date}.`,
  };
}

export const ZONES = ['Asia/Kolkata', 'Asia/Kolkata', 'Asia/Calcutta', 'Europe/Berlin', 'Europe/London', 'America/New_York', 'America/Los_Angeles', 'UTC', 'Asia/Tokyo', 'Australia/Sydney', 'Asia/Dubai']; // prettier-ignore

const BATTERY = ['how full is the battery?', "what's my battery?", 'how much battery is left?', 'how much battery do I have?',
  'what is the battery level?', 'is the phone charging?', 'how much battery does this phone have left?']; // prettier-ignore
const NETWORK = [
  'am I online?',
  'is the phone online?',
  'do I have a network?',
  'is there a network?',
  'am I connected to the internet?',
  'what network am I on?',
];
const STORAGE = [
  'how much storage is free?',
  'how much storage is left on this phone?',
  'is there free storage?',
  'how much free storage does the phone have?',
];
const ALL = ['how much room and battery does this phone have left?', 'how is my phone doing?', 'what is the status of this phone?',
  'check my phone, battery and network', 'how much battery and storage do I have?', 'tell me the status of the phone.']; // prettier-ignore

/** Battery, network and storage: what was asked of, or all of it. */
export function device(draw: Draw): Task {
  const { chance } = draw;
  const kind = chance.pick(['battery', 'network', 'storage', 'all'] as const);
  const list = { battery: BATTERY, network: NETWORK, storage: STORAGE, all: ALL }[kind];
  const request = capital(wording(draw, () => chance.pick(HELLO) + chance.pick(list)));
  const battery = chance.happens(0.85)
    ? { battery_percent: chance.whole(1, 100), charging: chance.happens(0.5) }
    : null;
  const online = chance.happens(0.8);
  const network = chance.happens(0.7)
    ? chance.pick(['wifi', 'cellular', '4g', '3g', 'ethernet'])
    : null;
  const free = chance.happens(0.9) ? chance.whole(1, 900) / 10 : null;
  const result = {
    ...battery,
    online,
    ...(network ? { network } : {}),
    ...(free === null ? {} : { free_gb: free }),
  };
  const words = {
    battery: battery
      ? `The battery is at ${battery.battery_percent}%${battery.charging ? ' and charging' : ''}.`
      : 'This phone does not tell its battery.',
    network: online ? `You are online${network ? ` (${network})` : ''}.` : 'You are offline.',
    storage: free === null ? 'This phone does not tell its free storage.' : `${free} GB are free.`,
  };
  return {
    request,
    needed: ['device_status'],
    steps: [{ call: { name: 'device_status', args: {} }, result: json(result) }],
    reply: kind === 'all' ? `${words.battery} ${words.network} ${words.storage}` : words[kind],
  };
}
