/**
 * What a text says once its encodings are undone. Pure. A person or a model that is told to can undo all
 * of these, so words in them are words of the text; one inside of another is undone as well.
 */

/** Encodings inside of encodings. */
const DEEPEST = 3;
/** Other readings of one text; what nests beyond is no message but data. */
const MOST = 24;
/** A longer text is undone once, in characters: what reads it may not keep anybody waiting. */
const LONG = 50_000;
/** More runs that look like code than this are no message but data. */
const MOST_CODED = 200;

/** Texts that a run stands for, in place of it; undefined where nothing in the text is a run. */
type Decoder = (text: string) => string | undefined;

const bytesToText = (bytes: readonly number[]): string => {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
  if (/(?![\t\n\r])\p{Cc}/u.test(text)) throw new RangeError('not a text');
  return text;
};

const attempt = (read: () => string): string | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Replaces each run by what it says; what cannot be read stays. */
const inPlace =
  (pattern: RegExp, read: (run: string) => string): Decoder =>
  (text) => {
    let found = false;
    const made = text.replace(pattern, (run: string) => {
      const said = attempt(() => read(run));
      found ||= said !== undefined;
      return said ?? run;
    });
    return found ? made : undefined;
  };

/** What the runs say, one a line: any word may look like one, so the text itself is not touched. */
const apart =
  (pattern: RegExp, read: (run: string) => string): Decoder =>
  (text) => {
    const said = [...text.matchAll(pattern)]
      .slice(0, MOST_CODED)
      .flatMap(([run]) => attempt(() => read(run)) ?? []);
    return said.length > 0 ? said.join('\n') : undefined;
  };

const codePoints = (base: number) => (run: string) =>
  String.fromCodePoint(parseInt(run.replace(/[^0-9a-f]/gi, ''), base));

const pairs = (run: string): number[] =>
  (run.replace(/0x|\\x|[^0-9a-f]/gi, '').match(/../g) ?? []).map((it) => parseInt(it, 16));

function fromBase64(run: string): string {
  const plain = run.replace(/\s/g, '').replace(/-/g, '+').replace(/_/g, '/');
  return bytesToText(Array.from(atob(plain), (it) => it.charCodeAt(0)));
}

/** RFC 4648, section 6. */
function fromBase32(run: string): string {
  const bits = Array.from(run.replace(/=/g, ''), (it) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(it).toString(2).padStart(5, '0'),
  ).join('');
  return bytesToText((bits.match(/[01]{8}/g) ?? []).map((it) => parseInt(it, 2)));
}

const NAMED: Readonly<Record<string, string>> = {
  '&commat;': '@',
  '&period;': '.',
  '&colon;': ':',
  '&sol;': '/',
  '&lowbar;': '_',
  '&hyphen;': '-',
  '&amp;': '&',
};

const DECODERS: readonly Decoder[] = [
  inPlace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent),
  inPlace(/&#\d{1,7};?/g, codePoints(10)),
  inPlace(/&#x[0-9a-f]{1,6};?/gi, codePoints(16)),
  inPlace(/&[a-z]+;/g, (run) => NAMED[run] ?? run),
  inPlace(/\\u(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\})|\bU\+[0-9a-f]{4,6}\s?/gi, (run) =>
    codePoints(16)(run.replace(/^\\u|^U\+/i, '')),
  ),
  // Quoted-printable (RFC 2045, section 6.7).
  inPlace(/(?:=[0-9A-F]{2}){2,}/g, (run) => bytesToText(pairs(run))),
  inPlace(/<[^<>]{1,200}>/g, () => ''),
  apart(/[A-Za-z0-9+/_-]{8,}(?:\r?\n[A-Za-z0-9+/_-]{2,})*={0,2}/g, fromBase64),
  apart(/[A-Za-z0-9+/_-]{8,}={0,2}/g, fromBase64),
  apart(/\b[A-Z2-7]{8,}={0,6}/g, fromBase32),
  apart(/(?<![A-Za-z0-9])(?:(?:0x|\\x)?[0-9a-f]{2}[\s:,-]{0,2}){3,}/gi, (run) =>
    bytesToText(pairs(run)),
  ),
  apart(/(?<!\d)\d{2,3}(?:[\s,;]{1,2}\d{2,3}){3,}(?!\d)/g, (run) =>
    bytesToText((run.match(/\d+/g) ?? []).map(Number)),
  ),
  apart(/(?<!\d)(?:[01]{8}[\s,]{0,2}){3,}(?!\d)/g, (run) =>
    bytesToText((run.match(/[01]{8}/g) ?? []).map((it) => parseInt(it, 2))),
  ),
];

/** The text first, then what else it says. */
export function readings(text: string): string[] {
  const all = new Set([text]);
  let layer = [text];
  const deepest = text.length > LONG ? 1 : DEEPEST;
  for (let depth = 0; depth < deepest && layer.length > 0; depth += 1) {
    const next = layer.flatMap((it) => DECODERS.flatMap((decode) => decode(it) ?? []));
    layer = next.filter((it) => it !== '' && !all.has(it)).slice(0, MOST - all.size);
    for (const it of layer) all.add(it);
  }
  return [...all];
}

/** A text with its letters turned about: each reads as the other. */
export const turned = (text: string): string[] => [
  [...text].reverse().join(''),
  text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0);
    return String.fromCharCode(code + ((code & 31) <= 13 ? 13 : -13));
  }),
];
