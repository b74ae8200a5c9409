import { describe, expect, it } from 'vitest';
import { resultText } from '../../../src/mcp/render.ts';
import type { ContentBlock, Outcome } from '../../../src/store/records.ts';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const result = (content: ContentBlock[], structured?: unknown): Outcome => ({
  kind: 'result',
  content,
  ...(structured === undefined ? {} : { structured }),
});

describe('what a model reads of an outcome', () => {
  it.each<[string, Outcome, string]>([
    [
      'structured content is bare, compact JSON',
      result([text('{\n  "sky": "clear"\n}')], { sky: 'clear', high_c: 31 }),
      '{"sky":"clear","high_c":31}',
    ],
    [
      'what is wrong with a result is said first',
      { kind: 'result', content: [], structured: { high: '?' }, note: 'high is no number.' },
      '[note: high is no number.]\n{"high":"?"}',
    ],
    ['JSON that came as text is compact, too', result([text('{ "a": [1, 2] }')]), '{"a":[1,2]}'],
    [
      'free text is marked with its server',
      result([text('Sunny.'), text('Warm.')]),
      '[from Travel]\nSunny.\nWarm.',
    ],
    [
      'images are named and not inlined',
      result([text('A map:'), { type: 'image', mimeType: 'image/png', data: 'A'.repeat(4096) }]),
      '[from Travel]\nA map:\n[image: image/png, 3 KB; shown to the user]',
    ],
    [
      'resources that are text are read',
      result([{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }]),
      '[from Travel]\n[resource: file:///a]\ninside',
    ],
    [
      'links are named',
      result([{ type: 'resource_link', uri: 'https://a.example/', name: 'A' }]),
      '[from Travel]\n[link: A https://a.example/]',
    ],
    ['unknown pieces are named', result([{ type: 'hologram' }]), '[from Travel]\n[hologram]'],
    ['nothing is a success', result([]), '{"ok":true}'],
    [
      'errors of a tool are one short phrase',
      { kind: 'tool_error', content: [text('No such\ncity.')] },
      '{"error":"No such city."}',
    ],
    [
      'an error without a word says so',
      { kind: 'tool_error', content: [] },
      '{"error":"the tool failed without a word"}',
    ],
    [
      'a server that cannot be reached is an error in words',
      { kind: 'unavailable', code: 'offline', message: 'There is no network.', advice: 'Wait.' },
      '{"error":"There is no network. Wait."}',
    ],
    [
      'what nobody knows is said as such',
      { kind: 'unknown', message: 'The answer was lost.', advice: 'It may have taken effect.' },
      '{"error":"The answer was lost. It may have taken effect."}',
    ],
  ])('%s', (_, outcome, expected) => {
    expect(resultText(outcome, 'Travel', 10_000)).toBe(expected);
  });

  it('is cut to its budget, and says how much is shown', () => {
    const shown = resultText(result([], { text: 'x'.repeat(52_000) }), 'Docs', 11_000);
    expect(shown.length).toBeLessThanOrEqual(11_000);
    expect(shown).toMatch(/\n\[cut: 10,9\d\d of 52,011 characters shown\]$/);
  });

  it('is never cut inside of a character', () => {
    for (let budget = 60; budget < 70; budget += 1) {
      const shown = resultText(result([text('😀'.repeat(200))]), 'X', budget);
      expect(shown.length).toBeLessThanOrEqual(budget);
      expect(shown).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    }
  });
});
