/** What a task of the demo model is, and how its words are put together. */
import type { ModelCall } from '../../../src/brain/brain.ts';
import type { Chance } from './chance.ts';

/** A call that the model makes, and what comes of it. */
export interface Step {
  readonly call: Pick<ModelCall, 'name'> & { readonly args: Readonly<Record<string, unknown>> };
  /** What the model is shown: JSON, as the app renders it. */
  readonly result: string;
  readonly failed?: boolean;
}

/** A request and what the model makes of it. */
export interface Task {
  readonly request: string;
  /** Tools without which it cannot be done. */
  readonly needed: readonly string[];
  readonly steps: readonly Step[];
  readonly reply: string;
}

export interface Draw {
  readonly chance: Chance;
  /** Which wordings may be drawn: those that are kept for the test, or the others. */
  readonly heldOut: boolean;
  /** Names and words that nobody knows are mixed in, so that copying is learnt. */
  readonly strange: boolean;
}

/** One in so many wordings is kept for the test. */
const HELD_OUT = 10;

/** Said on the app's own first screen: never kept for the test. */
const OWN = new Set(['how much room and battery does this phone have left?']);

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/** Draws wordings until one is on the wanted side of the line between training and test. */
export function wording({ chance, heldOut }: Draw, make: (chance: Chance) => string): string {
  let text = make(chance);
  for (let tries = 0; tries < 200; tries += 1) {
    if ((hash(text) % HELD_OUT === 0 && !OWN.has(text)) === heldOut) break;
    text = make(chance);
  }
  return text;
}

/** Puts values where a wording has `{name}`; a name without a value stays. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const OPENERS = ['', '', '', 'please ', 'can you ', 'could you ', 'hi, ', 'hello, please ', 'now ', 'hey, can you ', 'I want you to ']; // prettier-ignore
const CLOSERS = ['', '', '.', '.', ', please.', ' for me.', ', thanks.', ' please'];

/** An order with a polite word before or behind it: `set`, `check`, `find` … */
export function order(chance: Chance, core: string): string {
  const opener = chance.pick(OPENERS);
  const closer =
    /^(can|could|hey)/.test(opener) && chance.happens(0.6) ? '?' : chance.pick(CLOSERS);
  return capital(opener + core + closer);
}

export const json = (value: unknown): string => JSON.stringify(value);
