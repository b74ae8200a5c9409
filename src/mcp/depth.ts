/**
 * How deep what a server sends may nest. Promise: what passed here can be walked, stored and written
 * as JSON without an overflow of the stack.
 */
import type { ContentBlock } from '../store/records.ts';
import { isObject } from './schema.ts';

/** What nests deeper is neither a definition nor data for anybody. */
export const MAX_DEPTH = 100;

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** The blocks in a server's content, without what is none. */
export function blocksOf(content: unknown): readonly ContentBlock[] {
  const all: unknown[] = Array.isArray(content) ? content : [content];
  return all.filter(
    (block): block is ContentBlock =>
      isObject(block) && typeof block.type === 'string' && !isDeeper(block, MAX_DEPTH),
  );
}
