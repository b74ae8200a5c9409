/** The odds of how a reply begins, out of the log-probabilities of its first token. */

/** A token's text and its natural log-probability. */
export interface TokenOdds {
  readonly token: string;
  readonly logprob: number;
}

/** How many of the likeliest tokens an engine is asked for. */
export const LIKELIEST = 20;

/** ln p of what is not among the likeliest. */
const UNLIKELY = -20;

/** Whether a reply that begins with this token may be one that begins with `opening`. */
export const mayOpen = (token: string, opening: string): boolean =>
  token !== '' && (opening.startsWith(token) || token.startsWith(opening));

/** ln of the sum of probabilities, of which the logarithms are given. */
export function lnSum(values: ArrayLike<number> & Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  let sum = 0;
  for (const value of values) sum += Math.exp(value - most);
  return most + Math.log(sum);
}

/** ln p(opening) − ln p(anything else), of the likeliest tokens. */
export function oddsOf(likeliest: readonly TokenOdds[], opening: string): number {
  const of = (opens: boolean): number =>
    lnSum([
      UNLIKELY,
      ...likeliest
        .filter(({ token }) => mayOpen(token, opening) === opens)
        .map(({ logprob }) => logprob),
    ]);
  return of(true) - of(false);
}
