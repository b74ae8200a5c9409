/**
 * The table of cosines and sines that the WebGPU library rotates queries and keys with, in exact
 * integer arithmetic: mathematical libraries differ in the last bit, and the file's hash is pinned.
 */

const BITS = 120n;
const ONE = 1n << BITS;

const times = (x: bigint, y: bigint) => (x * y) >> BITS;

/** Natural logarithm of 2 and of 10, by the series of the inverse hyperbolic tangent. */
function logarithm(value: 2 | 10): bigint {
  const artanh = (denominator: bigint) => {
    let sum = 0n;
    for (let k = 1n, power = ONE / denominator; power > 0n; k += 2n) {
      sum += power / k;
      power /= denominator * denominator;
    }
    return sum;
  };
  const two = 2n * artanh(3n);
  return value === 2 ? two : 3n * two + 2n * artanh(9n); // ln 10 = 3 ln 2 + ln 1.25
}

/** e to the power of -x, for x of at least 0. */
function exponential(x: bigint): bigint {
  const halvings = 8n;
  const small = x >> halvings;
  let sum = 0n;
  for (let k = 1n, term = ONE; term !== 0n; k++) {
    sum += term;
    term = -times(term, small) / k;
  }
  for (let i = 0n; i < halvings; i++) sum = times(sum, sum);
  return sum;
}

/** Cosine and sine of an angle between 0 and 1. */
function unitVector(angle: bigint): { cos: bigint; sin: bigint } {
  let cos = 0n;
  let sin = 0n;
  for (let k = 0n, term = ONE; term !== 0n;) {
    cos += term;
    term = times(term, angle) / ++k;
    sin += term;
    term = -times(term, angle) / ++k;
  }
  return { cos, sin };
}

const toNumber = (x: bigint) => Number(x) / 2 ** Number(BITS);

/**
 * For each base, position and pair of dimensions: cosine and sine of position · base^(-2i / headDim),
 * in the order [base][position][i][cos, sin]. Bases are powers of ten: 10^`exponents`.
 */
export function ropeTable(
  exponents: readonly number[],
  positions: number,
  headDim: number,
): Float32Array {
  const pairs = headDim / 2;
  const ln10 = logarithm(10);
  const table = new Float32Array(exponents.length * positions * pairs * 2);
  exponents.forEach((exponent, which) => {
    for (let i = 0; i < pairs; i++) {
      const step = unitVector(exponential((ln10 * BigInt(exponent * 2 * i)) / BigInt(headDim)));
      let { cos, sin } = { cos: ONE, sin: 0n };
      for (let position = 0; position < positions; position++) {
        const at = ((which * positions + position) * pairs + i) * 2;
        table[at] = toNumber(cos);
        table[at + 1] = toNumber(sin);
        [cos, sin] = [
          times(cos, step.cos) - times(sin, step.sin),
          times(cos, step.sin) + times(sin, step.cos),
        ];
      }
    }
  });
  return table;
}
