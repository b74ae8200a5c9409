/**
 * A model as one file, to carry it from one browser to another.
 *
 * The file: `DEFTMODL`, the header's length in bytes (unsigned, 32 bits, little-endian), the header as
 * JSON, then the files' contents one after the other in the header's order. The header is
 * `{ "version": 1, "row": CatalogueRow, "files": [{ "path", "bytes", "sha256" }] }`.
 *
 * Promises: nothing is read into memory but the header; what comes in is verified against the header
 * like a download, and the header itself is believed only as far as it makes sense.
 */
import { contentOf, stored, type VerifiedFile } from './files.ts';
import { isRecord, toRow } from './catalogue.ts';
import { FILE_BASE } from './own-models.ts';
import { isOpen, wholeRow } from './resolve.ts';
import type { CatalogueRow } from './types.ts';

const MAGIC = 'DEFTMODL';
const START = MAGIC.length + 4;
/** No header of an honest file is longer, in bytes. */
const LONGEST = 1 << 20;

interface Header {
  readonly version: 1;
  readonly row: CatalogueRow;
  readonly files: readonly VerifiedFile[];
}

/** The stored model as one file; null where a part of it is missing. */
export async function pack(row: CatalogueRow): Promise<Blob | null> {
  const found = await stored(row);
  if (!found.complete) return null;
  const contents = await Promise.all(found.files.map((file) => contentOf(row, file.path)));
  const parts = contents.filter((content) => content !== null);
  if (parts.length < contents.length) return null;
  const header: Header = { version: 1, row: found.row, files: found.files };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, text.length, true);
  return new Blob([MAGIC, length.buffer, text, ...parts], { type: 'application/octet-stream' });
}

export type Unpacked =
  | {
      readonly ok: true;
      readonly row: CatalogueRow;
      /** The files' contents, by path. */
      readonly local: Readonly<Record<string, Blob>>;
    }
  | { readonly ok: false; readonly message: string; readonly advice: string };

const refuse = (message: string): Unpacked => ({
  ok: false,
  message,
  advice: 'Save the model to a file again in the other browser, and carry that file over whole.',
});

/** What a file holds, as its header tells it; its contents are not verified yet. */
export async function unpack(file: Blob): Promise<Unpacked> {
  const start = await file.slice(0, START).arrayBuffer();
  const magic = new TextDecoder().decode(start.slice(0, MAGIC.length));
  if (magic !== MAGIC || start.byteLength < START)
    return refuse('This is not a model that Deft has saved.');
  const length = new DataView(start).getUint32(MAGIC.length, true);
  const header = length <= LONGEST ? parse(await file.slice(START, START + length).text()) : null;
  if (!header) return refuse('The file of this model is damaged at its beginning.');
  const local: Record<string, Blob> = {};
  let at = START + length;
  for (const { path, bytes } of header.files) {
    local[path] = file.slice(at, at + bytes);
    at += bytes;
  }
  if (at !== file.size) return refuse('The file of this model is not whole.');
  return { ok: true, row: header.row, local };
}

function parse(text: string): Header | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || value.version !== 1) return null;
  const { row: told, files } = value;
  if (!Array.isArray(files) || !files.every(isFile)) return null;
  const row = rowOf(told, files);
  if (!row) return null;
  const whole = wholeRow(row, undefined);
  const paths = new Set(files.map((file) => file.path));
  const complete =
    whole !== null && !isOpen(row) && whole.files.every(({ path }) => paths.has(path));
  return complete && paths.size === files.length ? { version: 1, row, files } : null;
}

const isFile = (value: unknown): value is VerifiedFile =>
  isRecord(value) &&
  typeof value.path === 'string' &&
  Number.isSafeInteger(value.bytes) &&
  Number(value.bytes) > 0 &&
  /^[0-9a-f]{64}$/.test(String(value.sha256));

const isWeb = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

/** A row is believed as far as one of a list would be, and lies in the web or in a file of a phone. */
function rowOf(told: unknown, files: readonly VerifiedFile[]): CatalogueRow | null {
  if (!isRecord(told)) return null;
  const { base, own } = told;
  if (!(isWeb(base) || base === FILE_BASE) || !String(base).endsWith('/')) return null;
  const wanted = files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  const from: Pick<CatalogueRow, 'beside' | 'own'> =
    own === 'file' || own === 'url' ? { beside: false, own } : { beside: false };
  const row = toRow({ ...told, folder: base, files: wanted }, String(base), from);
  if (!row || !(row.licence.url === '' || isWeb(row.licence.url))) return null;
  return row.library === undefined || isWeb(row.library) ? row : null;
}
