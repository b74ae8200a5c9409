/** What axe finds wrong with the page as it stands, as lines to compare with none. */
import axe from 'axe-core';

/** WCAG 2.2 A and AA, without what needs a whole page around it; or these rules alone. */
export async function faults(only?: readonly string[]): Promise<string[]> {
  // What still moves is half transparent.
  const moves = document
    .getAnimations()
    .filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime ?? Infinity));
  await Promise.allSettled(moves.map(({ finished }) => finished));
  const { violations } = await axe.run(
    document,
    only
      ? { runOnly: { type: 'rule', values: [...only] } }
      : {
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
          rules: { 'document-title': { enabled: false }, 'html-has-lang': { enabled: false } },
        },
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
