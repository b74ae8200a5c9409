/**
 * Gemma 2 and 3 with the weights as Google published them: they must be told how a tool is called. As
 * in the published template of Gemma 3, the system text opens the first turn of the person; as in
 * Google's guide to function calling, the tools and the form of a call stand there too. Blocks, grammar
 * and reading are those of gemma3.ts.
 *
 * All turns are shown, calls and results too: nothing earlier changes, so that it stays cached.
 */
import { replyGrammar, TOOL_CODE } from '../grammar.ts';
import type { Dialect, DialectRequest } from './dialect.ts';
import { systemText } from './neutral.ts';
import { createReplyReader } from './reply.ts';
import { signature } from './signature.ts';
import { END, fenced, FORM, MODEL, neutralise, STOP, USER, writeReply } from './tool-code.ts';

const HOW = `You can call these functions. To call one or more, write nothing but a block like this, a call on each line:
\`\`\`tool_code
function_name(argument="value", other=3)
\`\`\`
The results come back in a tool_output block; then answer from them in words. Call a function only where the answer needs it.`;

/** What stands before the person's first words. */
function head({ system, now, tools, toolChoice }: DialectRequest): string {
  const parts = [neutralise(systemText(system, now))];
  if (toolChoice !== 'none' && tools.length > 0)
    parts.push(HOW, neutralise(tools.map(signature).join('')).trimEnd());
  return `${parts.join('\n\n')}\n\n`;
}

function render(request: DialectRequest): string[] {
  const pieces: string[] = [];
  let opening = head(request);
  let prompt = '';
  let results: string[] = [];
  const user = (text: string): void => {
    prompt += USER + opening + text + END;
    opening = '';
  };
  const close = (): void => {
    if (results.length > 0) user(`\`\`\`tool_output\n${results.join('\n')}\n\`\`\``);
    results = [];
  };
  for (const message of request.messages) {
    if (message.role === 'tool') {
      results.push(fenced(message.text.trim()));
      continue;
    }
    close();
    if (message.role === 'user') user(neutralise(message.text.trim()));
    else {
      if (opening !== '') user('');
      pieces.push(prompt + MODEL, writeReply(message, request.tools));
      prompt = END;
    }
  }
  close();
  if (opening !== '') user('');
  return [...pieces, prompt + MODEL];
}

export const gemma3Plain: Dialect = {
  stop: STOP,
  markers: [],
  render,
  grammar: ({ tools, toolChoice }, notation) =>
    replyGrammar({ tools, choice: toolChoice, form: TOOL_CODE, notation }),
  reader: ({ tools, toolChoice }) => createReplyReader(tools, FORM, toolChoice !== 'none'),
  neutralise,
};
