/**
 * Reads what a GGUF file says of itself, from its first bytes. A file of anybody's: nothing that it
 * says is believed before it is checked.
 *
 * Promises: never throws anything but GgufHeaderError; never allocates by a number that the file
 * says; its time and memory are bounded by the bytes that it is given.
 * Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */

/**
 * not-gguf: another kind of file · version: one that this reader does not know · cut: the header goes
 * on behind these bytes · damaged: it contradicts itself · type: numbers packed in an unknown way
 */
export type HeaderFault = 'not-gguf' | 'version' | 'cut' | 'damaged' | 'type';

export class GgufHeaderError extends Error {
  override readonly name = 'GgufHeaderError';
  readonly fault: HeaderFault;

  constructor(fault: HeaderFault, detail: string) {
    super(detail);
    this.fault = fault;
  }
}

export interface GgufHeader {
  readonly architecture: string;
  readonly name: string | null;
  readonly licence: string | null;
  /** Tokens of the window that it was trained for; null where the file does not say. */
  readonly contextTokens: number | null;
  readonly layers: number | null;
  /** Heads that keep keys and values; the most of any layer. */
  readonly kvHeads: number | null;
  readonly headDim: number | null;
  /** Tokens of the vocabulary; 0 where there is none. */
  readonly vocabulary: number;
  /** Its chat template (Jinja), as far as it is a text of sensible length. */
  readonly template: string | null;
  /** Of how many files this is one. */
  readonly parts: number;
  /** How its numbers are packed: type → number of weights, most first. */
  readonly types: readonly (readonly [type: string, weights: number])[];
  readonly parameters: number;
  /** Bytes of the whole file, as its tensors lie in it. */
  readonly bytes: number;
}

const MAGIC = 0x46554747; // "GGUF", little endian
const VERSIONS: ReadonlySet<number> = new Set([2, 3]);
const ALIGNMENT = 32;
/** Longest key, name or dimension list that is taken for one. */
const MAX_NAME = 4096;
const MAX_TEMPLATE = 1 << 20;
const MAX_DIMS = 4;
/** Numbers of an array that are looked at: one a layer. */
const MAX_LAYERS = 4096;

/** ggml's types by number: name, weights in a block, bytes of a block. */
const TYPES: ReadonlyMap<number, readonly [name: string, block: number, bytes: number]> = new Map([
  [0, ['F32', 1, 4]],
  [1, ['F16', 1, 2]],
  [2, ['Q4_0', 32, 18]],
  [3, ['Q4_1', 32, 20]],
  [6, ['Q5_0', 32, 22]],
  [7, ['Q5_1', 32, 24]],
  [8, ['Q8_0', 32, 34]],
  [9, ['Q8_1', 32, 36]],
  [10, ['Q2_K', 256, 84]],
  [11, ['Q3_K', 256, 110]],
  [12, ['Q4_K', 256, 144]],
  [13, ['Q5_K', 256, 176]],
  [14, ['Q6_K', 256, 210]],
  [15, ['Q8_K', 256, 292]],
  [16, ['IQ2_XXS', 256, 66]],
  [17, ['IQ2_XS', 256, 74]],
  [18, ['IQ3_XXS', 256, 98]],
  [19, ['IQ1_S', 256, 50]],
  [20, ['IQ4_NL', 32, 18]],
  [21, ['IQ3_S', 256, 110]],
  [22, ['IQ2_S', 256, 82]],
  [23, ['IQ4_XS', 256, 136]],
  [24, ['I8', 1, 1]],
  [25, ['I16', 1, 2]],
  [26, ['I32', 1, 4]],
  [27, ['I64', 1, 8]],
  [28, ['F64', 1, 8]],
  [29, ['IQ1_M', 256, 56]],
  [30, ['BF16', 1, 2]],
  [34, ['TQ1_0', 256, 54]],
  [35, ['TQ2_0', 256, 66]],
  [39, ['MXFP4', 32, 17]],
]);

/** Bytes of a metadata value by its type's number; strings (8) and arrays (9) have none. */
const SCALAR_BYTES: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 4],
  [5, 4],
  [6, 4],
  [7, 1],
  [10, 8],
  [11, 8],
  [12, 8],
]);
const STRING = 8;
const ARRAY = 9;

type Value = number | string | { readonly length: number; readonly most: number };

