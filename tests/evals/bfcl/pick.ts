/** What the app's search says of a case before any model is asked. */
import type { ToolSpec } from '../../../src/brain/brain.ts';
import { bestOf } from '../../../src/mcp/match.ts';
import { searchText } from '../../../src/mcp/search-text.ts';
import { countedCases, type Case } from './cases.ts';

export interface Picked {
  /** The tool that fits the question best. */
  readonly tool: ToolSpec | undefined;
  /** Its BM25 score. */
  readonly score: number;
}

export function pick({ question, tools }: Case): Picked {
  const scored = tools.map((tool) => ({ tool, score: bestOf(question, [searchText(tool)]) }));
  return scored.toSorted((a, b) => b.score - a.score)[0] ?? { tool: undefined, score: 0 };
}

/** Cases of each category that the threshold is chosen by. */
const CHOSEN_BY = 30;

/**
 * The score above which calling is best where BM25 alone decides: most right calls and most abstentions,
 * as much weight on the one as on the other, over cases that nothing is reported of.
 */
export async function bm25Threshold(): Promise<number> {
  const counted = await countedCases();
  const known = (['simple', 'multiple', 'irrelevance'] as const).flatMap((category) =>
    counted.filter((one) => one.category === category).slice(0, CHOSEN_BY),
  );
  const scored = known.map((one) => ({ one, ...pick(one) }));
  const worth = (threshold: number): number =>
    scored.reduce((sum, { one, tool, score }) => {
      const [wanted] = one.calls;
      if (!wanted) return sum + Number(score <= threshold);
      return sum + Number(score > threshold && tool?.name === wanted.name) / 2;
    }, 0);
  return scored
    .map(({ score }) => score)
    .reduce((best, score) => (worth(score) > worth(best) ? score : best), -1);
}
