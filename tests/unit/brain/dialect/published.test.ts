/**
 * What the dialects write against what the families' published templates write, character for
 * character. The templates are in `templates/` (see NOTICE.md there); for Llama 3 and FunctionGemma,
 * whose licences want more than a notice, `golden.test.ts` holds the text.
 */
import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../../src/brain/brain.ts';
import { chatml } from '../../../../src/brain/local/dialect/chatml.ts';
import type { DialectRequest } from '../../../../src/brain/local/dialect/dialect.ts';
import { gemma4 } from '../../../../src/brain/local/dialect/gemma4.ts';
import { readObject } from '../../../../src/brain/local/dialect/json.ts';
import { qwen3 } from '../../../../src/brain/local/dialect/qwen3.ts';
import {
  call,
  called,
  CONVERSATIONS,
  PARALLEL,
  request,
  result,
  templateInput,
  user,
} from './conversations.ts';

const template = (name: string): Template =>
  new Template(readFileSync(new URL(`templates/${name}.jinja`, import.meta.url), 'utf8'));
const QWEN3 = template('qwen3');
const QWEN25 = template('qwen2.5');
const GEMMA4 = template('gemma4');
const SMOLLM2 = template('smollm2');

type Input = Record<string, unknown> & { messages: Record<string, unknown>[] };
const input = (wanted: DialectRequest): Input => templateInput(wanted) as Input;

/** Gemma's template takes results that are objects with the message that made the calls. */
function withResponses(published: Input): Input {
  const messages: Record<string, unknown>[] = [];
  for (const message of published.messages) {
    const last = messages.at(-1);
    if (message.role !== 'tool' || !last) messages.push({ ...message });
    else {
      const text = String(message.content);
      const response = { name: message.name, response: readObject(text) ?? text };
      last.tool_responses = [...((last.tool_responses as unknown[] | undefined) ?? []), response];
    }
  }
  return { ...published, messages };
}

const all = Object.entries({ ...CONVERSATIONS, 'two calls at once': PARALLEL });
const plain = Object.entries(CONVERSATIONS).filter(([, messages]) =>
  messages.every((message) => message.role !== 'tool'),
);

describe.each(all)('%s, as Qwen3 has it:', (_name, messages) => {
  test('where it thinks', () => {
    const wanted = request(messages, { think: true });
    expect(qwen3.render(wanted).join('')).toBe(
      QWEN3.render({ ...input(wanted), enable_thinking: true }),
    );
  });

  test('where it does not, with the empty thought kept in front of each answer', () => {
    const wanted = request(messages);
    const published = input(wanted);
    // What the template is told the model thought in this turn; of earlier turns it keeps nothing.
    const asked = messages.findLastIndex((message) => message.role === 'user') + 1;
    for (const [at, message] of published.messages.entries())
      if (message.role === 'assistant') {
        if (at > asked) message.reasoning_content = '\n';
        else message.content = `<think>\n\n</think>\n\n${String(message.content)}`;
      }
    const text = QWEN3.render({ ...published, enable_thinking: false });
    const kept = withThoughts(published, text);
    expect(qwen3.render(wanted).join('')).toBe(kept);
  });
});

/** The template takes thoughts out of earlier answers; puts the empty ones back. */
function withThoughts({ messages }: Input, text: string): string {
  const answers = messages.filter((message) => message.role === 'assistant').length;
  const parts = text.split('<|im_start|>assistant\n');
  return parts
    .map((part, at) =>
      at > 0 && at <= answers + 1 && !part.startsWith('<think>')
        ? `<think>\n\n</think>\n\n${part}`
        : part,
    )
    .join('<|im_start|>assistant\n');
}

test.each(all)('%s, as Qwen2.5 has it: ChatML with tools', (_name, messages) => {
  const wanted = request(messages);
  expect(chatml.render(wanted).join('')).toBe(QWEN25.render(input(wanted)));
});

test.each(plain)('%s, as SmolLM2 has it: ChatML without tools', (_name, messages) => {
  const wanted = request(messages, { tools: [] });
  expect(chatml.render(wanted).join('')).toBe(SMOLLM2.render(input(wanted)));
});

describe.each(all)('%s, as Gemma 4 has it:', (_name, messages) => {
  const published = (wanted: DialectRequest, think: boolean): string => {
    const text = GEMMA4.render({ ...withResponses(input(wanted)), enable_thinking: think });
    // The larger models' template ends with an empty thought; that of E2B does not.
    return think ? text : text.replace(/<\|channel>thought\n<channel\|>$/, '');
  };

  test.each([true, false])('thinking: %s', (think) => {
    const wanted = request(messages, { think });
    expect(gemma4.render(wanted).join('')).toBe(published(wanted, think));
  });
});

describe('arguments of every type are declared as the templates declare them', () => {
  const order: ToolSpec = {
    name: 'order',
    description: 'Order a meal.',
    inputSchema: {
      type: 'object',
      properties: {
        dishes: {
          type: 'array',
          description: 'What to bring.',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'The dish.' },
              spice: { type: 'string', enum: ['mild', 'hot'] },
            },
            required: ['name'],
          },
        },
        address: {
          type: 'object',
          description: 'Where to.',
          properties: { street: { type: 'string' }, floor: { type: 'integer' } },
          required: ['street'],
        },
        tags: { type: 'array', items: { type: 'string' } },
        tip: { type: 'number', description: 'In rupees.' },
        Fast: { type: 'boolean' },
      },
      required: ['dishes', 'address'],
    },
  };
  const ordered = call('order', {
    dishes: [{ name: 'dosa', spice: 'hot' }],
    address: { street: 'MG "Road" 5', floor: 2 },
    tip: 20.5,
    Fast: true,
  });
  const messages = [
    user('Two dosas, please'),
    called(ordered),
    result('order', '{"ok": [1, "b"]}'),
  ];
  const wanted = request(messages, { tools: [order], think: true });

  test('Qwen3', () => {
    expect(qwen3.render(wanted).join('')).toBe(QWEN3.render(input(wanted)));
  });
  test('Gemma 4', () => {
    const published = { ...withResponses(input(wanted)), enable_thinking: true };
    expect(gemma4.render(wanted).join('')).toBe(GEMMA4.render(published));
  });
});
