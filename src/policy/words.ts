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

/** Letters of other scripts that look like Latin ones, and what they are read as. */
const LOOKALIKES = new Map(
  (
    'аa еe оo рp сc уy хx кk мm нh тt вb іi јj ѕs ԁd һh ӏl ԛq ԝw αa οo ρp νv υu ιi κk τt εe ηn χx γy ' +
    'ɑa ıi ɡg ʙb ɢg ʜh ɪi ʟl ɴn ʀr ʏy ᴀa ᴄc ᴅd ᴇe ᴊj ᴋk ᴍm ᴏo ᴘp ᴛt ᴜu ᴠv ᴡw ᴢz ꜰf ꜱs'
  )
    .split(' ')
    .map(([like = '', letter = '']) => [like, letter] as const),
);
const LOOKALIKE = new RegExp(`[${[...LOOKALIKES.keys()].join('')}]`, 'gu');
const MARKED = new RegExp(`([\\p{sc=Latin}${[...LOOKALIKES.keys()].join('')}])\\p{M}+`, 'gu');

/**
 * One text for all that a reader takes for the same: case, width, accents and strokes on Latin letters,
 * letters of other scripts that look like them, and digits of any script.
 */
function bare(text: string): string {
  if (/^[\t\n\r -~]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKD')
    .replace(MARKED, '$1')
    .normalize('NFC')
    .replace(LOOKALIKE, (like) => LOOKALIKES.get(like) ?? like)
    .replace(/(?![0-9])\p{Nd}/gu, valueOf);
}

/** A decimal digit of any script: ten of them stand in a row in Unicode. */
function valueOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** As `bare`; a plain plural or possessive s is left out. */
export function fold(token: string): string {
  const key = bare(token);
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
  return bare(text)
    .replace(/(?<![\s([{<])[\s([{<]{1,20}(at|dot)[\s)\]}>]{1,20}/g, '')
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

/** What an address with a scheme leads to, whatever it looks like: a name, a number, a hexadecimal one. */
const AUTHORITY = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:[\\/]{2}([^\s\\/?#"'<>]{1,300})/giu;

function authoritiesOf(text: string): Word[] {
  return [...text.matchAll(AUTHORITY)].flatMap(({ 0: found, 1: authority = '', index }) => {
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    const [bare = ''] = /[^[\])]+/.exec(host) ?? [];
    if (bare === '') return [];
    const start = index + found.length - host.length + host.indexOf(bare);
    return [{ key: keyOf(bare), start, end: start + bare.length }];
  });
}

/** Addresses of hosts and of mail, each as one: short ones, too, say where they came from. */
export function addressesOf(given: string): Word[] {
  // Dots that browsers take for dots (UTS #46).
  const text = given.replace(/[。．｡]/g, '.');
  const found = [MAIL, HOST, NUMERIC_HOST].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ 0: found, index }) =>
      /[\p{L}\p{N}]/u.test(found)
        ? [{ key: keyOf(found), start: index, end: index + found.length }]
        : [],
    ),
  );
  return [...found, ...authoritiesOf(text)];
}

/** An address as a browser reads it: names in Punycode, IPv4 in any notation as four numbers. */
function keyOf(address: string): string {
  const plain = address.normalize('NFKC').toLowerCase();
  const at = plain.lastIndexOf('@');
  const rest = plain.slice(at + 1);
  const host = rest.split(':').length === 2 ? rest.replace(/:\d*$/, '') : rest;
  const isSix = host.split(':').length > 2;
  const url = `http://${isSix && !host.includes('[') ? `[${host.replace(/\]$/, '')}]` : host.replace(/\]?$/, isSix ? ']' : '')}/`;
  const read = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, '') : host;
  return plain.slice(0, at + 1) + fromSix(read);
}

/** An address of IPv4 that is written as one of IPv6. */
const fromSix = (host: string): string =>
  host.replace(/^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/, (_, high: string, low: string) =>
    [high, low]
      .map((it) => parseInt(it, 16))
      .map((it) => `${it >> 8}.${it & 255}`)
      .join('.'),
  );

/** A host and the domains that it lies in, down to two labels; anything else alone. */
export function domainsOf(key: string): string[] {
  if (/[@:]|^[\d.]+$|^[^.]*$/.test(key)) return [key];
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
