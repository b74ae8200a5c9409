/**
 * Text as words that can be compared: folded, without what carries no meaning of its own. Pure; the
 * same words compare equal whatever their case, width, accents' composition or simple plural.
 */

export interface Word {
  /** As it is compared. */
  readonly key: string;
  /** Place in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Words so common that where they came from says nothing. */
const COMMON = new Set(
  (
    'the and for with from that this these those have has had was were are been being will would ' +
    'can could should may might must shall not but you your yours mine our ours their theirs them ' +
    'they she her hers him his its who whom whose which what when where why how all any some each ' +
    'every both few more most other such only own same than too very just also into onto over under ' +
    'about after before between during through here there then once again because until while please ' +
    'thanks thank hello dear yes into upon out off down does did doing done get gets got let lets ' +
    'true false null none http https www com'
  ).split(' '),
);

const TOKEN = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that write without spaces: a run of them is no word, so its pairs are compared. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/** Case, width and composition folded; a plain plural or possessive s is left out. */
export function fold(token: string): string {
  const key = token.normalize('NFKC').toLowerCase();
  return /^[a-z]{5,}$/.test(key) ? key.replace(/(?<![su])s$/, '') : key;
}

export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (!UNSPACED.test(token)) {
      words.push({ key: fold(token), start: index, end: index + token.length });
      continue;
    }
    for (let at = 0; at < Math.max(1, token.length - 1); at += 1)
      words.push({
        key: fold(token.slice(at, at + 2)),
        start: index + at,
        end: index + Math.min(token.length, at + 2),
      });
  }
  return words;
}

/** Too short or too common to say where it came from: a short word, a small number, a common word. */
export function isTrivial(key: string): boolean {
  if (COMMON.has(key)) return true;
  if (UNSPACED.test(key)) return key.length < 2;
  return /^\p{N}+$/u.test(key) ? key.length < 5 : key.length < 4;
}

export const isCommon = (key: string): boolean => COMMON.has(key);

/** Letters and digits alone, folded: the same for `a.b@c.d` and `a . b (at) c . d`. */
export function squeezed(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s([{<]+(at|dot)[\s)\]}>]+/g, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}

/** At most so many labels, of at most so many characters (RFC 1035): a long text is read in no time. */
const HOST =
  /(?<![\p{L}\p{M}\p{N}])(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}\.){1,8}(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)/giu;
const MAIL =
  /(?<![\p{L}\p{M}\p{N}._%+-])[\p{L}\p{M}\p{N}._%+-]+@[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/gu;
/** Addresses of IPv4 and IPv6. */
const NUMERIC_HOST =
  /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}/gi;

/** Addresses of hosts and of mail, each as one: short ones, too, say where they came from. */
export function addressesOf(text: string): Word[] {
  return [MAIL, HOST, NUMERIC_HOST].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ 0: found, index }) =>
      /[\p{L}\p{N}]/u.test(found)
        ? [{ key: keyOf(found), start: index, end: index + found.length }]
        : [],
    ),
  );
}

const keyOf = (address: string): string => address.normalize('NFKC').toLowerCase();

/** A host and the domains that it lies in, down to two labels; anything else alone. */
export function domainsOf(key: string): string[] {
  if (/[@:]|^[\d.]+$/.test(key)) return [key];
  const labels = key.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}

/** Digits that belong together, as of a phone or a card, however they are grouped. */
const DIGITS = /\p{Nd}(?:(?:,|[^\p{L}\p{N}\n,;#]{0,3})\p{Nd}){6,}/gu;
/** What is written like that and says nothing: days, and spans of years. */
const CALENDAR =
  /^(?:[0-3]?\d[\s./-][0-3]?\d[\s./-](?:19|20)\d\d|(?:19|20)\d\d[\s./-][0-3]?\d[\s./-][0-3]?\d|(?:19|20)\d\d\P{N}{1,3}(?:19|20)\d\d)$/u;

/** Runs of at least seven digits, those that are written in groups as well. */
export function digitsOf(text: string): Word[] {
  return [...text.matchAll(DIGITS)]
    .filter(([found]) => !CALENDAR.test(found))
    .map(({ 0: found, index }) => ({
      key: squeezed(found),
      start: index,
      end: index + found.length,
    }));
}

/** The text, and what it says once percent-encoding and base64 are undone. */
export function readings(text: string): string[] {
  const all = [text];
  if (/%[0-9a-f]{2}/i.test(text))
    all.push(
      text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decoded(() => decodeURIComponent(run)) ?? run),
    );
  const coded = [...text.matchAll(/[A-Za-z0-9+/_-]{12,}={0,2}/g)]
    .slice(0, MOST_CODED)
    .flatMap(([run]) => decoded(() => fromBase64(run)) ?? []);
  if (coded.length > 0) all.push(coded.join('\n'));
  return all;
}

/** More runs that look like base64 than this are no message but data. */
const MOST_CODED = 200;

function fromBase64(run: string): string {
  const bytes = Uint8Array.from(atob(run.replace(/-/g, '+').replace(/_/g, '/')), (it) =>
    it.charCodeAt(0),
  );
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (/(?![\t\n\r])\p{Cc}/u.test(text)) throw new RangeError('not a text');
  return text;
}

function decoded(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
