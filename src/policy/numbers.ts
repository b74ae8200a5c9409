/**
 * Numbers of a text however they are written, as digits: grouped, with a suffix, with an exponent, in
 * English words, digit by digit. Pure. Those that stand there as plain digits are words already.
 */

const SMALL = new Map(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen ' +
    'sixteen seventeen eighteen nineteen'
  )
    .split(' ')
    .map((word, value) => [word, value] as const),
);
const TENS = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'
    .split(' ')
    .map((word, at) => [word, (at + 2) * 10] as const),
);
const LARGE = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);
const SUFFIX: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mn: 1e6,
  million: 1e6,
  bn: 1e9,
  billion: 1e9,
};

const GROUPED = /(?<!\p{N})\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?!\p{N})/gu;
const SUFFIXED =
  /(?<![\p{L}\p{N}])(\d{1,6}(?:[.,]\d{1,3})?)\s?(k|m|mn|bn|thousand|million|billion)\b/giu;
const EXPONENT = /(?<![\p{L}\p{N}])\d{1,6}(?:\.\d{1,6})?e\+?\d{1,2}\b/giu;
const NAMES = [...SMALL.keys(), ...TENS.keys(), ...LARGE.keys()].join('|');
const IN_WORDS = new RegExp(`\\b(?:${NAMES})(?:[\\s-]+(?:and\\s+)?(?:${NAMES}))*\\b`, 'gi');

const written = (value: number): string => String(Math.round(value));

function ofWords(run: string): string[] {
  const words = run.toLowerCase().match(/[a-z]+/g) ?? [];
  const digits = words.flatMap((word) => SMALL.get(word) ?? []);
  // One after the other, as of a phone.
  if (digits.length === words.length && words.length > 1) return [digits.join('')];
  let [total, part] = [0, 0];
  for (const word of words) {
    const large = LARGE.get(word);
    if (large === undefined) part += SMALL.get(word) ?? TENS.get(word) ?? 0;
    else if (large === 100) part = Math.max(1, part) * 100;
    else {
      total += Math.max(1, part) * large;
      part = 0;
    }
  }
  return [written(total + part)];
}

export function numbersIn(text: string): string[] {
  return [
    ...[...text.matchAll(GROUPED)].map(([run]) => run.replace(/\D/g, '')),
    ...[...text.matchAll(SUFFIXED)].map(([, digits = '', suffix = '']) =>
      written(Number(digits.replace(',', '.')) * (SUFFIX[suffix.toLowerCase()] ?? 1)),
    ),
    ...[...text.matchAll(EXPONENT)].map(([run]) => written(Number(run))),
    ...[...text.matchAll(IN_WORDS)].flatMap(([run]) => ofWords(run)),
  ];
}
