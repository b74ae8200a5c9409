/**
 * Whether a file is what its name says, where no checksum is known: magic numbers, headers and the
 * extents that they announce, against the bytes that are there.
 */

/** Reads a part of a file; fewer bytes than asked for only at its end. */
export interface Readable {
  readonly bytes: number;
  read(at: number, length: number): Uint8Array | Promise<Uint8Array>;
}

/** What is wrong with the file, in a few words for a sentence; null where nothing is. */
export async function structureFault(path: string, file: Readable): Promise<string | null> {
  if (file.bytes === 0) return 'it is empty';
  try {
    if (path.endsWith('.wasm')) return await wasmFault(file);
    if (/\.gguf$/i.test(path)) return await ggufFault(file);
    if (path.endsWith('.json')) return await jsonFault(path, file);
    return null;
  } catch (error) {
    if (error instanceof CutOff) return 'it ends too early';
    throw error;
  }
}

class CutOff extends Error {}

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Far more than a library has; a file of noughts would be walked through for long. */
const MOST_SECTIONS = 10_000;

async function wasmFault(file: Readable): Promise<string | null> {
  const start = await file.read(0, 8);
  if (latin(start.subarray(0, 4)) !== '\0asm' || start[4] !== 1) return 'not a WebAssembly library';
  // WebAssembly Core, 5.5: a module is sections to its end, each an id, a size (LEB128), its bytes.
  let at = 8;
  for (let section = 0; at < file.bytes; section += 1) {
    if (section === MOST_SECTIONS) return 'not a WebAssembly library';
    const head = await file.read(at, 6);
    let size = 0;
    let length = 1;
    for (let shift = 0; ; shift += 7, length += 1) {
      const byte = head[length];
      if (byte === undefined) return 'it ends too early';
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    at += 1 + length + size;
  }
  return at > file.bytes ? 'it ends too early' : null;
}

/** Keys without which a file of that name is of no use. */
const KEYS: Readonly<Record<string, string>> = {
  'mlc-chat-config.json': 'tokenizer_files',
  'tensor-cache.json': 'records',
  'ndarray-cache.json': 'records',
  'tokenizer.json': 'model',
};

async function jsonFault(path: string, file: Readable): Promise<string | null> {
  let value: unknown;
  try {
    const bytes = await file.read(0, file.bytes);
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return 'not a file of its kind';
  }
  const key = KEYS[path.slice(path.lastIndexOf('/') + 1)];
  if (key === undefined) return null;
  const found = typeof value === 'object' && value !== null && key in value;
  return found ? null : `it has no ${key}`;
}

/** Values to a block and bytes of a block, by the number of the type (ggml.h, `ggml_type`). */
const BLOCKS: Readonly<Record<number, readonly [values: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
};

/** Bytes of a metadata value, by the number of its type; 8 is a string, 9 an array. */
const SCALARS: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const STRING = 8;
const ARRAY = 9;
/** More than any model has; a damaged count would be walked through for minutes. */
const MOST = 1_000_000;
/** Bytes of a key (ggml's docs/gguf.md: at most 2^16 - 1). */
const LONGEST_KEY = 65_535;

/** GGUF, versions 2 and 3 (ggml's docs/gguf.md): every tensor must lie within the file. */
async function ggufFault(file: Readable): Promise<string | null> {
  const reader = new Reader(file);
  if (latin(await reader.take(4)) !== 'GGUF') return 'not a GGUF';
  const version = await reader.u32();
  if (version !== 2 && version !== 3) return `GGUF of version ${version}`;
  const tensors = await reader.u64();
  const entries = await reader.u64();
  if (tensors === 0 || tensors > MOST || entries > MOST) return 'its header makes no sense';
  let alignment = 32;
  for (let entry = 0; entry < entries; entry += 1) {
    const length = await reader.length();
    if (length > LONGEST_KEY) return 'its header makes no sense';
    const key = latin(await reader.take(length));
    const type = await reader.u32();
    if (key === 'general.alignment' && type === 4) alignment = await reader.u32();
    else if (!(await skipValue(reader, type))) return 'its header makes no sense';
  }
  let end = 0;
  for (let tensor = 0; tensor < tensors; tensor += 1) {
    await reader.skip(await reader.length());
    const dimensions = await reader.u32();
    if (dimensions > 8) return 'its header makes no sense';
    let values = 1;
    for (let at = 0; at < dimensions; at += 1) values *= await reader.u64();
    const block = BLOCKS[await reader.u32()];
    const offset = await reader.u64();
    // Of a type that is not known here only the beginning is sure to be in the file.
    const bytes = block ? Math.ceil(values / block[0]) * block[1] : 1;
    end = Math.max(end, offset + bytes);
  }
  if (alignment === 0) return 'its header makes no sense';
  const data = Math.ceil(reader.at / alignment) * alignment;
  return data + end > file.bytes ? 'it ends too early' : null;
}

async function skipValue(reader: Reader, type: number): Promise<boolean> {
  if (type === STRING) {
    await reader.skip(await reader.length());
    return true;
  }
  if (type === ARRAY) {
    const of = await reader.u32();
    const count = await reader.u64();
    const each = SCALARS[of];
    if (each !== undefined) await reader.skip(each * count);
    else if (of === STRING && count <= 16 * MOST)
      for (let at = 0; at < count; at += 1) await reader.skip(await reader.length());
    else return false;
    return true;
  }
  const bytes = SCALARS[type];
  if (bytes === undefined) return false;
  await reader.skip(bytes);
  return true;
}

const WINDOW = 1 << 20;

/** Little-endian reading from the start on, a window at a time. */
class Reader {
  readonly #file: Readable;
  #window: DataView = new DataView(new ArrayBuffer(0));
  #from = 0;
  at = 0;

  constructor(file: Readable) {
    this.#file = file;
  }

  /** Makes sure that the next bytes are in the window. */
  async #ensure(length: number): Promise<number> {
    const offset = this.at - this.#from;
    if (offset >= 0 && offset + length <= this.#window.byteLength) return offset;
    if (this.at + length > this.#file.bytes) throw new CutOff();
    const size = Math.min(Math.max(length, WINDOW), this.#file.bytes - this.at);
    const bytes = await this.#file.read(this.at, size);
    if (bytes.length < length) throw new CutOff();
    this.#window = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#from = this.at;
    return 0;
  }

  async take(length: number): Promise<Uint8Array> {
    const offset = await this.#ensure(length);
    this.at += length;
    return new Uint8Array(this.#window.buffer, this.#window.byteOffset + offset, length);
  }

  skip(length: number): void {
    this.at += length;
    if (this.at > this.#file.bytes) throw new CutOff();
  }

  async u32(): Promise<number> {
    const offset = await this.#ensure(4);
    this.at += 4;
    return this.#window.getUint32(offset, true);
  }

  async u64(): Promise<number> {
    const offset = await this.#ensure(8);
    this.at += 8;
    return Number(this.#window.getBigUint64(offset, true));
  }

  /** The length of a string that follows; one that cannot be in the file means that it is cut. */
  async length(): Promise<number> {
    const length = await this.u64();
    if (this.at + length > this.#file.bytes) throw new CutOff();
    return length;
  }
}
