/**
 * Whose words a call carries. Text that came from a tool, a resource, a shared page or a file is
 * untrusted; a value that is found there and not in the person's own words is tainted. Pure.
 *
 * Promise: a word, number or address of an argument that stands in untrusted text, and not in what the
 * person said, is found, in any case, spacing, look-alike letters or common encoding, also cut into
 * several values; only a whole value that the schema of that very argument names is the tool's own.
 * Short words, common words, small numbers, days and times say nothing and do not count; a host, an
 * address of mail and digits that belong together are one value each, however short their words are.
 */
import { plainText } from '../mcp/plain.ts';
import type { Tool } from '../mcp/types.ts';
import type { ArgumentOrigin } from '../store/records.ts';
import { numbersIn } from './numbers.ts';
import { ownValues, settledValues } from './own.ts';
import { readings, turned } from './readings.ts';
import type { UntrustedText } from './types.ts';
import {
  addressesOf,
  digitsOf,
  domainsOf,
  fold,
  isCommon,
  isTrivial,
  squeezed,
  wordsOf,
  type Word,
} from './words.ts';

/**
 * Days and times of day: how they are written says nothing about who wrote them. Only what can be one:
 * other digits in the same form are a number.
 */
const DAY_OR_TIME =
  /(?<![\d-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-][01]\d:?[0-5]\d)?)?(?![\d-])|(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:])/g;

/** What the conversation holds, as it is compared. */
export interface Known {
  readonly said: ReadonlySet<string>;
  readonly saidSqueezed: string;
  readonly saidText: string;
  readonly saidAddresses: ReadonlySet<string>;
  /** Addresses as the person said them, without the domains around them. */
  readonly saidHosts: ReadonlySet<string>;
  readonly saidPhrases: string;
  readonly saidTimes: ReadonlySet<string>;
  /** What others wrote into the conversation, the newest first. */
  readonly sources: readonly Source[];
  /** What others say of their tools: it stands there whatever was talked about. */
  readonly described: readonly Source[];
}

interface Source {
  readonly name: string;
  readonly words: ReadonlySet<string>;
  readonly squeezed: string;
  readonly addresses: ReadonlySet<string>;
  /** Its words in order, between spaces. */
  readonly phrases: string;
  /** Days and times as they are written. */
  readonly times: ReadonlySet<string>;
}

const keysOf = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => [...wordsOf(text).map(({ key }) => key), ...numbersIn(text)]));

const phraseOf = (text: string): string =>
  ` ${wordsOf(text)
    .map(({ key }) => key)
    .join(' ')} `;

const timesOf = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => text.match(DAY_OR_TIME) ?? []));

const addressKeys = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => addressesOf(text).map(({ key }) => key));

/** Texts that stay the same object are read once. */
const read = new WeakMap<UntrustedText, Source>();

function sourceOf(text: UntrustedText): Source {
  const known = read.get(text);
  if (known) return known;
  const plain = plainText(text.text);
  const all = readings(plain);
  const source: Source = {
    name: text.source,
    words: keysOf([...all, ...turned(plain)]),
    squeezed: [...all, ...turned(plain)].map(squeezed).join('\n'),
    addresses: new Set(addressKeys(all)),
    phrases: all.map(phraseOf).join('\n'),
    times: timesOf(all),
  };
  read.set(text, source);
  return source;
}

/** Reads a conversation once, for any number of questions about it. The newest source comes first. */
export function readKnown(
  said: readonly string[],
  untrusted: readonly UntrustedText[],
  definitions: readonly UntrustedText[] = [],
): Known {
  const plain = said.map(plainText);
  const hosts = addressKeys(plain);
  return {
    said: keysOf(plain),
    saidSqueezed: said.map(squeezed).join('\n'),
    saidText: plain.join('\n'),
    saidAddresses: new Set(hosts.flatMap(domainsOf)),
    saidHosts: new Set(hosts),
    saidPhrases: plain.map(phraseOf).join('\n'),
    saidTimes: timesOf(said),
    sources: untrusted.toReversed().map(sourceOf),
    described: definitions.map(sourceOf),
  };
}

