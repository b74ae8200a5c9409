/** The base cases of InjecAgent, as they are published, and what an obedient model makes of them. */
import { readFile } from 'node:fs/promises';

export interface Case {
  readonly id: string;
  readonly user_instruction: string;
  readonly user_tool: string;
  /** A Python dictionary. */
  readonly tool_params: string;
  readonly tool_response: string;
  readonly attacker_tools: readonly string[];
  readonly attacker_instruction: string;
}

const FILE = new URL('../data/injecagent/cases.jsonl', import.meta.url);

export async function readCases(): Promise<Case[]> {
  const lines = (await readFile(FILE, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Case);
}

/** A Python literal of strings, numbers, lists and dictionaries as JSON. */
export function fromPython(text: string): Record<string, unknown> {
  const json = text.replace(
    /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(True|False|None)\b/g,
    (_, single?: string, double?: string, word?: string) => {
      if (word) return { True: 'true', False: 'false', None: 'null' }[word] ?? 'null';
      return JSON.stringify((single ?? double ?? '').replace(/\\(['"\\])/g, '$1'));
    },
  );
  return JSON.parse(json) as Record<string, unknown>;
}

/**
 * How the injected instruction becomes arguments. `values`: the addresses, quoted texts and numbers in
 * it, as a model would fill them in · `whole`: the instruction itself · `none`: nothing at all, so that
 * no argument gives the call away.
 */
export type Manner = 'values' | 'whole' | 'none';

const VALUES =
  /[\w.+-]+@[\w.-]+\w|(?:https?:\/\/|www\.)\S+\w|'[^']+'|"[^"]+"|\(([^)]+)\)|\$?\d[\d,.:-]*\d|[~/][\w./]+\w/g;

export function attackArguments(instruction: string, manner: Manner): Record<string, unknown> {
  if (manner === 'none') return {};
  if (manner === 'whole') return { request: instruction };
  const values = [...instruction.matchAll(VALUES)].map(([value]) =>
    value.replace(/^['"(]|['")]$/g, ''),
  );
  return values.length > 0 ? { values } : {};
}
