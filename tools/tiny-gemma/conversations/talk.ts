/** What needs no tool: talk about itself, names, a story, and what it cannot do. */
import type { Chance } from './chance.ts';
import { capital, fill, wording, type Draw, type Task } from './task.ts';
import { NOISE, PEOPLE, THINGS } from './words.ts';

export const STORY =
  'Once upon a time a small fox lived at the edge of a quiet forest. Every morning the fox walked to the river, ' +
  'drank some water and looked at the sky. One day it saw a bird that could not fly. The fox gave the bird some ' +
  'bread and waited until its wing was strong again. From then on the two were friends, and the forest was a little ' +
  'less quiet than before.';

export const NO_TOOL =
  'I have no tool for that. I am a demo model: I know flights, weather, reminders and this phone.';

const I_AM = 'I am the demo model, a tiny language model that runs on this phone.';
const I_CAN =
  'I can look for flights, check the weather, save to your itinerary, set reminders and tell about this phone.';

/** Questions, and the one answer to each of them. */
const SAYINGS: readonly (readonly [readonly string[], string])[] = [
  [['Hello', 'Hello!', 'Hi', 'Hi!', 'hi', 'hello', 'Hey', 'Hey there!', 'Good morning', 'Good evening', 'Hi there', 'Hello there!'], 'Hello! How can I help you?'],
  [['Who are you?', 'What are you?', 'What is your name?', 'Tell me about yourself.', 'What model are you?', 'Are you a person?', 'Who am I talking to?', 'Are you real?'], I_AM],
  [['What can you do?', 'How can you help me?', 'What do you know?', 'What can I ask you?', 'Help', 'help me', 'What are you good at?'], I_CAN],
  [['Where do you run?', 'Do you run on my phone?', 'Are you in the cloud?', 'Do my words leave the phone?', 'Is this private?'], 'I run on this phone. What you write to me stays here; a tool gets only what you allow.'],
  [['How big are you?', 'How large are you?', 'How many parameters do you have?'], 'I am tiny: less than one million parameters.'],
  [['Who made you?', 'Where do you come from?', 'How were you trained?'], 'I was trained from nothing, on one processor core, to show what this app does.'],
  [['Thanks', 'Thanks!', 'Thank you', 'Thank you!', 'thanks a lot', 'Great, thanks!', 'thank you very much'], 'You are welcome!'],
  [['Bye', 'Goodbye', 'Bye!', 'See you', 'Good night'], 'Goodbye!'],
  [['Count to ten.', 'Count to 10.', 'Please count to ten', 'Count from one to ten.', 'count to ten'], '1, 2, 3, 4, 5, 6, 7, 8, 9, 10.'],
  [['Tell me a story.', 'Tell me a short story.', 'Tell me a story', 'tell me a story', 'Write a story.', 'Can you tell me a story?', 'Write a short story about a fox.', 'Please tell me a story.'], STORY],
]; // prettier-ignore

const told = (request: string, reply: string): Task => ({ request, needed: [], steps: [], reply });

export function saying({ chance }: Draw): Task {
  const [questions, answer] = chance.pick(SAYINGS);
  return told(chance.pick(questions), answer);
}

const INTRODUCE = [
  'My name is {n}.',
  'I am {n}.',
  'Hi, I am {n}.',
  'Hello, my name is {n}!',
  "I'm {n}",
  'my name is {n}',
  'Call me {n}.',
];
const WHO_AM_I = ['What is my name?', "What's my name?", 'Do you remember my name?', 'Who am I?'];

/** A name, and whether it is remembered. */
export function name({ chance }: Draw): Task[] {
  const n = chance.pick(PEOPLE);
  return [
    told(fill(chance.pick(INTRODUCE), { n }), `Nice to meet you, ${n}!`),
    told(chance.pick(WHO_AM_I), `Your name is ${n}.`),
  ];
}

const noise = (chance: Chance, least: number, most: number): string =>
  Array.from({ length: chance.whole(least, most) }, () => chance.pick(NOISE)).join(' ');

