/** Which dialect each family of models speaks. */
import type { CatalogueRow, Family } from '../types.ts';
import { chatml } from './chatml.ts';
import type { Dialect } from './dialect.ts';
import { functiongemma } from './functiongemma.ts';
import { gemma3 } from './gemma3.ts';
import { gemma3Plain } from './gemma3-plain.ts';
import { gemma4 } from './gemma4.ts';
import { llama3 } from './llama3.ts';
import { qwen3 } from './qwen3.ts';

export const DIALECTS: Readonly<Record<Family, Dialect>> = {
  gemma3,
  functiongemma,
  gemma4,
  qwen3,
  llama3,
  chatml,
};

/** The dialect of a model: of weights that know nothing of this app's own, the plain one. */
export function dialectOf({
  family,
  untaught,
}: Pick<CatalogueRow, 'family' | 'untaught'>): Dialect {
  return family === 'gemma3' && untaught ? gemma3Plain : DIALECTS[family];
}
