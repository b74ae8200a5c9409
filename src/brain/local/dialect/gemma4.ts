/**
 * Gemma 4, as the published template of E2B has it (google/gemma-4-E2B-it). The templates of the
 * larger models put an empty thought before an answer without thinking; that of E2B does not.
 */
import { braces } from './braces.ts';
import { breaker, systemText } from './neutral.ts';

const START = '<|turn>';
const END = '<turn|>\n';

/** Tokens of the form `<|name>`, `<name|>` and `<|"|>`, and those without a bar. */
const CONTROL =
  /<\|(?:"|[a-z_]{1,40})\|?>|<[a-z_]{1,40}\|>|<(?:bos|eos|pad|unk|mask|unused\d+)>|\[(?:multimodal|@BOS@)\]/gi;
const neutralise = breaker(CONTROL);

export const gemma4 = braces({
  start: START,
  end: END,
  declaration: ['<|tool>', '<tool|>'],
  call: ['<|tool_call>', '<tool_call|>'],
  response: ['<|tool_response>', '<tool_response|>'],
  quote: '<|"|>',
  character: '([^<] | "<" [^<|])',
  afterMark: '[^<|]',
  think: { open: '<|channel>thought\n', close: '<channel|>' },
  stop: ['<turn|>', '<|turn>', '<|tool_response>'],
  neutralise,
  opening: ({ system, now, think }, declarations) =>
    `${START}system\n${think ? '<|think|>\n' : ''}${neutralise(systemText(system, now))}${declarations}${END}`,
});
