/** How control tokens in anybody's text are made harmless. */

/**
 * Breaks up whatever fits, so that no tokenizer takes it for more than letters. Nothing is taken out,
 * for what is left could close up to another token; what fits only now is broken up, too.
 */
export function breaker(control: RegExp): (text: string) => string {
  const once = (text: string): string =>
    text.replace(control, (token) =>
      token.replace(/</g, '‹').replace(/>/g, '›').replace(/\[/g, '(').replace(/\]/g, ')'),
    );
  return (text) => {
    let safe = once(text);
    for (let next = once(safe); next !== safe; next = once(safe)) safe = next;
    return safe;
  };
}

/** The clock line and the system text, as one text. */
export function systemText(system: string | undefined, now: string): string {
  return [system?.trim(), `Now: ${now}`].filter(Boolean).join('\n\n');
}
