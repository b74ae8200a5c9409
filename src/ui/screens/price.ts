/** What a cloud model costs, as it is typed: US dollars for a million tokens, read and written. Pure. */
import type { TokenPrice } from '../../store/records.ts';

/** Dearer than any model; more is a slip of the finger. */
const MOST = 10_000;

export type PriceField = keyof TokenPrice;

export type ReadPrice =
  | { readonly ok: true; /** Null: not known. */ readonly price: TokenPrice | null }
  | { readonly ok: false; readonly field: PriceField; readonly error: string };

/** Reads both fields; both empty is a price that is not known. */
export function readPrice(typed: Readonly<Record<PriceField, string>>): ReadPrice {
  const input = typed.input.trim();
  const output = typed.output.trim();
  if (!input && !output) return { ok: true, price: null };
  for (const [field, text] of [
    ['input', input],
    ['output', output],
  ] as const) {
    const error = faultIn(text);
    if (error) return { ok: false, field, error };
  }
  return { ok: true, price: { input: amountOf(input), output: amountOf(output) } };
}

/** A price as it stands in its field. */
export function priceTyped(amount: number | undefined): string {
  return amount === undefined ? '' : String(amount);
}

function faultIn(text: string): string | null {
  if (!text) return 'This one is missing. Enter both prices, or leave both empty.';
  // One thousand for some, one for others.
  if (!/^\d*[.,]?\d+$/.test(text) || /^[1-9]\d*,\d{3}$/.test(text))
    return 'This is not a price. Enter a number of US dollars, like 0.15.';
  if (amountOf(text) > MOST)
    return `This is more than ${MOST} dollars for a million tokens. Enter the price in US dollars.`;
  return null;
}

function amountOf(text: string): number {
  return Number(text.replace(',', '.'));
}
