/**
 * The ChatML turns and Hermes-style calls that Qwen and many others share: tools as JSON in the system
 * turn, calls as JSON in `<tool_call>` tags, results in the user's turn in `<tool_response>` tags.
 */
import type { BrainMessage, ToolSpec } from '../../brain.ts';
import { quoted, replyGrammar, type CallForm } from '../grammar.ts';
import { declared } from './declared.ts';
import type { Dialect, DialectRequest } from './dialect.ts';
import { dumps } from './json.ts';
import { breaker, systemText } from './neutral.ts';
import { createReplyReader, type ReplyForm } from './reply.ts';
import { asSchema } from './signature.ts';

const START = '<|im_start|>';
const END = '<|im_end|>\n';
const MODEL = `${START}assistant\n`;
const THINK = { open: '<think>', close: '</think>' };
/** What stands for thinking that is not wanted. */
const NO_THOUGHT = '<think>\n\n</think>\n\n';

/** Every `<|name|>`, and the tags that mean something in this convention. */
const CONTROL = '<\\|[^|<>\\s]{1,64}\\|>|<\\/?(?:tool_call|tool_response|tools|think)>';

/** JSON on one line, with one space after commas and colons or none. */
export const JSON_CALLS: Pick<CallForm, 'comma' | 'key' | 'order' | 'values'> = {
  comma: '"," " "?',
  key: ({ key }) => `${quoted(`${JSON.stringify(key)}:`)} " "?`,
  order: (a, b, tool) => place(tool, a.key) - place(tool, b.key),
  values: {
    quote: '"',
    character: '([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\/bfnrt])',
    words: { true: 'true', false: 'false', null: 'null' },
    literal: JSON.stringify,
    comma: '"," " "?',
    key: (name) => `${quoted(`${JSON.stringify(name)}:`)} " "?`,
    anyKey: (string) => `${string} ":" " "?`,
  },
};

/** Models write arguments in the order in which the schema has them. */
function place(tool: ToolSpec, key: string): number {
  return Object.keys(asSchema(tool.inputSchema.properties)).indexOf(key);
}

const CALLS: CallForm = {
  ...JSON_CALLS,
  open: '<tool_call>\n',
  between: '\n</tool_call>\n<tool_call>\n',
  close: '\n</tool_call>',
  most: 4,
  before: (name) => `{"name": ${JSON.stringify(name)}, "arguments": {`,
  after: '}}',
  text: { mark: '<', run: 1, next: '([^<|t] | "t" [^<o])' },
  think: { open: '<think>\n', close: '</think>' },
};

export interface HermesOptions {
  /** The model thinks unless it is kept from it. */
  readonly thinks: boolean;
  /** Control tokens of the family's own, as a part of a regular expression. */
  readonly control?: string;
}

export function hermes({ thinks, control }: HermesOptions): Dialect {
  const neutralise = breaker(new RegExp([CONTROL, control].filter(Boolean).join('|'), 'gi'));
  const form: ReplyForm = {
    notation: 'json',
    open: '<tool_call>',
    ...(thinks ? { think: THINK } : {}),
  };

  function systemTurn({ system, now, tools, toolChoice }: DialectRequest): string {
    const text = neutralise(systemText(system, now));
    const offered = toolChoice === 'none' ? [] : tools;
    return `${START}system\n${text}${offered.length > 0 ? toolsText(offered, neutralise) : ''}${END}`;
  }

  function reply({ text, calls }: Extract<BrainMessage, { role: 'assistant' }>): string {
    const written = calls.map(({ name, args, raw }) => {
      const call =
        args === null
          ? raw.trim()
          : `{"name": ${JSON.stringify(name)}, "arguments": ${dumps(args)}}`;
      return `<tool_call>\n${neutralise(call)}\n</tool_call>`;
    });
    return [neutralise(text.trim()), ...written].filter(Boolean).join('\n');
  }

  return {
    stop: ['<|im_end|>', '<|im_start|>', '<|endoftext|>', '<tool_response>'],
    markers: ['<tool_call>', '</tool_call>', ...(thinks ? [THINK.open, THINK.close] : [])],

    render(request) {
      const model = MODEL + (thinks && !request.think ? NO_THOUGHT : '');
      const pieces: string[] = [];
      let prompt = systemTurn(request);
      let results = false;
      const close = (): void => {
        if (results) prompt += END;
        results = false;
      };
      for (const message of request.messages) {
        if (message.role === 'tool') {
          if (!results) prompt += `${START}user`;
          prompt += `\n<tool_response>\n${neutralise(message.text.trim())}\n</tool_response>`;
          results = true;
          continue;
        }
        close();
        if (message.role === 'user')
          prompt += `${START}user\n${neutralise(message.text.trim())}${END}`;
        else {
          pieces.push(prompt + model, reply(message));
          prompt = END;
        }
      }
      close();
      return [...pieces, prompt + model];
    },

    grammar: ({ tools, toolChoice, think = false }, notation) =>
      replyGrammar({ tools, choice: toolChoice, form: CALLS, notation, think: thinks && think }),

    reader: ({ tools, toolChoice }) => createReplyReader(tools, form, toolChoice !== 'none'),

    neutralise,
  };
}

function toolsText(tools: readonly ToolSpec[], neutralise: (text: string) => string): string {
  const list = tools.map((tool) => `\n${neutralise(dumps(declared(tool)))}`).join('');
  return `

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>${list}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;
}
