/** Which dialect each family of models speaks. */
import type { Family } from '../types.ts';
import type { Dialect } from './dialect.ts';
import { gemma3 } from './gemma3.ts';

export const DIALECTS: Readonly<Record<Family, Dialect>> = {
  gemma3,
  functiongemma: gemma3,
  gemma4: gemma3,
  qwen3: gemma3,
  llama3: gemma3,
  chatml: gemma3,
};
