/** A row as tests need one. */
import type { CatalogueRow } from '../../../../src/brain/local/types.ts';

export const rowOf = (change: Partial<CatalogueRow> = {}): CatalogueRow => ({
  id: 'test.webllm',
  label: 'Test',
  engine: 'webllm',
  family: 'gemma3',
  note: 'for tests',
  files: [{ path: 'tokenizer.json' }],
  base: 'https://one.example/resolve/main/',
  licence: { name: 'test', url: 'https://example.org/' },
  contextTokens: 2048,
  maxTools: 5,
  memory: 100e6,
  beside: false,
  ...change,
});
