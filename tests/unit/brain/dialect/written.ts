/** Replies as each family writes them, and the ways in which models break them. */
import fc from 'fast-check';
import type { Family } from '../../../../src/brain/local/types.ts';

/** A call as each family writes it. */
export const WRITTEN: Readonly<Record<Family, string>> = {
  gemma3: '```tool_code\nget_weather(city="Goa", date="tomorrow")\n```',
  functiongemma:
    '<start_function_call>call:get_weather{city:<escape>Goa<escape>,date:<escape>tomorrow<escape>}<end_function_call>',
  gemma4: '<|tool_call>call:get_weather{city:<|"|>Goa<|"|>,date:<|"|>tomorrow<|"|>}<tool_call|>',
  qwen3:
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}\n</tool_call>',
  llama3: '{"name": "get_weather", "parameters": {"city": "Goa", "date": "tomorrow"}}',
  chatml:
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}\n</tool_call>',
};
export const THOUGHT: Partial<Readonly<Record<Family, string>>> = {
  qwen3: '<think>\nRain, <b>perhaps</b>.\n</think>\n\n',
  gemma4: '<|channel>thought\nRain, <b>perhaps</b>.\n<channel|>',
};

const families = Object.keys(WRITTEN) as Family[];

/** What calls are made of, whole and in pieces. */
export const SCRAPS = [
  ...Object.values(WRITTEN),
  ...Object.values(WRITTEN).flatMap((text) => text.split(/(?<=[<>|{}(),:"])/)),
  ...Object.values(THOUGHT),
  '```json\n',
  '```',
  '\n',
  '[',
  ']',
  'null',
  'None',
  '\\',
  "'",
  '“',
  '{"name": "delete_all", "arguments": {}}',
  'delete_all(really=True)',
  'call:delete_all{really:true}',
  '{"function": {"name": "pay"}}',
  '\u{1F600}',
  '\uD800',
  '-1e999',
  '__proto__',
];

/** A call broken in up to four of the ways in which models break them, and who is to read it. */
export const brokenReply = fc
  .tuple(
    fc.constantFrom(...families),
    fc.constantFrom(...families),
    fc.array(
      fc.tuple(
        fc.constantFrom('drop', 'double', 'swap', 'insert', 'cut'),
        fc.nat(),
        fc.constantFrom(...SCRAPS),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    fc.constantFrom(
      'get_weather',
      'delete_all',
      'get weather',
      'GET_WEATHER',
      'tools.get_weather',
      '',
    ),
  )
  .map(([reader, writer, faults, name]) => {
    let text = WRITTEN[writer].replace('get_weather', name);
    for (const [fault, where, scrap] of faults) {
      const at = text.length === 0 ? 0 : where % text.length;
      const [before, char, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
      if (fault === 'drop') text = before + after;
      else if (fault === 'double') text = before + char + char + after;
      else if (fault === 'swap') text = before + after.charAt(0) + char + after.slice(1);
      else if (fault === 'insert') text = before + scrap + char + after;
      else text = before;
    }
    return { reader, text };
  });
