/**
 * BM25 over small documents (Robertson and Zaragoza 2009), with an index of postings, so that a
 * query costs only the documents that share a word with it.
 */

/** Saturation of repeated words, and how much long documents are held back. */
const K1 = 1.2;
const B = 0.75;

/**
 * A word that no document has counts for its beginning at this weight: "raincoat" for "rain". Shorter
 * beginnings are chance.
 */
const PREFIX_WEIGHT = 0.5;
const SHORTEST_PREFIX = 4;

const STOP_WORDS = new Set(
  (
    'a an the of for to in on at by with and or is are was were be been what which who whom how ' +
    'when where why can could would should do does did i me my you your it its this that these ' +
    'those from as if then than please find get want need have has had will shall about there ' +
    'their any some given return returns based using use specified am not'
  ).split(' '),
);

/**
 * Words of a text for matching: lower case, camelCase taken apart, stop words and numbers dropped,
 * English endings cut, at most seven letters, so that "flying" finds "flights" no less than "fly".
 */
export function terms(text: string): string[] {
  const words =
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  return words
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word))
    .map((word) => word.replace(/ies$/, 'y').replace(/(ing|edly|ed|es|s|ly)$/, ''))
    .map((word) => word.slice(0, 7));
}

export interface Index {
  /** Score of every document that shares a word with the query, by its position; none is 0. */
  search(query: string): Map<number, number>;
}

/** How often words occur, over a collection of documents. */
export interface Frequencies {
  /** Documents, and words in one of them, on the average. */
  readonly count: number;
  readonly length: number;
  /** Documents that hold the word. */
  of(word: string): number;
}

/** What a word that this many of the documents hold is worth. */
export const rarity = (holding: number, count: number): number =>
  Math.log(1 + (count - holding + 0.5) / (holding + 0.5));

/**
 * Indexes documents; a document is known by its position. How rare a word is, is a matter of the
 * documents themselves, unless `among` says otherwise.
 */
export function buildIndex(documents: readonly string[], among?: Frequencies): Index {
  const postings = new Map<string, Map<number, number>>();
  const lengths = documents.map((document, position) => {
    const words = terms(document);
    for (const word of words) {
      let posting = postings.get(word);
      if (!posting) postings.set(word, (posting = new Map()));
      posting.set(position, (posting.get(position) ?? 0) + 1);
    }
    return words.length;
  });
  const own = lengths.reduce((sum, length) => sum + length, 0) / (lengths.length || 1);
  const count = among?.count ?? documents.length;
  const average = (among?.length ?? own) || 1;
  return {
    search(query) {
      const scores = new Map<number, number>();
      for (const word of new Set(terms(query))) {
        const found = find(postings, word);
        if (!found) continue;
        const { posting, share } = found;
        const holding = among?.of(found.word) ?? posting.size;
        const worth = rarity(holding, count);
        for (const [position, frequency] of posting) {
          const length = (lengths[position] ?? 0) / average;
          const weight = (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * length));
          scores.set(position, (scores.get(position) ?? 0) + share * worth * weight);
        }
      }
      return scores;
    },
  };
}

type Posting = ReadonlyMap<number, number>;

function find(
  postings: ReadonlyMap<string, Posting>,
  word: string,
): { word: string; posting: Posting; share: number } | null {
  const whole = postings.get(word);
  if (whole) return { word, posting: whole, share: 1 };
  for (let length = word.length - 1; length >= SHORTEST_PREFIX; length -= 1) {
    const beginning = word.slice(0, length);
    const posting = postings.get(beginning);
    if (posting) return { word: beginning, posting, share: PREFIX_WEIGHT };
  }
  return null;
}
