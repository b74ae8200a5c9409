/** A long answer in Markdown, for everything that draws one. */

const PARAGRAPH =
  'Rain in the hills fills the streams within an hour, and the path along the river is then under water. Start early, keep to the upper road, and turn back at the bridge if the gauge shows more than two metres.';

/** `request` may ask for a number of paragraphs ("with 40 paragraphs"). */
export function longAnswer(request: string): string {
  const wanted = Number(/(\d{1,4}) paragraphs?/i.exec(request)?.[1] ?? 4);
  const paragraphs = Array.from(
    { length: wanted },
    (_, n) => `${n + 1}. *Stage ${n + 1}.* ${PARAGRAPH}`,
  );
  return [
    '# A walk in three days',
    'This plan has **bold words**, `code in a line` and a [link to a map](https://www.openstreetmap.org/#map=12/46.5/7.9).',
    '## What to take',
    '- boots\n- a raincoat\n  - and a dry bag for it\n- [ ] sun cream\n- [x] a map',
    '## How long it takes',
    '| Stage | From | To | Hours | Climb in metres |\n| :-- | :-- | :-- | --: | --: |\n| 1 | Lauterbrunnen | Mürren | 3.5 | 840 |\n| 2 | Mürren | Rotstockhütte | 2.5 | 420 |\n| 3 | Rotstockhütte | Griesalp | 5.0 | 690 |',
    '## A sum',
    '```ts\nconst hours = [3.5, 2.5, 5.0];\n// Rests are not counted.\nexport const total: number = hours.reduce((sum, stage) => sum + stage, 0);\n```',
    '> Take the last bus before six.',
    ...paragraphs,
    'Have a good walk.',
  ].join('\n\n');
}
