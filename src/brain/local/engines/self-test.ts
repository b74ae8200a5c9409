/**
 * Whether an engine calculates right on this hardware. A broken graphics driver does not say so: it
 * gives a model's tokens as noise, as one token over and over, or as numbers that are none.
 */

/** A beginning that any language model goes on with, in more than one token. */
export const SELF_TEST_PROMPT = 'One, two, three, four,';
/** Tokens that are asked for; a fraction of a second on a slow chip. */
export const SELF_TEST_TOKENS = 8;

export interface SelfTestToken {
  readonly token: string;
  readonly logprob: number;
}

/** As many equal tokens in a row are no language. */
const REPEATED = SELF_TEST_TOKENS;

/** Logarithms of probabilities are at most 0, but for what 32 bits round away. */
const ROUNDING = 1e-3;

/** Replacement characters, unassigned code points, control characters other than white space. */
const UNPRINTABLE = /[\uFFFD\p{Cn}\p{Co}]|(?![\n\r\t])\p{Cc}/u;

/** What is wrong with a greedy continuation, in words for a report; undefined where nothing is. */
export function nonsense(text: string, tokens: readonly SelfTestToken[]): string | undefined {
  const odd = tokens.find(({ logprob }) => !Number.isFinite(logprob) || logprob > ROUNDING);
  if (odd) return `gave a log-probability of ${odd.logprob}`;
  if (tokens.length === 0) return 'gave no token';
  const first = tokens[0]!.token;
  if (tokens.length >= REPEATED && tokens.every(({ token }) => token === first))
    return `gave ${JSON.stringify(first)} over and over`;
  if (UNPRINTABLE.test(text)) return `gave what is no text: ${JSON.stringify(text)}`;
  return undefined;
}
