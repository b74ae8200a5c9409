/**
 * Llama 3.2, as its published template has it with the tools in the system turn
 * (`tools_in_user_message: false`), where they stay cached when the oldest turns are left out.
 *
 * A call is a reply that is nothing but JSON, one a reply: the template knows no more. Several calls
 * of one step, made by another model of the conversation, are shown one after the other.
 */
import type { ToolSpec } from '../../brain.ts';
import { replyGrammar, type CallForm } from '../grammar.ts';
import { declared } from './declared.ts';
import type { Dialect, DialectRequest } from './dialect.ts';
import { JSON_CALLS } from './hermes.ts';
import { dumps, readObject } from './json.ts';
import { breaker, systemText } from './neutral.ts';
import { createReplyReader, type ReplyForm } from './reply.ts';

const END = '<|eot_id|>';
const turn = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;
const neutralise = breaker(/<\|[^|<>\s]{1,64}\|>/g);

const FORM: ReplyForm = { notation: 'json', open: null };
const CALLS: CallForm = {
  ...JSON_CALLS,
  open: '',
  between: '',
  close: '',
  most: 1,
  before: (name) => `{"name": ${JSON.stringify(name)}, "parameters": {`,
  after: '}}',
  text: { mark: '<', run: 1, next: '[^<|]', notFirst: '{' },
};

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `29 Nov 2026`, from the clock line. */
function today(now: string): string {
  const [, year, month, day] = /\b(\d{4})-(\d\d)-(\d\d)\b/.exec(now) ?? [];
  return year && day ? `${day} ${MONTHS[Number(month) - 1] ?? month} ${year}` : now;
}

function systemTurn({ system, now, tools, toolChoice }: DialectRequest): string {
  const offered = toolChoice === 'none' ? [] : tools;
  return [
    turn('system'),
    offered.length > 0 ? 'Environment: ipython\n' : '',
    'Cutting Knowledge Date: December 2023\n',
    `Today Date: ${neutralise(today(now))}\n\n`,
    offered.length > 0 ? toolsText(offered) : '',
    neutralise(systemText(system, now)),
    END,
  ].join('');
}

function toolsText(tools: readonly ToolSpec[]): string {
  const list = tools.map((tool) => `${neutralise(dumps(declared(tool), 4))}\n\n`).join('');
  return (
    'You have access to the following functions. To call a function, please respond with JSON for a function call.' +
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' +
    `Do not use variables.\n\n${list}`
  );
}

/** An object as it is, any other text as a JSON string. */
function resultText(text: string): string {
  return neutralise(readObject(text) ? text.trim() : JSON.stringify(text.trim()));
}

export const llama3: Dialect = {
  stop: [END, '<|eom_id|>', '<|start_header_id|>', '<|end_of_text|>'],
  markers: [],

  render(request) {
    const model = turn('assistant');
    const pieces: string[] = [];
    let prompt = systemTurn(request);
    const reply = (text: string): void => {
      pieces.push(prompt + model, neutralise(text));
      prompt = END;
    };
    const { messages } = request;
    for (const [at, message] of messages.entries()) {
      if (message.role === 'user') prompt += turn('user') + neutralise(message.text.trim()) + END;
      if (message.role !== 'assistant') continue;
      if (message.calls.length === 0) reply(message.text.trim());
      const after = messages.slice(at + 1);
      const end = after.findIndex((next) => next.role !== 'tool');
      const results = end < 0 ? after : after.slice(0, end);
      for (const { id, name, args, raw } of message.calls) {
        reply(
          args === null
            ? raw.trim()
            : `{"name": ${JSON.stringify(name)}, "parameters": ${dumps(args)}}`,
        );
        for (const result of results)
          if (result.role === 'tool' && result.callId === id)
            prompt += turn('ipython') + resultText(result.text) + END;
      }
    }
    return [...pieces, prompt + model];
  },

  grammar: ({ tools, toolChoice }, notation) =>
    replyGrammar({ tools, choice: toolChoice, form: CALLS, notation }),

  reader: ({ tools, toolChoice }) => createReplyReader(tools, FORM, toolChoice !== 'none'),

  neutralise,
};
