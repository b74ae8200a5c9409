/**
 * Whose words a call carries. Text that came from a tool, a resource, a shared page or a file is
 * untrusted; a value that is found there and not in the person's own words is tainted. Pure.
 *
 * Promise: a word, number or address of an argument that stands in untrusted text, and not in what the
 * person said, is found, in any case, spacing or simple encoding; only a whole value that the schema of
 * that very argument names is the tool's own. Short words, common words, small numbers, days and times say nothing and do not count; a host, an
 * address of mail and digits that belong together are one value each, however short their words are.
 */
import { plainText } from '../mcp/plain.ts';
import type { Tool } from '../mcp/types.ts';
import type { ArgumentOrigin } from '../store/records.ts';
import { ownValues } from './own.ts';
import type { UntrustedText } from './types.ts';
import {
  addressesOf,
  digitsOf,
  domainsOf,
  isCommon,
  isTrivial,
  readings,
  squeezed,
  wordsOf,
  type Word,
} from './words.ts';

/** What the conversation holds, as it is compared. */
export interface Known {
  readonly said: ReadonlySet<string>;
  readonly saidSqueezed: string;
  readonly saidAddresses: ReadonlySet<string>;
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
}

const keysOf = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => wordsOf(text).map(({ key }) => key)));

const addressKeys = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => addressesOf(text).map(({ key }) => key));

/** Texts that stay the same object are read once. */
const read = new WeakMap<UntrustedText, Source>();

function sourceOf(text: UntrustedText): Source {
  const known = read.get(text);
  if (known) return known;
  const all = readings(plainText(text.text));
  const source: Source = {
    name: text.source,
    words: keysOf(all),
    squeezed: all.map(squeezed).join('\n'),
    addresses: new Set(addressKeys(all)),
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
  return {
    said: keysOf(said.map(plainText)),
    saidSqueezed: said.map(squeezed).join('\n'),
    saidAddresses: new Set(addressKeys(said.map(plainText)).flatMap(domainsOf)),
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
}

/** Every text and number of the arguments, and the names inside of them. */
function leavesOf(value: unknown, names: readonly string[] = []): Leaf[] {
  const leaf = (text: string): Leaf => ({ path: names.join('/'), names, text, isName: false });
  if (typeof value === 'string') return [leaf(value)];
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

/** Days and times of day: how they are written says nothing about who wrote them. */
const DAY_OR_TIME =
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d\b/g;
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
  return leavesOf(args).flatMap((leaf) => {
    const words = relevant(leaf.text, strict && !leaf.isName);
    const said = words
      .filter(({ key }) => known.said.has(key))
      .map((word) => ({ word, source: null }));
    const spans = isOwn(leaf.names, leaf.text, leaf.isName)
      ? []
      : foreignIn(leaf, words, known, sources);
    return [...spans, ...joined(leaf, said)].sort((a, b) => a.start - b.start);
  });
}

/** What a value holds of others' words: as they are, as one value, or in disguise. */
function foreignIn(
  leaf: Leaf,
  words: readonly Word[],
  known: Known,
  sources: readonly Source[],
): ArgumentOrigin[] {
  const tainted = words.flatMap((word) => {
    if (known.said.has(word.key)) return [];
    const source = sources.find((it) => it.words.has(word.key));
    return source ? [{ word, source: source.name }] : [];
  });
  const spans = joined(leaf, tainted);
  if (spans.length === 0) spans.push(...joined(leaf, whole(leaf.text, known, sources)));
  return spans.length > 0 ? spans : disguised(leaf, known, sources);
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

/** Whether every value of the arguments is the person's own, or the tool's. */
export function isGrounded(
  args: Readonly<Record<string, unknown>>,
  tool: Pick<Tool, 'inputSchema'>,
  known: Known,
): boolean {
  const isOwn = ownValues(tool.inputSchema);
  return leavesOf(args).every(({ names, text, isName }) => {
    // A name is the tool's; one that is not is looked for in untrusted text all the same.
    if (isName || isOwn(names, text, false)) return true;
    const plain = plainText(text).replace(DAY_OR_TIME, ' ');
    return wordsOf(plain).every(({ key }) => isCommon(key) || known.said.has(key));
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
  const unsaid = words.filter((key) => !known.said.has(key));
  const source = known.sources.find((it) => unsaid.some((key) => it.words.has(key)));
  if (source) return source.name;
  const unspoken = consequential ? unsaid.length > 0 : unsaid.length * 2 > words.length;
  if (!unspoken) return null;
  const [newest] = known.sources;
  return newest?.name ?? known.described.find((it) => isNamedIn(tool, it))?.name ?? null;
}

/** Whether a text holds the name or the title of a tool, however it is put together. */
function isNamedIn({ name, title }: Pick<Tool, 'name' | 'title'>, source: Source): boolean {
  return [name, title].some((it) => {
    const words = nameWords(it);
    return words.length > 0 && words.every((key) => source.words.has(key)) && isRun(it, source);
  });
}

const isRun = (name: string, { squeezed: text }: Source): boolean => text.includes(squeezed(name));