class Cursor {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Goes on by so many bytes; gives where they begin. */
  take(length: number): number {
    const { at } = this;
    if (length > this.#bytes.length - at)
      throw new GgufHeaderError('cut', `${length} bytes are wanted at ${at}`);
    this.at = at + length;
    return at;
  }

  u32(): number {
    return this.#view.getUint32(this.take(4), true);
  }

  /** A count, a length or an offset: 64 bits in the file, a safe integer here. */
  size(): number {
    const value = this.#view.getBigUint64(this.take(8), true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw new GgufHeaderError('damaged', `a length of ${value}`);
    return Number(value);
  }

  /** A text of at most so many bytes; null where it is longer, which is passed over. */
  text(most: number): string | null {
    const length = this.size();
    const at = this.take(length);
    if (length > most) return null;
    return new TextDecoder().decode(this.#bytes.subarray(at, at + length));
  }

  name(): string {
    const text = this.text(MAX_NAME);
    if (text === null) throw new GgufHeaderError('damaged', 'a name is too long');
    return text;
  }

  /** A number or a truth value of this type. */
  scalar(type: number): number {
    const bytes = SCALAR_BYTES.get(type);
    if (bytes === undefined) throw new GgufHeaderError('damaged', `a value of type ${type}`);
    const at = this.take(bytes);
    const view = this.#view;
    switch (type) {
      case 0:
      case 7:
        return view.getUint8(at);
      case 1:
        return view.getInt8(at);
      case 2:
        return view.getUint16(at, true);
      case 3:
        return view.getInt16(at, true);
      case 4:
        return view.getUint32(at, true);
      case 5:
        return view.getInt32(at, true);
      case 6:
        return view.getFloat32(at, true);
      case 10:
        return Number(view.getBigUint64(at, true));
      case 11:
        return Number(view.getBigInt64(at, true));
      default:
        return view.getFloat64(at, true);
    }
  }

  /** One metadata value; of a text only what is wanted of it is read. */
  value(wanted: boolean): Value | null {
    const type = this.u32();
    if (type === STRING) return this.text(wanted ? MAX_TEMPLATE : 0);
    if (type !== ARRAY) return this.scalar(type);
    return this.#array(wanted);
  }

  #array(wanted: boolean): Value {
    const of = this.u32();
    const length = this.size();
    let most = 0;
    if (of === STRING) for (let item = 0; item < length; item += 1) this.take(this.size());
    else {
      const bytes = SCALAR_BYTES.get(of);
      // Arrays of arrays are allowed by the format, and written by nobody.
      if (bytes === undefined) throw new GgufHeaderError('damaged', `an array of type ${of}`);
      if (wanted && length <= MAX_LAYERS)
        for (let item = 0; item < length; item += 1) most = Math.max(most, this.scalar(of));
      else this.take(length * bytes);
    }
    return { length, most };
  }
}

/** What is read of `ARCHITECTURE.…`; the rest of the metadata is passed over. */
const WANTED: ReadonlySet<string> = new Set([
  'context_length',
  'embedding_length',
  'block_count',
  'attention.head_count',
  'attention.head_count_kv',
  'attention.key_length',
]);
const WANTED_WHOLE: ReadonlySet<string> = new Set([
  'general.architecture',
  'general.name',
  'general.license',
  'general.alignment',
  'split.count',
  'tokenizer.chat_template',
  'tokenizer.ggml.tokens',
]);

const isWanted = (key: string): boolean =>
  WANTED_WHOLE.has(key) || WANTED.has(key.slice(key.indexOf('.') + 1));

interface Tensors {
  readonly types: GgufHeader['types'];
  readonly parameters: number;
  /** Bytes from the first tensor to the end of the last. */
  readonly bytes: number;
}

function readTensors(cursor: Cursor, count: number): Tensors {
  const weights = new Map<string, number>();
  let parameters = 0;
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const name = cursor.name();
    const dims = cursor.u32();
    if (dims > MAX_DIMS) throw new GgufHeaderError('damaged', `${name} has ${dims} dimensions`);
    let elements = 1;
    for (let dim = 0; dim < dims; dim += 1) elements *= cursor.size();
    const id = cursor.u32();
    const type = TYPES.get(id);
    if (!type) throw new GgufHeaderError('type', `${name} is of type ${id}`);
    const [typeName, block, blockBytes] = type;
    const end = cursor.size() + Math.ceil(elements / block) * blockBytes;
    if (!Number.isSafeInteger(end)) throw new GgufHeaderError('damaged', `${name} is too large`);
    weights.set(typeName, (weights.get(typeName) ?? 0) + elements);
    parameters += elements;
    bytes = Math.max(bytes, end);
  }
  const types = [...weights].toSorted(([, a], [, b]) => b - a);
  return { types, parameters, bytes };
}

/** Reads a header out of a file's first bytes. Throws GgufHeaderError, `cut` where it needs more. */
export function readGgufHeader(bytes: Uint8Array): GgufHeader {
  const cursor = new Cursor(bytes);
  if (cursor.u32() !== MAGIC) throw new GgufHeaderError('not-gguf', 'no GGUF file');
  const version = cursor.u32();
  if (!VERSIONS.has(version)) throw new GgufHeaderError('version', `GGUF version ${version}`);
  const tensorCount = cursor.size();
  const valueCount = cursor.size();
  const values = new Map<string, Value>();
  for (let index = 0; index < valueCount; index += 1) {
    const key = cursor.name();
    const wanted = isWanted(key);
    const value = cursor.value(wanted);
    if (wanted && value !== null) values.set(key, value);
  }
  const tensors = readTensors(cursor, tensorCount);

  const text = (key: string): string | null => {
    const value = values.get(key);
    return typeof value === 'string' ? value : null;
  };
  const count = (key: string): number | null => {
    const value = values.get(key);
    const number = typeof value === 'object' ? value.most : value;
    return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null;
  };
  const architecture = text('general.architecture');
  if (!architecture) throw new GgufHeaderError('damaged', 'it names no architecture');
  const of = (key: string): number | null => count(`${architecture}.${key}`);
  const heads = of('attention.head_count');
  const hidden = of('embedding_length');
  const tokens = values.get('tokenizer.ggml.tokens');
  const alignment = count('general.alignment') ?? ALIGNMENT;
  return {
    architecture,
    name: text('general.name'),
    licence: text('general.license'),
    contextTokens: of('context_length'),
    layers: of('block_count'),
    kvHeads: of('attention.head_count_kv') ?? heads,
    headDim: of('attention.key_length') ?? (heads && hidden ? Math.floor(hidden / heads) : null),
    vocabulary: typeof tokens === 'object' ? tokens.length : 0,
    template: text('tokenizer.chat_template'),
    parts: count('split.count') ?? 1,
    types: tensors.types,
    parameters: tensors.parameters,
    bytes: Math.ceil(cursor.at / alignment) * alignment + tensors.bytes,
  };
}
