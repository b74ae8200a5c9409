/** What the bench measures: one key a figure, with its unit in words. */

export const FIGURES = {
  'firstScreen.coldMs':
    'ms from the address to the first screen drawn, new profile, processor slowed down 6 times',
  'firstScreen.warmMs':
    'ms until a stored conversation is drawn, service worker installed, slowed down 6 times',
  'shell.gzipBytes': 'bytes, with gzip, of all that the first screen waits for',
  'overhead.webllm':
    'tokens a second of the phone’s brain (dialect, worker, checks), divided by those of the bare WebLLM engine under the same grammar',
  'overhead.wllama': 'the same over wllama',
  'app.webllm':
    'tokens a second through the whole app, its screen drawn, divided by those of the bare WebLLM engine under the same grammar',
  'app.wllama': 'the same over wllama',
  'grammar.webllm':
    'tokens a second of the bare WebLLM engine under the grammar, divided by those without',
  'load.webllm':
    'ms to load a stored model through the app (locks, crash flag, trials), by those of the bare WebLLM engine',
  'load.wllama': 'the same over wllama',
  'download.throughput':
    'bytes a second of a verified download, by those of a bare fetch at 200 Mbit/s, both engines',
  'screen.eventsPerSecond': 'events a second of a cloud’s stream, sent without a pause, drawn',
  'screen.longTasksOver50ms':
    'tasks over 50 ms while 3,000 words of Markdown stream in without a pause',
  'screen.longestTaskMs': 'ms, the longest of these tasks; 0 where none was over 50 ms',
  'screen.pacedLongTasksOver50ms':
    'tasks over 50 ms while the same answer comes at the pace of a fast cloud',
  'list.smoothFrames':
    'share of frames under 34 ms while 1,000 messages are scrolled through, 1 is all',
  'tools.read':
    'ms to read 1,000 stored tools of 20 servers as the app starts, by those for 50 of one; 20 would be in proportion',
  'tools.firstOffer': 'the same for the first offer of tools, which names and indexes all of them',
  'tools.offer': 'the same for a later offer',
  'tools.screen': 'the same until the servers screen is drawn',
  'tools.firstOfferMs': 'ms of the first offer out of 1,000 tools',
} as const;

export type FigureName = keyof typeof FIGURES;
export type Figures = Partial<Record<FigureName, number>>;

/** A single measurement behind a figure. */
export interface Case {
  readonly figure: FigureName;
  readonly value: number;
}

/** What one part of the bench found out. */
export interface Measured {
  readonly figures: Figures;
  readonly cases?: readonly Case[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) throw new Error('Nothing was measured.');
  return (lower + upper) / 2;
}
