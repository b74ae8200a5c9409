/**
 * The GGUF container, version 3: reads the header and single tensors of a file, and writes the
 * header of a new one. Knows the layout of tensors in the file, not what their bytes mean
 * (quants.ts). Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
import type { FileHandle } from 'node:fs/promises';

/** Element types of tensors, by their number in the file; `block` elements take `bytes` bytes. */
export const TENSOR_TYPES = {
  F32: { id: 0, block: 1, bytes: 4 },
  F16: { id: 1, block: 1, bytes: 2 },
  Q4_0: { id: 2, block: 32, bytes: 18 },
  Q5_0: { id: 6, block: 32, bytes: 22 },
  Q8_0: { id: 8, block: 32, bytes: 34 },
  Q4_K: { id: 12, block: 256, bytes: 144 },
  Q6_K: { id: 14, block: 256, bytes: 210 },
} as const;

export type TensorType = keyof typeof TENSOR_TYPES;

/** Types of metadata values, by their number in the file. */
const VALUE_TYPES = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'string',
  'array',
  'u64',
  'i64',
  'f64',
] as const;

export type ValueType = (typeof VALUE_TYPES)[number];
export type ScalarType = Exclude<ValueType, 'array'>;
export type Scalar = number | bigint | boolean | string;
export type GgufValue =
  | { readonly type: ScalarType; readonly value: Scalar }
  | { readonly type: 'array'; readonly of: ScalarType; readonly value: readonly Scalar[] };

/** A tensor as the file describes it; `dims[0]` is the length of a row, as ggml counts. */
export interface TensorInfo {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: TensorType;
}

export interface StoredTensor extends TensorInfo {
  /** Byte offset in the file. */
  readonly offset: number;
}

export interface GgufHeader {
  readonly values: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly StoredTensor[];
}

const MAGIC = 0x46554747; // "GGUF", little endian
const VERSION = 3;
const ALIGNMENT = 32;
const FIRST_READ = 8 << 20;

/** Thrown where a file is no GGUF file that this reader knows. */
export class GgufError extends Error {
  override readonly name = 'GgufError';
}

/** Elements of a tensor. */
export function elements(tensor: TensorInfo): number {
  return tensor.dims.reduce((product, dim) => product * dim, 1);
}

/** Bytes of a tensor's data. */
export function tensorBytes(tensor: TensorInfo): number {
  const { block, bytes } = TENSOR_TYPES[tensor.type];
  return (elements(tensor) / block) * bytes;
}

const align = (offset: number) => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

