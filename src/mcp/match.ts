/**
 * How well a tool fits a request, on one scale whatever else is on the phone: BM25, with the rarity of
 * words taken from a fixed collection of tools instead of the person's own few. Thresholds that were
 * measured on that scale (`CatalogueRow.callsFrom`) so hold for five tools as for five hundred.
 */
import { buildIndex, rarity, terms, type Frequencies } from './bm25.ts';

/** The collection: tools of the cases that tests/evals/bfcl/cases.ts names `countedCases`. */
const TOOLS = 188;
const WORDS = 5305;

/** Words as `terms` has them, by the number of tools that hold them; the others are in one or none. */
const HELD: readonly (readonly [tools: number, words: string])[] = [
  [
    2,
    'acceler act add adjustm after air amenity amper amplitu analyz analyze angel archite ' +
      'artwork assumpt atm atmosph average barcelo be belong board brief build ca calc ' +
      'capacit cardiol carry cell champio change chemica civil claim close code coeffic ' +
      'competi complex compoun concert contrib coordin corpora cost country creat create ' +
      'crime cuisine dai deck design dinner dna driv dur duratio each earlies eg either ' +
      'electri equatio euclide experti fahrenh fami feet final flag footbal formula freq ga ' +
      'general genetic gluten group hour hz id increas indepen inflati integer interva ' +
      'jurisdi kg kilogra km law lawyer lo long look made magneti main maker max method ' +
      'movie museum musical must nearest off open organis orthope outstan paid payout pc ' +
      'permeab phase piece place platfor playsta poker populat portfol predict princip ' +
      'propert protein purchas quadrat quantit questio recent recip recomme refer referen ' +
      'regular releas religio represe request roman route sal sampl sample scenic scorer ' +
      'scriptu sell sentime shar share shortes sid signifi small sold solve space special ' +
      'standar strateg temp through train ttest typ u uefa usd usual vacuum vegetar velocit ' +
      'venue walmart want water wave weather weight width wire xbox',
  ],
  [
    3,
    'activit against analysi artist boil breakfa categor celsiu circle club combine ' +
      'common constan databas destina dietary dividen equal estimat europea extra featur ' +
      'field flow food free frequen full gam height high identif index input invest languag ' +
      'last legal library lightne ma major mas materia math maximum meal mil mix multipl ' +
      'need object over park party persona possess possibl potenti prefere probabi product ' +
      'rank requir restric return scor shot signatu single source stat such support theory ' +
      'trait triangl up user valu vegan video whose',
  ],
  [
    4,
    'additio adjust base boston color cook dd decimal example fil genre heat ingredi ' +
      'investm item key latest loan low medium model music nba new num ny paint perform ' +
      'pressur primary quarter radiu range restaur round sculptu sequenc soccer statist ' +
      'store strengt substan term text tim us york',
  ],
  [
    5,
    'availab basketb book check conside count event forecas frame functio lawsuit length ' +
      'mm money month most out particu specy stock target test top yyyy',
  ],
  [
    6,
    'all case convers crimina criteri currenc empty future generat history includ interes ' +
      'match nearby option person recipe record season size total',
  ],
  [
    7,
    'another desir info locate meter period play player provid set tempera title whether ' +
      'within',
  ],
  [8, 'array end finance initial one percent sport true'],
  [9, 'annual between company convert current distanc fetch game league level list per'],
  [10, 'false format like price start unit value'],
  [11, 'day first informa paramet preferr result'],
  [12, 'amount area certain histori point team'],
  [13, 'detail rate'],
  [14, 'data include'],
  [15, 'date etc second state'],
  [16, 'two'],
  [21, 'search'],
  [22, 'city type'],
  [23, 'time year'],
  [26, 'optiona'],
  [36, 'locatio'],
  [43, 'retriev'],
  [44, 'number'],
  [47, 'name'],
  [55, 'calcula'],
  [61, 'specifi'],
  [98, 'default'],
];

let held: ReadonlyMap<string, number> | undefined;

/** The words of the collection. */
export const COLLECTION: Frequencies = {
  count: TOOLS,
  length: WORDS / TOOLS,
  of(word) {
    held ??= new Map(
      HELD.flatMap(([tools, words]) => words.split(' ').map((one) => [one, tools] as const)),
    );
    return held.get(word) ?? 0;
  },
};

/**
 * What all words of a request that needs a tool are worth together, on the average of the collection's
 * own requests: thresholds were measured on such.
 */
export const USUAL = 31.4;
/** Fewer different words than these say nothing of whether a tool is needed. */
const FEWEST = 3;

/**
 * The BM25 score of the text that fits the request best; 0 where none shares a word with it. A short
 * request has fewer words to share: its score is what it would be at the usual length. Undefined where
 * there are too few words to tell.
 */
export function matchOf(request: string, texts: readonly string[]): number | undefined {
  const words = [...new Set(terms(request))];
  if (words.length < FEWEST) return undefined;
  const worth = words.reduce((sum, word) => sum + rarity(COLLECTION.of(word), TOOLS), 0);
  return bestOf(request, texts) * Math.max(1, USUAL / worth);
}

/** The same as it is, whatever the length of the request. */
export const bestOf = (request: string, texts: readonly string[]): number =>
  Math.max(0, ...buildIndex(texts, COLLECTION).search(request).values());
