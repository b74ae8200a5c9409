/**
 * The tool_code convention of Gemma 2 and 3, as both dialects of the family use it: turns, and fenced
 * blocks in them for calls and results.
 */
import type { BrainMessage, ModelCall, ToolSpec } from '../../brain.ts';
import { writeValue } from './literal.ts';
import type { ReplyForm } from './reply.ts';
import { parametersOf } from './signature.ts';

export const USER = '<start_of_turn>user\n';
export const MODEL = '<start_of_turn>model\n';
export const END = '<end_of_turn>\n';
/** Whatever the tokenizer of the family takes for a control token. */
const CONTROL =
  /<(start_of_turn|end_of_turn|bos|eos|pad|unk|mask|start_of_image|end_of_image|image_soft_token|unused\d+)>|\[(multimodal|@BOS@)\]/gi;
/** The fences of calls and results, however they are spaced. */
const FENCE = /```([\s▁]*tool_)/gi;

export function neutralise(text: string): string {
  return text.replace(CONTROL, '‹$1$2›').replace(FENCE, "'''$1");
}

/** A tool's text stands in a fence of its own, so it may hold no fence at all. */
export function fenced(text: string): string {
  return neutralise(text).replace(/```/g, "'''");
}

function writeCall(call: ModelCall, tools: readonly ToolSpec[]): string {
  if (call.args === null) return fenced(call.raw.trim());
  const args = call.args;
  const tool = tools.find((candidate) => candidate.name === call.name);
  const known = tool ? parametersOf(tool) : [];
  const given = known.filter(({ key }) => key in args);
  const more = Object.keys(args).filter((key) => !known.some((one) => one.key === key));
  const list = [
    ...given.map(({ key, name }) => `${name}=${writeValue(args[key])}`),
    ...more.map((key) => `${key}=${writeValue(args[key])}`),
  ];
  return fenced(`${call.name}(${list.join(', ')})`);
}

export function writeReply(
  message: Extract<BrainMessage, { role: 'assistant' }>,
  tools: readonly ToolSpec[],
): string {
  const text = neutralise(message.text.trim());
  if (message.calls.length === 0) return text;
  const calls = message.calls.map((call) => writeCall(call, tools)).join('\n');
  return `${text === '' ? '' : `${text}\n`}\`\`\`tool_code\n${calls}\n\`\`\``;
}

export const FORM: ReplyForm = { notation: 'python', open: '```tool_code' };

/** Text that ends a reply. */
export const STOP: readonly string[] = ['<end_of_turn>', '<start_of_turn>', '```tool_output'];
