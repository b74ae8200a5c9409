/** Chance that can be repeated: the same seed, the same choices. */
export interface Chance {
  /** From 0 up to, but not including, 1. */
  number(): number;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  /** True in this share of the cases. */
  happens(share: number): boolean;
  shuffle<T>(list: readonly T[]): T[];
}

/** Mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number): number => from + Math.floor(number() * (to - from + 1));
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError('There is nothing to pick from.');
    return list[whole(0, list.length - 1)] as T;
  };
  return {
    number,
    whole,
    pick,
    happens: (share) => number() < share,
    shuffle(list) {
      const mixed = [...list];
      for (let at = mixed.length - 1; at > 0; at -= 1) {
        const other = whole(0, at);
        [mixed[at], mixed[other]] = [mixed[other] as never, mixed[at] as never];
      }
      return mixed;
    },
  };
}
