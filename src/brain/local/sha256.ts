/**
 * SHA-256 (FIPS 180-4) of data that arrives in pieces. Web Crypto wants all of it in memory at once,
 * which a phone does not have for a model's file.
 */

/** The first 32 bits of the fractional parts of a root of the first primes. */
function constants(count: number, root: (prime: number) => number): Uint32Array {
  const found = new Uint32Array(count);
  let filled = 0;
  for (let candidate = 2; filled < count; candidate += 1) {
    let prime = true;
    for (let by = 2; by * by <= candidate; by += 1) if (candidate % by === 0) prime = false;
    if (prime) found[filled++] = (root(candidate) % 1) * 2 ** 32;
  }
  return found;
}

const ROUND = new Int32Array(constants(64, Math.cbrt));
const START = constants(8, Math.sqrt);

const BLOCK = 64;

export class Sha256 {
  readonly #state = START.slice();
  readonly #words = new Int32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  #held = 0;
  #bytes = 0;

  update(data: Uint8Array): this {
    this.#bytes += data.length;
    let at = 0;
    if (this.#held > 0) {
      at = Math.min(BLOCK - this.#held, data.length);
      this.#rest.set(data.subarray(0, at), this.#held);
      this.#held += at;
      if (this.#held < BLOCK) return this;
      this.#block(new DataView(this.#rest.buffer), 0);
      this.#held = 0;
    }
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (; at + BLOCK <= data.length; at += BLOCK) this.#block(view, at);
    this.#rest.set(data.subarray(at));
    this.#held = data.length - at;
    return this;
  }

  /** The digest in hex. Ends the calculation: call it once. */
  hex(): string {
    const bits = this.#bytes * 8;
    const padding = new Uint8Array((this.#held < 56 ? 56 : 120) - this.#held + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('');
  }

  #block(view: DataView, at: number): void {
    const w = this.#words;
    for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(at + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    const state = this.#state;
    let a = state[0]! | 0;
    let b = state[1]! | 0;
    let c = state[2]! | 0;
    let d = state[3]! | 0;
    let e = state[4]! | 0;
    let f = state[5]! | 0;
    let g = state[6]! | 0;
    let h = state[7]! | 0;
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + (g ^ (e & (f ^ g))) + ROUND[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (c & (a ^ b)))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] = state[0]! + a;
    state[1] = state[1]! + b;
    state[2] = state[2]! + c;
    state[3] = state[3]! + d;
    state[4] = state[4]! + e;
    state[5] = state[5]! + f;
    state[6] = state[6]! + g;
    state[7] = state[7]! + h;
  }
}
