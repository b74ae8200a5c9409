import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openAnswers } from '../../evals/bfcl/answers.ts';
import type { Case } from '../../evals/bfcl/cases.ts';
import { bm25Threshold } from '../../evals/bfcl/pick.ts';
import { figuresOf, markdown, rowsOf } from '../../evals/bfcl/report.ts';

const one: Case = {
  id: 'simple_1',
  category: 'simple',
  question: 'A forecast for the city of Goa next Friday?',
  tools: [
    {
      name: 'forecast',
      description: 'Forecast of a city.',
      inputSchema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          date: { type: 'string', description: 'YYYY-MM-DD' },
        },
        required: ['city', 'date'],
      },
    },
  ],
  calls: [{ name: 'forecast', accepted: { city: ['Goa'], date: ['2026-12-04'] } }],
};
const none: Case = { ...one, id: 'irrelevance_1', category: 'irrelevance', calls: [] };
const known = new Map([one, none].map((each) => [each.id, each]));

const reply = (args?: Record<string, unknown>) => ({
  calls: args ? [{ name: 'forecast', args, raw: 'forecast()' }] : [],
  text: '',
  usage: {},
});
const RIGHT = reply({ city: 'Goa', date: 'next Friday' });

const ask = (id: string, category: Case['category'], given: ReturnType<typeof reply>) =>
  ({ model: 'm.wllama', way: 'abstaining', category, id, reply: given, commit: 'abc' }) as const;

test('a call is judged as its tool would get it: days in words are resolved', () => {
  const [row] = rowsOf([ask('simple_1', 'simple', RIGHT)], known, 10);
  expect(row).toMatchObject({ exact: true, rightTool: true });
});

test('the report counts each category, beside what was published', () => {
  const rows = rowsOf(
    [
      ask('simple_1', 'simple', reply({ city: 'Pune', date: '2026-12-04' })),
      ask('irrelevance_1', 'irrelevance', reply()),
    ],
    known,
    1000,
  );
  const figures = figuresOf(rows);
  expect(figures).toEqual({
    'm.wllama.abstaining.simple': 0,
    'm.wllama.abstaining.simple.cases': 1,
    'm.wllama.abstaining.simple.tool': 1,
    'm.wllama.abstaining.irrelevance': 1,
    'm.wllama.abstaining.irrelevance.cases': 1,
    'm.wllama.bm25.irrelevance': 1,
    'm.wllama.bm25.irrelevance.cases': 1,
  });
  const page = markdown({ commit: 'abc', date: '2026-11-30T00:00:00Z' }, figures);
  expect(page).toContain('| m.wllama, abstaining | 0.0 (0/1) |  | 100.0 (1/1) |  |');
  expect(page).toContain('Gemma 3 1B, as published');
});

test('where BM25 alone decides, a right call counts only where its score is high enough', () => {
  const forced = { ...ask('simple_1', 'simple', RIGHT), way: 'forced' } as const;
  for (const [threshold, exact] of [
    [0, true],
    [1000, false],
  ] as const)
    expect(rowsOf([forced], known, threshold).map((row) => [row.way, row.exact])).toEqual([
      ['forced', true],
      ['bm25', exact],
    ]);
});

test('the threshold for that is chosen by cases that nothing is reported of', async () => {
  expect(await bm25Threshold()).toBeCloseTo(13.19, 2);
});

test('a run that was ended goes on behind its last whole answer', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'answers-')), 'a.jsonl');
  const answers = await openAnswers(file, 'abc');
  const { commit: _commit, ...first } = ask('simple_1', 'simple', RIGHT);
  await answers.add(first);
  await writeFile(file, `${await readFile(file, 'utf8')}{"model":"m.wllama","way":`);
  const again = await openAnswers(file, 'def');
  expect(again.of('m.wllama', one, 'abstaining')).toMatchObject({ commit: 'abc', reply: RIGHT });
  expect(again.of('m.wllama', none, 'abstaining')).toBeUndefined();
  await again.add({ ...first, id: 'irrelevance_1', category: 'irrelevance' });
  expect((await openAnswers(file, 'ghi')).all().map(({ commit }) => commit)).toEqual([
    'abc',
    'def',
  ]);
});