/** Reads values one after another; throws RangeError at the end of its bytes. */
class Cursor {
  readonly #bytes: Buffer;
  offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #take(length: number): number {
    const at = this.offset;
    if (at + length > this.#bytes.length) throw new RangeError('end of the bytes read so far');
    this.offset += length;
    return at;
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  /** A length or an offset: 64 bits in the file, a safe integer here. */
  size(): number {
    const value = this.#bytes.readBigUInt64LE(this.#take(8));
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new GgufError('a length is out of range');
    return Number(value);
  }

  string(): string {
    const length = this.size();
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  valueType(): ValueType {
    const type = VALUE_TYPES[this.u32()];
    if (type === undefined) throw new GgufError('a metadata value has an unknown type');
    return type;
  }

  scalar(type: ScalarType): Scalar {
    const bytes = this.#bytes;
    switch (type) {
      case 'u8':
        return bytes.readUInt8(this.#take(1));
      case 'i8':
        return bytes.readInt8(this.#take(1));
      case 'u16':
        return bytes.readUInt16LE(this.#take(2));
      case 'i16':
        return bytes.readInt16LE(this.#take(2));
      case 'u32':
        return this.u32();
      case 'i32':
        return bytes.readInt32LE(this.#take(4));
      case 'f32':
        return bytes.readFloatLE(this.#take(4));
      case 'bool':
        return bytes.readUInt8(this.#take(1)) !== 0;
      case 'string':
        return this.string();
      case 'u64':
        return bytes.readBigUInt64LE(this.#take(8));
      case 'i64':
        return bytes.readBigInt64LE(this.#take(8));
      case 'f64':
        return bytes.readDoubleLE(this.#take(8));
    }
  }

  value(): GgufValue {
    const type = this.valueType();
    if (type !== 'array') return { type, value: this.scalar(type) };
    const of = this.valueType();
    if (of === 'array') throw new GgufError('arrays of arrays are not supported');
    const length = this.size();
    const value: Scalar[] = [];
    for (let i = 0; i < length; i++) value.push(this.scalar(of));
    return { type, of, value };
  }
}

function parseHeader(bytes: Buffer): GgufHeader {
  const cursor = new Cursor(bytes);
  if (cursor.u32() !== MAGIC) throw new GgufError('not a GGUF file');
  const version = cursor.u32();
  if (version !== VERSION) throw new GgufError(`GGUF version ${version} is not supported`);
  const tensorCount = cursor.size();
  const valueCount = cursor.size();
  const values = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    const key = cursor.string();
    values.set(key, cursor.value());
  }
  const infos: StoredTensor[] = [];
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.string();
    const dims = Array.from({ length: cursor.u32() }, () => cursor.size());
    const id = cursor.u32();
    const type = (Object.keys(TENSOR_TYPES) as TensorType[]).find((t) => TENSOR_TYPES[t].id === id);
    if (!type) throw new GgufError(`${name} has type ${id}, which is not supported`);
    infos.push({ name, dims, type, offset: cursor.size() });
  }
  const alignment = values.get('general.alignment')?.value ?? ALIGNMENT;
  if (alignment !== ALIGNMENT) throw new GgufError(`alignment ${alignment} is not supported`);
  const start = align(cursor.offset);
  return { values, tensors: infos.map((info) => ({ ...info, offset: info.offset + start })) };
}

/** Reads the header of an open file. Throws GgufError where it is no GGUF file of this kind. */
export async function readHeader(file: FileHandle): Promise<GgufHeader> {
  const { size } = await file.stat();
  for (let length = FIRST_READ; ; length *= 2) {
    const bytes = Buffer.alloc(Math.min(length, size));
    await file.read(bytes, 0, bytes.length, 0);
    try {
      return parseHeader(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (length >= size) throw new GgufError('the file ends within its header');
    }
  }
}

/** Reads one tensor's bytes. */
export async function readTensor(file: FileHandle, tensor: StoredTensor): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(tensorBytes(tensor));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, tensor.offset);
  if (bytesRead !== bytes.length) throw new GgufError(`the file ends within ${tensor.name}`);
  return bytes;
}

const number = (bytes: number, write: (buffer: Buffer) => void) => {
  const buffer = Buffer.alloc(bytes);
  write(buffer);
  return buffer;
};
const u32 = (value: number) => number(4, (b) => b.writeUInt32LE(value));
const u64 = (value: number | bigint) => number(8, (b) => b.writeBigUInt64LE(BigInt(value)));
const text = (value: string) => {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
};

function encodeScalar(type: ScalarType, value: Scalar): Buffer {
  switch (type) {
    case 'u8':
      return number(1, (b) => b.writeUInt8(Number(value)));
    case 'i8':
      return number(1, (b) => b.writeInt8(Number(value)));
    case 'u16':
      return number(2, (b) => b.writeUInt16LE(Number(value)));
    case 'i16':
      return number(2, (b) => b.writeInt16LE(Number(value)));
    case 'u32':
      return u32(Number(value));
    case 'i32':
      return number(4, (b) => b.writeInt32LE(Number(value)));
    case 'f32':
      return number(4, (b) => b.writeFloatLE(Number(value)));
    case 'bool':
      return number(1, (b) => b.writeUInt8(value ? 1 : 0));
    case 'string':
      return text(String(value));
    case 'u64':
      return u64(BigInt(value));
    case 'i64':
      return number(8, (b) => b.writeBigInt64LE(BigInt(value)));
    case 'f64':
      return number(8, (b) => b.writeDoubleLE(Number(value)));
  }
}

function encodeValue(value: GgufValue): Buffer {
  const id = u32(VALUE_TYPES.indexOf(value.type));
  if (value.type !== 'array') return Buffer.concat([id, encodeScalar(value.type, value.value)]);
  return Buffer.concat([
    id,
    u32(VALUE_TYPES.indexOf(value.of)),
    u64(value.value.length),
    ...value.value.map((item) => encodeScalar(value.of, item)),
  ]);
}

/**
 * The header of a file with these values and tensors, padded to where the first tensor begins. The
 * tensors' data follow in the same order, each padded by `padding`.
 */
export function encodeHeader(
  values: ReadonlyMap<string, GgufValue>,
  tensors: readonly TensorInfo[],
): Buffer {
  const parts: Buffer[] = [u32(MAGIC), u32(VERSION), u64(tensors.length), u64(values.size)];
  for (const [key, value] of values) parts.push(text(key), encodeValue(value));
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(text(tensor.name), u32(tensor.dims.length), ...tensor.dims.map(u64));
    parts.push(u32(TENSOR_TYPES[tensor.type].id), u64(offset));
    offset = align(offset + tensorBytes(tensor));
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, padding(header.length)]);
}

/** Zeros that follow `bytes` bytes of data up to the next aligned offset. */
export function padding(bytes: number): Buffer {
  return Buffer.alloc(align(bytes) - bytes);
}
