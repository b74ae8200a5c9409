/** How control tokens in anybody's text are made harmless. */

/**
 * Breaks up whatever fits, so that no tokenizer takes it for more than letters. Nothing is taken out,
 * for what is left could close up to another token.
 */
export function breaker(control: RegExp): (text: string) => string {
  return (text) =>
    text.replace(control, (token) =>
      token.replace(/</g, '‹').replace(/>/g, '›').replace(/\[/g, '(').replace(/\]/g, ')'),
    );
}

/** The clock line and the system text, as one text. */
export function systemText(system: string | undefined, now: string): string {
  return [system?.trim(), `Now: ${now}`].filter(Boolean).join('\n\n');
}