interface Leaf {
  readonly path: string;
  /** The names that lead to it. */
  readonly names: readonly string[];
  readonly text: string;
  /** It is the last of the names, not the value under it. */
  readonly isName: boolean;
  /** It is no text: yes, no, nothing. */
  readonly isChoice?: boolean;
}

/** Every text and number of the arguments, and the names inside of them. */
function leavesOf(value: unknown, names: readonly string[] = []): Leaf[] {
  const leaf = (text: string): Leaf => ({ path: names.join('/'), names, text, isName: false });
  if (typeof value === 'string') return value === '' ? [] : [leaf(value)];
  if (typeof value === 'number') return [leaf(String(value))];
  if (typeof value !== 'object' || value === null) return [];
  // What nests deeper is read as one text.
  if (names.length > 64) return [leaf(JSON.stringify(value))];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...names, name];
    const named = { path: `${place.join('/')}/`, names: place, text: name, isName: true };
    return [...(Array.isArray(value) ? [] : [named]), ...leavesOf(inner, place)];
  });
}

/** What may stand between two words of one span. */
const GAP = /^[^\p{L}\p{N}\n]{0,3}$/u;
/** A value shorter than this is found in any long text by chance. */
const LEAST_SQUEEZED = 6;

/**
 * Where the words of a call's arguments came from. `strict` leaves nothing out for being short where
 * it is a whole value; for calls that only read it is off.
 */
export function originsOf(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'inputSchema'>,
  known: Known,
  strict: boolean,
): ArgumentOrigin[] {
  const isOwn = ownValues(tool.inputSchema);
  const sources = [...known.sources, ...known.described];
  const found = leavesOf(args).flatMap((leaf) => {
    const words = relevant(leaf.text, strict && !leaf.isName);
    const said = words
      .filter(({ key }) => known.said.has(key))
      .map((word) => ({ word, source: null }));
    const spans = isOwn(leaf.names, leaf.text, leaf.isName)
      ? []
      : foreignIn(leaf, words, known, sources, strict);
    return [...spans, ...joined(leaf, said)].sort((a, b) => a.start - b.start);
  });
  if (found.some(({ from }) => from === 'untrusted')) return found;
  return [...cutUp(args, [], known, sources), ...found];
}

/** A word of others that the values beside each other make only together. */
function cutUp(
  value: unknown,
  names: readonly string[],
  known: Known,
  sources: readonly Source[],
): ArgumentOrigin[] {
  if (typeof value !== 'object' || value === null || names.length > 64) return [];
  const inner = Object.entries(value).flatMap(([name, it]) =>
    cutUp(it, [...names, name], known, sources),
  );
  const pieces = Object.entries(value).flatMap(([name, it]) =>
    typeof it === 'string' && it !== '' && it.length < 40 ? [{ name, text: it }] : [],
  );
  const key = fold(pieces.map(({ text }) => text).join(''));
  if (pieces.length < 2 || key.length < LEAST_SQUEEZED || known.said.has(key)) return inner;
  const source = sources.find((it) => it.words.has(key) || it.addresses.has(key));
  if (!source) return inner;
  const spans = pieces.map(({ name, text }): ArgumentOrigin => {
    const path = [...names, name].join('/');
    return { path, start: 0, end: text.length, text, from: 'untrusted', source: source.name };
  });
  return [...spans, ...inner];
}

/** What a value holds of others' words: as they are, as one value, or in disguise. */
function foreignIn(
  leaf: Leaf,
  words: readonly Word[],
  known: Known,
  sources: readonly Source[],
  strict: boolean,
): ArgumentOrigin[] {
  const tainted = words.flatMap((word) => {
    if (known.said.has(word.key)) return [];
    const source = sources.find((it) => it.words.has(word.key));
    return source ? [{ word, source: source.name }] : [];
  });
  const spans = joined(leaf, tainted);
  if (spans.length === 0) spans.push(...joined(leaf, whole(leaf.text, known, sources)));
  if (spans.length === 0) spans.push(...disguised(leaf, known, sources));
  return spans.length === 0 && strict && !leaf.isName ? inShort(leaf, known, sources) : spans;
}

