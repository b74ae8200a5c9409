import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BrainMessage, ToolSpec } from '../../../../src/brain/brain.ts';
import type { DialectRequest } from '../../../../src/brain/local/dialect/dialect.ts';
import { CLOCK } from '../local/tools.ts';
import { ALL, NAMES, type Name } from './conversations.ts';

/** What each family's tokenizer takes for more than letters, or its convention for the end of a part. */
const CONTROL: Readonly<Record<Name, readonly string[]>> = {
  'gemma3 as published': ['<start_of_turn>', '<end_of_turn>', '<bos>', '```tool_output'],
  gemma3: ['<start_of_turn>', '<end_of_turn>', '<bos>', '<eos>', '```tool_output', '<unused7>'],
  functiongemma: [
    '<start_of_turn>',
    '<end_of_turn>',
    '<start_function_declaration>',
    '<end_function_declaration>',
    '<start_function_call>',
    '<end_function_call>',
    '<start_function_response>',
    '<end_function_response>',
    '<escape>',
    '<bos>',
    '<eos>',
  ],
  gemma4: [
    '<|turn>',
    '<turn|>',
    '<|tool>',
    '<tool|>',
    '<|tool_call>',
    '<tool_call|>',
    '<|tool_response>',
    '<tool_response|>',
    '<|"|>',
    '<|think|>',
    '<|channel>',
    '<channel|>',
    '<|image|>',
    '<bos>',
    '<eos>',
  ],
  qwen3: [
    '<|im_start|>',
    '<|im_end|>',
    '<|endoftext|>',
    '<|vision_start|>',
    '<|fim_prefix|>',
    '<tool_call>',
    '</tool_call>',
    '<tool_response>',
    '</tool_response>',
    '</tools>',
    '<think>',
    '</think>',
  ],
  llama3: [
    '<|begin_of_text|>',
    '<|end_of_text|>',
    '<|start_header_id|>',
    '<|end_header_id|>',
    '<|eot_id|>',
    '<|eom_id|>',
    '<|python_tag|>',
    '<|reserved_special_token_5|>',
  ],
  chatml: [
    '<|im_start|>',
    '<|im_end|>',
    '<|endoftext|>',
    '<tool_call>',
    '</tool_call>',
    '<tool_response>',
    '</tool_response>',
    '<repo_name>',
    '<jupyter_output>',
    '<filename>',
  ],
};

/** A conversation in which one text is put at every place that somebody else can write to. */
function conversation(text: string): Record<string, DialectRequest> {
  const tool = (
    more: Partial<ToolSpec> = {},
    argument: Record<string, unknown> = {},
  ): ToolSpec => ({
    name: 'note',
    description: 'Keeps a note.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'Words.', ...argument } },
      required: ['text'],
    },
    ...more,
  });
  const messages = (
    user: string,
    said: string,
    args: Record<string, unknown> | null,
    result: string,
    raw = '',
    name = 'note',
  ): BrainMessage[] => [
    { role: 'user', text: user },
    { role: 'assistant', text: said, calls: [{ id: '1', name, args, raw }] },
    { role: 'tool', callId: '1', name, text: result, isError: false },
    { role: 'assistant', text: said, calls: [] },
    { role: 'user', text: user },
    { role: 'assistant', text: '', calls: [{ id: '2', name, args, raw }] },
    { role: 'tool', callId: '2', name, text: result, isError: true },
  ];
  const args = { text: 'a' };
  const plain = { system: 'Be kind.', now: CLOCK, tools: [tool()], toolChoice: 'auto' as const };
  const rest = messages('b', 'c', args, '{"d":1}');
  return {
    'what the person writes': { ...plain, messages: messages(text, 'c', args, '{"d":1}') },
    'what a model wrote before': { ...plain, messages: messages('b', text, args, '{"d":1}') },
    'an argument': { ...plain, messages: messages('b', 'c', { text }, '{"d":1}') },
    'a nested argument and its name': {
      ...plain,
      messages: messages('b', 'c', { text: { [text]: [text] } }, '{"d":1}'),
    },
    'a call that could not be read': {
      ...plain,
      messages: messages('b', 'c', null, '{"d":1}', text),
    },
    'the name of a call': {
      ...plain,
      messages: messages('b', 'c', args, '{"d":1}', '', text),
    },
    'a result that is text': { ...plain, messages: messages('b', 'c', args, text) },
    'a result that is JSON': {
      ...plain,
      messages: messages('b', 'c', args, JSON.stringify({ d: text, [text]: [text] })),
    },
    'the description of a tool': { ...plain, messages: rest, tools: [tool({ description: text })] },
    'the description of an argument': {
      ...plain,
      messages: rest,
      tools: [tool({}, { description: text })],
    },
    'an allowed value': { ...plain, messages: rest, tools: [tool({}, { enum: ['a', text] })] },
    'the system text': { ...plain, system: text, messages: rest },
    'the clock': { ...plain, now: text, messages: rest },
  };
}

function controls(family: Name, prompt: string): string[] {
  const found: { at: number; token: string }[] = [];
  for (const token of CONTROL[family])
    for (let at = prompt.indexOf(token); at >= 0; at = prompt.indexOf(token, at + 1))
      found.push({ at, token });
  return found.sort((a, b) => a.at - b.at).map(({ token }) => token);
}

const render = (family: Name, request: DialectRequest): string =>
  ALL[family].render(request).join('');

describe.each(NAMES)('%s: nobody forges a turn, a call or a result', (family) => {
  const honest = conversation('x');

  test.each(Object.keys(honest))('in %s', (place) => {
    const wanted = controls(family, render(family, honest[place] as DialectRequest));
    expect(wanted.length).toBeGreaterThan(2);
    for (const token of CONTROL[family])
      for (const text of [token, `a${token}b`, `x\n${token}\n`, `<${token}|${token}>`]) {
        const forged = conversation(text)[place] as DialectRequest;
        expect([text, controls(family, render(family, forged))]).toEqual([text, wanted]);
      }
  });

  test('nor with what is left when a part of it is made harmless', () => {
    const { neutralise } = ALL[family];
    const scraps = fc.array(
      fc.oneof(
        fc.constantFrom(...CONTROL[family]),
        fc.constantFrom(
          '<',
          '>',
          '|',
          '<|',
          '|>',
          '/',
          '"',
          '`',
          '```',
          'im_end',
          'eot_id',
          'turn',
        ),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(scraps, (parts) => {
        const safe = neutralise(parts.join(''));
        expect(controls(family, safe)).toEqual([]);
        expect(neutralise(safe)).toBe(safe);
      }),
    );
  });
});
