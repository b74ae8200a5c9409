/** A model of the catalogue as the screens' tests need one. */
import type { CatalogueRow } from '../../../src/brain/local/types.ts';

export const modelRow = (id: string, label = `Model ${id}`): CatalogueRow => ({
  id,
  label,
  engine: 'wllama',
  family: 'gemma3',
  note: 'for tests',
  files: [{ path: 'a.gguf', bytes: 100e6 }],
  base: 'https://example.org/',
  licence: { name: 'test', url: 'https://example.org/' },
  contextTokens: 2048,
  maxTools: 5,
  memory: 300e6,
  beside: true,
});