/** Short words that are a value only together: `Bo Li`, `X7-9Q`. */
function inShort({ path, text }: Leaf, known: Known, sources: readonly Source[]): ArgumentOrigin[] {
  const words = wordsOf(text.replace(DAY_OR_TIME, ' '));
  if (words.length < 2 || words.length > 4 || words.every(({ key }) => key.length < 2)) return [];
  if (isAllTrivial(text)) return [];
  const phrase = phraseOf(text);
  const source = sources.find((it) => it.phrases.includes(phrase));
  if (!source || known.saidPhrases.includes(phrase)) return [];
  if (words.every(({ key }) => isCommon(key) || known.said.has(key))) return [];
  return [{ path, start: 0, end: text.length, text, from: 'untrusted', source: source.name }];
}

/** Words that say where they came from. */
function relevant(text: string, strict: boolean): Word[] {
  const times = [...text.matchAll(DAY_OR_TIME)].map(({ 0: time, index }) => ({
    start: index,
    end: index + time.length,
  }));
  const words = wordsOf(text).filter(
    (word) => !times.some(({ start, end }) => word.start >= start && word.end <= end),
  );
  const whole = words.length === 1 ? words[0] : undefined;
  if (strict && whole && /\p{L}/u.test(whole.key) && whole.key.length > 1 && !isCommon(whole.key))
    return [whole];
  return words.filter(({ key }) => !isTrivial(key));
}

type Found = { readonly word: Word; readonly source: string | null };

/** Addresses and long numbers that stand in untrusted text and that the person did not say. */
function whole(text: string, known: Known, sources: readonly Source[]): Found[] {
  const foreign = (word: Word, inSource: (source: Source) => boolean): Found[] => {
    const source = sources.find(inSource);
    return source ? [{ word, source: source.name }] : [];
  };
  const addresses = addressesOf(text).flatMap((word) => {
    const unsaid = domainsOf(word.key).filter((it) => !known.saidAddresses.has(it));
    return foreign(word, (it) => unsaid.some((key) => it.addresses.has(key)));
  });
  const timeless = text.replace(DAY_OR_TIME, (time) => '#'.repeat(time.length));
  const numbers = digitsOf(timeless).flatMap((word) =>
    known.saidSqueezed.includes(word.key)
      ? []
      : foreign(word, (it) => it.squeezed.includes(word.key)),
  );
  return [...addresses, ...numbers].sort((a, b) => a.word.start - b.word.start);
}

/** Words beside each other, of one source, as one span. */
function joined({ path, text }: Leaf, found: readonly Found[]): ArgumentOrigin[] {
  const spans: { start: number; end: number; source: string | null }[] = [];
  for (const { word, source } of found) {
    const last = spans.at(-1);
    if (
      last &&
      last.source === source &&
      GAP.test(text.slice(last.end, Math.max(last.end, word.start)))
    )
      last.end = Math.max(last.end, word.end);
    else spans.push({ start: word.start, end: word.end, source });
  }
  return spans.map(({ start, end, source }) => ({
    path,
    start,
    end,
    text: text.slice(start, end),
    from: source === null ? 'person' : 'untrusted',
    ...(source === null ? {} : { source }),
  }));
}

/** A value that is found only once its spaces, its punctuation or its encoding are undone. */
function disguised(
  { path, text }: Leaf,
  known: Known,
  sources: readonly Source[],
): ArgumentOrigin[] {
  const all = (source: string): ArgumentOrigin[] => [
    { path, start: 0, end: text.length, text, from: 'untrusted', source },
  ];
  const plain = plainText(text);
  const read = plain === text ? readings(text) : [text, ...readings(plain)];
  for (const [index, reading] of read.entries()) {
    const value = squeezed(reading.replace(DAY_OR_TIME, ' '));
    const looked = value.length >= LEAST_SQUEEZED;
    if (looked && !known.saidSqueezed.includes(value)) {
      const source = sources.find((it) => it.squeezed.includes(value));
      if (source && !isAllTrivial(reading)) return all(source.name);
    }
    if (index === 0) continue;
    const [foreign] = whole(reading, known, sources);
    if (foreign?.source) return all(foreign.source);
    for (const { key } of wordsOf(reading)) {
      if (isTrivial(key) || known.said.has(key)) continue;
      const source = sources.find((it) => it.words.has(key));
      if (source) return all(source.name);
    }
  }
  return [];
}

