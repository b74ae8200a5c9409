/**
 * The answers of a run, one line of JSON each, written when they come: a run that was ended goes on
 * behind the last of them.
 */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Case } from './cases.ts';
import type { Reply } from './page/main.ts';

/**
 * abstaining: the tool that fits best is offered, and the odds decide whether to call · forced: the
 * same, and a call is asked for · alone: all tools of the case, and the model decides.
 */
export const WAYS = ['abstaining', 'forced', 'alone'] as const;
export type Way = (typeof WAYS)[number];

export interface Answer {
  readonly model: string;
  readonly way: Way;
  readonly category: Case['category'];
  readonly id: string;
  readonly reply: Reply;
  /** That was checked out. */
  readonly commit: string;
}

export interface Answers {
  all(): readonly Answer[];
  of(model: string, one: Pick<Case, 'id'>, way: Way): Answer | undefined;
  add(answer: Omit<Answer, 'commit'>): Promise<void>;
}

const keyOf = (model: string, way: Way, id: string): string => `${model} ${way} ${id}`;

/** Lines that are whole; the last one of a killed run may be cut. */
function readLines(text: string): Answer[] {
  return text.split('\n').flatMap((line): Answer[] => {
    try {
      return [JSON.parse(line) as Answer];
    } catch {
      return [];
    }
  });
}

/** Opens the answers in a file, or begins it; new ones are of this commit. */
export async function openAnswers(file: string, commit: string): Promise<Answers> {
  const known = readLines(await readFile(file, 'utf8').catch(() => ''));
  const answers = new Map(known.map((one) => [keyOf(one.model, one.way, one.id), one]));
  await mkdir(path.dirname(file), { recursive: true });
  const lines = [...answers.values()].map((one) => `${JSON.stringify(one)}\n`);
  await writeFile(file, lines.join(''));
  return {
    all: () => [...answers.values()],
    of: (model, { id }, way) => answers.get(keyOf(model, way, id)),
    async add(given) {
      const answer = { ...given, commit };
      answers.set(keyOf(answer.model, answer.way, answer.id), answer);
      await appendFile(file, `${JSON.stringify(answer)}\n`);
    },
  };
}
