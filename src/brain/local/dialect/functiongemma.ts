/**
 * FunctionGemma 270M, as its published format has it ("FunctionGemma formatting and best practices",
 * ai.google.dev): tools are declared in a developer's turn that begins with the sentence which makes
 * it call them, after the clock in the words of its training.
 *
 * A system text is left out: training knew none.
 */
import { braces } from './braces.ts';
import { breaker } from './neutral.ts';

const START = '<start_of_turn>';
const END = '<end_of_turn>\n';
const TRIGGER = 'You are a model that can do function calling with the following functions';

const CONTROL =
  /<(?:(?:start|end)_(?:of_turn|of_image|image|function_(?:declaration|call|response))|escape|bos|eos|pad|unk|mask|image_soft_token|unused\d+)>|\[(?:multimodal|@BOS@)\]/gi;
const neutralise = breaker(CONTROL);

/** `Sunday 2026-11-29 14:05, Asia/Kolkata` in the words of the training. */
function clock(now: string): string {
  const [, weekday, day, time] = /^(\p{L}+) (\d{4}-\d\d-\d\d) (\d\d:\d\d)/u.exec(now) ?? [];
  if (!weekday) return `Now: ${now}`;
  return `Current date and time given in YYYY-MM-DDTHH:MM:SS format: ${day}T${time}:00\nDay of week is ${weekday}`;
}

export const functiongemma = braces({
  start: START,
  end: END,
  declaration: ['<start_function_declaration>', '<end_function_declaration>'],
  call: ['<start_function_call>', '<end_function_call>'],
  response: ['<start_function_response>', '<end_function_response>'],
  quote: '<escape>',
  character: '([^<] | "<" [^<e])',
  afterMark: '([^<s] | "s" [^<t])',
  stop: ['<end_of_turn>', '<start_of_turn>', '<start_function_response>'],
  neutralise,
  opening({ now }, declarations) {
    const words = neutralise(clock(now)) + (declarations === '' ? '' : `\n${TRIGGER}`);
    return `${START}developer\n${words}${declarations}${END}`;
  },
});
