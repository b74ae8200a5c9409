/** How large a model is, as far as it is known before it is here. */
import type { CatalogueRow } from './types.ts';

/** Bytes of the row's files: their sum where all are known, else at least the row's own estimate. */
export function sizeOf({ files, approxBytes = 0 }: CatalogueRow): number {
  const known = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return files.every((file) => file.bytes !== undefined) ? known : Math.max(known, approxBytes);
}