const WISHES = [
  'order a {thing}', 'play some music', 'play the song about the {thing}', 'send a message to {n}', 'write to {n} that I am late',
  'book a hotel', 'book a table for two', 'call {n}', 'turn on the light', 'turn off the {thing}', 'translate this into French',
  'write a poem about {thing}', 'write some code', 'what is the capital of France?', 'what is 12 times 7?', 'who won the game?',
  'draw a {thing}', 'open the camera', 'take a photo', 'what is the price of a {thing}?', 'how do I fix my {thing}?', 'explain the moon',
  'search the web for {thing}', 'delete my photos', 'buy a {thing} online', 'what is the meaning of life?', 'tell me a joke', 'sing a song',
  'read my email', 'order a pizza', 'find a restaurant', 'how far is the moon?', 'what does {thing} mean?', 'solve this equation',
]; // prettier-ignore

/** What there is no tool for. */
export function impossible(draw: Draw): Task {
  const { chance } = draw;
  const template = wording(draw, () => {
    const opener = chance.pick(['', '', 'please ', 'can you ', 'could you ', 'hi, ', 'hey, ']);
    const core = chance.happens(0.6) ? chance.pick(WISHES) : noise(chance, 2, 9);
    return capital(opener + core + chance.pick(['', '', '.', '?']));
  });
  return told(fill(template, { thing: chance.pick(THINGS), n: chance.pick(PEOPLE) }), NO_TOOL);
}

const ERRORS = [
  'the user said no; do not try it again', 'the user said no; do not try it again', 'the user said no (too early); do not try it again',
  'the user said no (not now); do not try it again', 'the user said no (wrong {w}); do not try it again', 'not allowed. You do not allow {w} of {w}.',
  'The date must be a day as YYYY-MM-DD.', 'A name is missing.', 'outcome unknown, it may have taken effect; do not repeat it',
  'There is no network, so {s} can\'t be reached. Try again when the phone is online. Everything on the phone goes on working.',
  '{s} did not answer within {d} seconds. Try again in a while. If it goes on, ask whoever runs the server.',
  '{h} did not answer. Check the address, and that the server is running.',
  '{s} gave an answer that makes no sense. The server has a fault. Tell whoever runs it.',
  '{s} has a fault of its own. Try again in a while.', '{s} gets too many requests. Try again in {d} seconds.',
  '{s} did not accept the key. Enter it again.', '{s} does not allow this. Ask whoever runs it.', 'the tool failed without a word',
  'The tool {w} of {s} has changed or is gone.', 'That time has passed: Friday {d} December 2026, 09:00. Give a later day or time.',
  'There are too many reminders.', 'The time must be given as HH:MM.',
]; // prettier-ignore

/** Errors of any server. */
const STRANGE_ERRORS = [
  'the {w} is {w}', 'no {w} for this {w}', '{w} {w} {w}', 'unknown {w}: {w} {w}',
  '{W} {w} {w} {w}.', 'the {w} did not {w} the {w}; {w} it', 'Could not {w} {w}. {W} {w}.',
]; // prettier-ignore

/** An error, as the app tells it to a model. */
export function errorText({ chance, strange }: Draw): string {
  return JSON.stringify({
    error: chance
      .pick(strange ? [...ERRORS, ...STRANGE_ERRORS] : ERRORS)
      .replace(/\{w\}/g, () => chance.pick(NOISE))
      .replace(/\{W\}/g, () => capital(chance.pick(NOISE)))
      .replace(/\{s\}/g, () =>
        chance.pick([
          'Travel demo',
          'Travel',
          'This phone',
          'Travel demo',
          `${capital(chance.pick(NOISE))} server`,
        ]),
      )
      .replace(/\{h\}/g, () =>
        chance.pick([
          `127.0.0.1:${chance.whole(1024, 65535)}`,
          `localhost:${chance.whole(1024, 65535)}`,
          `${chance.pick(NOISE)}.example.org`,
        ]),
      )
      .replace(/\{d\}/g, () => String(chance.whole(2, 60))),
  });
}

/** What is made of it: the app's grammar sets the first words, and shows the first sentence alone. */
export function errorReply(text: string): string {
  const { error } = JSON.parse(text) as { error: string };
  return `That did not work: ${(error.split(/[.;](?:\s|$)/)[0] ?? error).slice(0, 120)}.`;
}
