/**
 * What the bytes of a GGUF tensor mean: decodes the types that our files use into 32-bit floats,
 * and encodes Q8_0. The arithmetic is that of ggml's reference code, in single precision where that
 * matters, so that the same input gives the same bytes on every machine.
 * Layouts: https://github.com/ggml-org/ggml (ggml-quants.c, ggml-common.h)
 */
import { TENSOR_TYPES, type TensorType } from './gguf.ts';

const bits = new DataView(new ArrayBuffer(4));

/** The 16-bit float of IEEE 754 nearest to `value`, ties to even, as its bits. */
export function toHalf(value: number): number {
  bits.setFloat32(0, value);
  const word = bits.getUint32(0);
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // not a number
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // rounds up to infinity
  if (magnitude < 0x38800000) {
    // Subnormal: a multiple of 2^-24, of which the product below is an exact count.
    return sign | roundEven(Math.abs(value) * 2 ** 24);
  }
  // Rebias the exponent, then round 23 bits of fraction to 10; a carry into the exponent is right.
  return sign | ((magnitude - 0x38000000 + 0x0fff + ((magnitude >>> 13) & 1)) >>> 13);
}

function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

const HALVES = Float64Array.from({ length: 1 << 16 }, (_, half) => {
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  const magnitude =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Infinity
          : NaN
        : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
});

/** The value of a 16-bit float's bits. */
export function fromHalf(half: number): number {
  return HALVES[half] ?? NaN;
}

type Decode = (bytes: Buffer, at: number, out: Float32Array, to: number) => void;

/** Decodes the block at `at` into `out` from `to` on. */
const DECODE: Record<TensorType, Decode> = {
  F32(bytes, at, out, to) {
    out[to] = bytes.readFloatLE(at);
  },
  F16(bytes, at, out, to) {
    out[to] = fromHalf(bytes.readUInt16LE(at));
  },
  Q4_0(bytes, at, out, to) {
    const scale = fromHalf(bytes.readUInt16LE(at));
    for (let i = 0; i < 16; i++) {
      const pair = bytes[at + 2 + i]!;
      out[to + i] = scale * ((pair & 15) - 8);
      out[to + 16 + i] = scale * ((pair >>> 4) - 8);
    }
  },
  Q5_0(bytes, at, out, to) {
    const scale = fromHalf(bytes.readUInt16LE(at));
    const high = bytes.readUInt32LE(at + 2);
    for (let i = 0; i < 16; i++) {
      const pair = bytes[at + 6 + i]!;
      out[to + i] = scale * (((pair & 15) | (((high >>> i) & 1) << 4)) - 16);
      out[to + 16 + i] = scale * (((pair >>> 4) | (((high >>> (i + 16)) & 1) << 4)) - 16);
    }
  },
  Q8_0(bytes, at, out, to) {
    const scale = fromHalf(bytes.readUInt16LE(at));
    for (let i = 0; i < 32; i++) out[to + i] = scale * bytes.readInt8(at + 2 + i);
  },
  Q4_K(bytes, at, out, to) {
    const scale = fromHalf(bytes.readUInt16LE(at));
    const floor = fromHalf(bytes.readUInt16LE(at + 2));
    for (let group = 0; group < 8; group++) {
      // Twelve bytes hold eight 6-bit scales and eight 6-bit minima; the last four are split.
      const low = bytes[at + 4 + (group % 4)]!;
      const mid = bytes[at + 8 + (group % 4)]!;
      const top = bytes[at + 12 + (group % 4)]!;
      const s = group < 4 ? low & 63 : (top & 15) | ((low >>> 6) << 4);
      const m = group < 4 ? mid & 63 : (top >>> 4) | ((mid >>> 6) << 4);
      const from = at + 16 + (group >>> 1) * 32;
      const shift = (group & 1) * 4;
      for (let i = 0; i < 32; i++) {
        out[to + group * 32 + i] = scale * s * ((bytes[from + i]! >>> shift) & 15) - floor * m;
      }
    }
  },
  Q6_K(bytes, at, out, to) {
    const scale = fromHalf(bytes.readUInt16LE(at + 208));
    for (let i = 0; i < 256; i++) {
      const half = i >>> 7; // each half of the block: 64 bytes of low bits, 32 of high bits
      const row = (i >>> 5) & 3;
      const column = i & 31;
      const low = bytes[at + half * 64 + (row & 1) * 32 + column]! >>> ((row >>> 1) * 4);
      const high = bytes[at + 128 + half * 32 + column]! >>> (row * 2);
      const value = ((low & 15) | ((high & 3) << 4)) - 32;
      out[to + i] = scale * bytes.readInt8(at + 192 + (i >>> 4)) * value;
    }
  },
};

/** The values of a tensor's bytes. */
export function decode(bytes: Buffer, type: TensorType): Float32Array {
  const { block, bytes: blockBytes } = TENSOR_TYPES[type];
  const blocks = bytes.length / blockBytes;
  const out = new Float32Array(blocks * block);
  const decodeBlock = DECODE[type];
  for (let b = 0; b < blocks; b++) decodeBlock(bytes, b * blockBytes, out, b * block);
  return out;
}

/** Q8_0: blocks of 32 bytes under one 16-bit scale, the largest value at 127. */
export function encodeQ8(values: Float32Array): Buffer {
  const { block, bytes: blockBytes } = TENSOR_TYPES.Q8_0;
  const blocks = values.length / block;
  const out = Buffer.alloc(blocks * blockBytes);
  for (let b = 0; b < blocks; b++) {
    let largest = 0;
    for (let i = 0; i < block; i++) largest = Math.max(largest, Math.abs(values[b * block + i]!));
    const scale = Math.fround(largest / 127);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    out.writeUInt16LE(toHalf(scale), b * blockBytes);
    for (let i = 0; i < block; i++) {
      const scaled = Math.fround(values[b * block + i]! * inverse);
      // Half away from zero, as C's roundf.
      const rounded = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
      out.writeInt8(rounded, b * blockBytes + 2 + i);
    }
  }
  return out;
}
