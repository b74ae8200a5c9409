/**
 * Tools whose doing cannot be undone by a later no: they pay, delete, send, publish, book and the
 * like, or say of themselves that they destroy. Told from what the tool says of itself, in its name,
 * its title and the verbs of its description, in the languages that are known here; one that speaks
 * another language is taken for one. A tool that is known to only read is none.
 */
import type { Tool } from '../mcp/types.ts';
import { nameWords } from './taint.ts';
import { fold, wordsOf } from './words.ts';

const VERBS = new Set(
  (
    'pay buy purchase checkout charge refund donate tip invest trade sell bid transfer withdraw deposit ' +
    'wire remit send resend forward reply publish tweet retweet broadcast invite notify submit upload ' +
    'delete del rm remove erase unlink trash discard ' +
    'destroy drop wipe purge clear truncate cancel revoke terminate kill uninstall format overwrite ' +
    'reset reserve sign authorize authorise approve grant unlock disable deploy execute merge dispatch ' +
    'dial subscribe unsubscribe disburse redeem stake swap gift ban ' +
    'expunge shred kick evict expel unfollow unfriend exec'
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
/** Beside a reading word in a name: it does more than read. */
const MORE = new Set(
  'and or then out in off create update set save add write edit replace make put insert'.split(' '),
);

/** Stems of the same verbs in other languages that are written in Latin letters, without their accents. */
const STEMS = (
  'pagar pagam envi borra elimin compra transfer cancel reserv public reembols vend exclui delet apaga ' +
  'remov payer paiement envoy supprim efface achet vire annul rembours bezahl zahl senden sende schick ' +
  'losch kauf uberweis stornier buch veroffentlich verkauf kundig bestell pagare invia cancella acquist ' +
  'bonific prenot pubblic trasfer betal betaal verzend stuur verwijder koop kopen overmak annuleer boek ' +
  'zaplac wyslij usun kupuj przelew gonder odeme silme satin bayar kirim hapus'
).split(' ');
const STEM = new RegExp(`^(?:${STEMS.join('|')})`);

/** Words of four letters keep their s when they are folded: `pays`. */
const isIn = (words: ReadonlySet<string>, word: string): boolean =>
  words.has(word) || (/^[a-z]{3}s$/.test(word) && words.has(word.slice(0, -1)));

/** Names that are written in one: `sendmail`, `autopay`, `bulkdelete`. */
const LONG_VERBS = [...VERBS].filter((verb) => verb.length >= 4);
const isBuiltOf = (word: string): boolean =>
  LONG_VERBS.some(
    (verb) => word.length >= verb.length + 3 && (word.startsWith(verb) || word.endsWith(verb)),
  ) || /^(?:auto|pre|re)?pay(?:out|bill)?$/.test(word);

/**
 * Where a description has its verbs: the first word of a sentence, also behind "safely" and the like,
 * what follows "to", "can", "will", "then", "for", "and", "tool" and their kind.
 */
const SPOKEN =
  /(?:^|[.;:!,\n(]\s*|\b(?:to|can|will|then|for|by|of|and|or|also|which|that|it|tool|function|endpoint|api|lets you|allows?|supports)\s+)(?:\p{L}+ly\s+)?(\p{L}+)\b/giu;

/** A verb as a description has it: `sends`, `sending`, `deletes`. */
const bases = (verb: string): string[] => {
  const plain = fold(verb);
  return [plain, plain.replace(/s$/, ''), plain.replace(/ing$/, ''), plain.replace(/ing$/, 'e')];
};

/** Words that hardly any English sentence is without. */
const ENGLISH = /\b(?:the|an?|of|to|for|from|by|in|on|and|or|with|is|all|this|your|its?)\b/i;
const FEW_WORDS = 4;

/** Whether its words can be told here: in Latin letters, and where it is a sentence, in English. */
function isReadable(tool: Pick<Tool, 'name' | 'title' | 'description'>): boolean {
  const text = [tool.name, tool.title, tool.description].join('\n');
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = text.match(/\p{sc=Latin}/gu) ?? [];
  if (latin.length * 2 < letters.length) return false;
  return ENGLISH.test(tool.description) || wordsOf(tool.description).length < FEW_WORDS;
}

const reads = (named: readonly string[]): boolean =>
  named.some((word) => READING.has(word)) && !named.some((word) => MORE.has(word));

/** Whether it says by its name that it only looks something up; a query may be one that writes. */
export function looksUp(tool: Pick<Tool, 'name'>): boolean {
  const named = nameWords(tool.name);
  return reads(named) && !named.includes('query');
}

export function isConsequential(
  tool: Pick<Tool, 'name' | 'title' | 'description' | 'annotations' | 'readOnly'>,
): boolean {
  if (tool.readOnly) return false;
  if (tool.annotations.destructiveHint === true) return true;
  const named = nameWords(`${tool.name} ${tool.title}`);
  const isVerb = (word: string): boolean => isIn(VERBS, word) || STEM.test(word);
  if (named.some((word) => isVerb(word) || isBuiltOf(word))) return true;
  // In a description it is as often what a value may be.
  if (named.includes('empty')) return true;
  if (/check_?(?:out|in)\b/i.test(tool.name)) return true;
  if (reads(nameWords(tool.name))) return false;
  if (!isReadable(tool)) return true;
  const spoken = [...tool.description.matchAll(SPOKEN)].flatMap(([, verb = '']) => bases(verb));
  return (
    named.some((word) => isIn(ALSO_NOUNS, word)) ||
    spoken.some((word) => isVerb(word) || isIn(ALSO_NOUNS, word))
  );
}