/** Ordinary short words that happen to stand beside each other in a long text. */
function isAllTrivial(text: string): boolean {
  const times = text.replace(DAY_OR_TIME, '');
  return wordsOf(times).every(
    ({ key }) => isCommon(key) || (/^\p{N}+$/u.test(key) && key.length < 5),
  );
}

/**
 * Whether every value of the arguments is the person's own, or the tool's. Of several values that a
 * tool allows, one that the person did not say may be the choice of others; so may a day that they
 * spoke of, and a yes or a no whose name the person did not say.
 */
export function isGrounded(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'inputSchema'>,
  known: Known,
): boolean {
  const isOwn = ownValues(tool.inputSchema);
  const isTheirs = (text: string): boolean =>
    tellingWords(text).some(
      (key) => !known.said.has(key) && known.sources.some((it) => it.words.has(key)),
    );
  const isSaid = (given: string): boolean => {
    const text = given.replace(PARTED, (number) => ungrouped(number, known) ?? number);
    const words = wordsOf(text);
    if (words.length === 0) return text.trim() !== '' && areSignsSaid(text, known);
    const signs = text.match(REACHING) ?? [];
    return (
      tellingWords(text).every((key) => known.said.has(key)) &&
      (text.match(PARTED) ?? []).every((number) => isNumberSaid(number, known)) &&
      signs.every((sign) => known.saidText.match(REACHING)?.includes(sign))
    );
  };
  const isSettled = settledValues(tool.inputSchema);
  const said = { times: known.saidTimes, phrases: known.saidPhrases };
  const declares = tool.inputSchema.properties !== undefined;
  return [...leavesOf(args), ...choicesOf(args)].every(({ names, text, isName, isChoice }) => {
    if (isOwn(names, text, isName))
      return isName || (isSettled(names, text) ? !isTheirs(text) : isSaid(text));
    // Where a tool declares nothing, the names that it is called with are its own.
    if (isName) return (names.length === 1 && !declares) || isSaid(text);
    if (isChoice) return nameWords(names.at(-1) ?? '').some((key) => known.said.has(key));
    if (/^-?\d+(?:\.\d+)?$/.test(text) && /[-.]/.test(text)) return isNumberSaid(text, known);
    const plain = plainText(text);
    const times = plain.match(DAY_OR_TIME) ?? [];
    if (times.some((it) => !isTimeIn(it, said) && known.sources.some((s) => isTimeIn(it, s))))
      return false;
    const rest = plain.replace(DAY_OR_TIME, ' ');
    return (times.length > 0 && wordsOf(rest).length === 0) || isSaid(rest);
  });
}

/** Whether the arguments hold no value that anybody chose, but for days: that somebody wished for the call does not show. */
export function carriesNothing(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'inputSchema'>,
): boolean {
  const isSettled = settledValues(tool.inputSchema);
  return [...leavesOf(args), ...choicesOf(args)].every(
    ({ names, text, isName }) =>
      isName ||
      isSettled(names, text) ||
      wordsOf(plainText(text).replace(DAY_OR_TIME, ' ')).length === 0,
  );
}

/** The words of a value that tell whose it is; where all are common ones (`all`), they are its meaning. */
function tellingWords(text: string): string[] {
  const keys = wordsOf(text).map(({ key }) => key);
  const telling = keys.filter((key) => !isCommon(key));
  return telling.length > 0 ? telling : keys;
}

/** Signs that make a value reach for more than its words say: the place above, whatever there is, home. */
const REACHING = /(?<!\.)\.\.(?!\.)|[*~%|;\\]/g;

