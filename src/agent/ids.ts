/**
 * Ids of calls, our own and never the model's: a decision is kept by call id, so an id that a model
 * could choose would let it reuse an earlier yes. Nine letters and digits, which every cloud's wire
 * takes (Mistral takes nothing else).
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 9;

export function newCallId(): string {
  let id = '';
  while (id.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH)))
      // Bytes past the last whole alphabet are thrown away, so that every letter is as likely.
      if (byte < ALPHABET.length * 4 && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length];
  }
  return id;
}
