/**
 * Tools whose doing cannot be undone by a later no: they pay, delete, send, publish, book and the
 * like, or say of themselves that they destroy. Told from what the tool says of itself, in its name,
 * its title and the verbs of its description; a tool that is known to only read is none.
 */
import type { Tool } from '../mcp/types.ts';
import { nameWords } from './taint.ts';

const VERBS = new Set(
  (
    'pay buy purchase checkout charge refund donate tip invest trade sell bid transfer withdraw deposit ' +
    'wire remit send forward reply publish tweet broadcast invite submit upload delete remove erase ' +
    'destroy drop wipe purge clear truncate cancel revoke terminate kill uninstall format overwrite ' +
    'reset reserve sign authorize authorise approve grant unlock disable deploy execute merge dispatch ' +
    'dial subscribe unsubscribe'
  ).split(' '),
);
/** Verbs that are as often the things that a tool lists. */
const ALSO_NOUNS = new Set(
  (
    'order email mail sms text message post share close book call run payment invoice transaction ' +
    'deletion removal withdrawal subscription submission'
  ).split(' '),
);
const READING = new Set(
  'get list search find read view fetch show check look count browse query summarize summarise'.split(
    ' ',
  ),
);

/** Words of four letters keep their s when they are folded: `pays`. */
const isIn = (words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || (/^[a-z]{3}s$/.test(word) && words.has(word.slice(0, -1)));

/** The first word of a sentence, and what follows "to", "can", "will" and "then". */
const SPOKEN = /(?:^|[.;:!\n]\s*|\b(?:to|can|will|then)\s+)(\p{L}+?)s?\b/giu;

export function isConsequential(
  tool: Pick<Tool, 'name' | 'title' | 'description' | 'annotations' | 'readOnly'>,
): boolean {
  if (tool.readOnly) return false;
  if (tool.annotations.destructiveHint === true) return true;
  const named = nameWords(`${tool.name} ${tool.title}`);
  if (named.some((word) => isIn(VERBS, word))) return true;
  if (named.some((word) => READING.has(word))) return false;
  const spoken = [...tool.description.matchAll(SPOKEN)].map(([, verb = '']) => verb.toLowerCase());
  return [...named, ...spoken].some((word) => isIn(VERBS, word) || isIn(ALSO_NOUNS, word));
}