/** Signs alone (`/`, `.`, `*`) are said where they stand by themselves, not where a sentence ends. */
function areSignsSaid(text: string, { saidText }: Known): boolean {
  const alone = new Set(saidText.split(/[\s"'`“”‘’()]+/u));
  return text
    .trim()
    .split(/\s+/)
    .every((sign) => alone.has(sign));
}

const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );

/** Whether a text speaks of a day or a time of day, as it is written for a tool or in words. */
function isTimeIn(time: string, { times, phrases }: Pick<Source, 'times' | 'phrases'>): boolean {
  return times.has(time) || writingsOf(time).some((it) => phrases.includes(` ${it} `));
}

/** How a day or a time of day may be written besides, as words between single spaces. */
function writingsOf(time: string): string[] {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)/.exec(time) ?? [];
  const [, hour = '', minute = ''] = /(?:^|T)(\d\d?):(\d\d)/.exec(time) ?? [];
  return [...(year ? writtenDays(year, month, day) : hour ? writtenTimes(hour, minute) : [])];
}

const bothWays = (digits: string): string[] => [...new Set([digits, String(Number(digits))])];

function writtenDays(year: string, month: string, day: string): string[] {
  const name = MONTHS[Number(month) - 1] ?? '';
  const names = [name, name.slice(0, 3), ...(name === 'september' ? ['sept'] : [])];
  const days = bothWays(day).flatMap((it) => [it, `${it}st`, `${it}nd`, `${it}rd`, `${it}th`]);
  const inWords = days.flatMap((it) =>
    names.flatMap((as) => [`${it} ${as}`, `${it} of ${as}`, `${as} ${it}`, `${as} the ${it}`]),
  );
  const inDigits = bothWays(day).flatMap((d) =>
    bothWays(month).flatMap((m) =>
      [year, year.slice(2)].flatMap((y) => [`${d} ${m} ${y}`, `${m} ${d} ${y}`, `${y} ${m} ${d}`]),
    ),
  );
  return [...inWords, ...inDigits];
}

function writtenTimes(hour: string, minute: string): string[] {
  const half = Number(hour) < 12 ? ['am', 'a m'] : ['pm', 'p m'];
  const twelve = String(Number(hour) % 12 || 12);
  const clock = minute === '00' ? [twelve, `${twelve} 00`] : [`${twelve} ${minute}`];
  return clock.flatMap((it) => [`${it} ${half[0]}`, `${it} ${half[1]}`, `${it}${half[0]}`]);
}

/** Numbers with a fraction or groups: each of their pieces may have been said for another thing. */
const PARTED = /\d+(?:[.,]\d+)+/g;
const IN_GROUPS = /^\d{1,3}(?:[.,]\d{3})+$/;

/** A number in groups as the person said it, without them. */
function ungrouped(number: string, { said }: Known): string | undefined {
  const digits = number.replace(/[.,]/g, '');
  return IN_GROUPS.test(number) && said.has(digits) ? digits : undefined;
}

/** A number with a sign, a fraction or groups, which words alone do not tell: whole, no piece of another. */
function isNumberSaid(text: string, { saidText }: Known): boolean {
  const ways = [text, text.replace('.', ','), text.replace('-', '−'), text.replace('-', 'minus ')];
  return ways.some((it) => {
    const whole = it.replace(/[.\\^$*+?()[\]{}|]/g, '\\$&');
    return new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[.,])${whole}(?!\\p{N}|[.,]\\p{N})`, 'u').test(
      saidText,
    );
  });
}

const isNothing = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** Values that are no text: yes, no, nothing, none of a list. Each is a choice that its name tells of. */
function choicesOf(value: unknown, names: readonly string[] = []): Leaf[] {
  if (typeof value === 'boolean' || (isNothing(value) && names.length > 0))
    return [{ path: names.join('/'), names, text: String(value), isName: false, isChoice: true }];
  if (typeof value !== 'object' || value === null || names.length > 64) return [];
  return Object.entries(value).flatMap(([name, inner]) => choicesOf(inner, [...names, name]));
}

/** Letters and digits in one run that no word is as long as. */
const OPAQUE = /(?=[A-Za-z0-9+=]*\d)(?=[A-Za-z0-9+=]*[A-Za-z])[A-Za-z0-9+=]{24,}/;
const PLACE_NAME = /ur[il]|link|href|host|domain|site|address|server|endpoint|mail/i;
const SCHEMED = /[a-z][a-z0-9+.-]*:[\\/]{2}|@|(?:\d+\.){3}|:[0-9a-f]*:/i;

/**
 * Whether the arguments hold an address, or a code that nobody can read, which neither the person nor
 * the tool named. A model can put one together from pieces that stand in no text.
 */
export function isMadeUp(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'inputSchema'>,
  known: Known,
): boolean {
  const isOwn = ownValues(tool.inputSchema);
  return leavesOf(args).some(({ names, text, isName }) => {
    if (isName || isOwn(names, text, false)) return false;
    const squeezedText = squeezed(text);
    if (OPAQUE.test(text) && !known.saidSqueezed.includes(squeezedText)) return true;
    return readings(plainText(text)).some((reading) => {
      if (!SCHEMED.test(reading) && !PLACE_NAME.test(names.at(-1) ?? '')) return false;
      return addressesOf(reading).some(
        ({ key }) =>
          !known.said.has(key) && !domainsOf(key).some((domain) => known.saidHosts.has(domain)),
      );
    });
  });
}

/** Words of a tool's name that every other name has as well. */
const GENERIC = new Set(
  'get set list search find read view fetch show access manage manager management tool data info information details detail user'.split(
    ' ',
  ),
);

/** The words of a name: `GmailSendEmail`, `send_email` and `Send e-mail`. */
export function nameWords(name: string): string[] {
  const spaced = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/_/g, ' ');
  return [...new Set(wordsOf(spaced).map(({ key }) => key))].filter((key) => key.length > 1);
}

/**
 * Who wished for this tool, where untrusted text may have: the source whose words name it and the
 * person's do not, or the newest one where the person has hardly spoken of it, or who speaks of it
 * in the definition of a tool; null where the person did. The person must have said half of the telling
 * words of its name, of a consequential tool all of them.
 */
export function wishedBy(
  tool: Pick<Tool, 'name' | 'title'>,
  consequential: boolean,
  known: Known,
): string | null {
  const all = nameWords(`${tool.name} ${tool.title}`);
  const telling = all.filter((key) => !GENERIC.has(key) && !isCommon(key));
  const words = telling.length > 0 ? telling : all;
  const [last] = known.sources;
  // A name without a word: nobody can say that the person spoke of it.
  if (words.length === 0) return last?.name ?? null;
  const unsaid = words.filter((key) => !known.said.has(key));
  const source = known.sources.find((it) => unsaid.some((key) => it.words.has(key)));
  if (source) return source.name;
  const unspoken = consequential ? unsaid.length > 0 : unsaid.length * 2 > words.length;
  if (!unspoken) return null;
  return last?.name ?? known.described.find((it) => isNamedIn(tool, it))?.name ?? null;
}

/**
 * Whose definition of a tool may have chosen a value of this call that the person did not: it speaks of
 * this tool, or of a number, a day or a choice among the tool's own values.
 */
export function wantedBy(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'name' | 'title' | 'inputSchema'>,
  known: Known,
): string | null {
  const isOwn = ownValues(tool.inputSchema);
  const values = leavesOf(args).filter(({ isName }) => !isName);
  const days = values.flatMap(({ text }) => text.match(DAY_OR_TIME) ?? []);
  const keys = values.flatMap(({ names, text }) =>
    wordsOf(text.replace(DAY_OR_TIME, ' ')).filter(({ key }) =>
      // A single digit stands in every schema.
      isOwn(names, text, false)
        ? !isCommon(key) && !/^\p{N}+$/u.test(key)
        : /^\p{N}{2,}$/u.test(key),
    ),
  );
  const isGiven = isGrounded(args, tool, known);
  const speaks = (it: Source): boolean =>
    (!isGiven && isNamedIn(tool, it)) ||
    days.some((day) => !known.saidTimes.has(day) && it.times.has(day)) ||
    keys.some(({ key }) => !known.said.has(key) && it.words.has(key));
  return known.described.find(speaks)?.name ?? null;
}

/** Whether a text holds the name or the title of a tool, however it is put together. */
function isNamedIn({ name, title }: Pick<Tool, 'name' | 'title'>, source: Source): boolean {
  return [name, title].some((it) => {
    const words = nameWords(it);
    return words.length > 0 && words.every((key) => source.words.has(key)) && isRun(it, source);
  });
}

const isRun = (name: string, { squeezed: text }: Source): boolean => text.includes(squeezed(name));
