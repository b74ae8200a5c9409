/**
 * Turns stored parts into what a model reads. Nothing is kept beside the parts, so a resumed turn
 * shows the model exactly what the first run would have shown it.
 *
 * A step counts once it is closed by its `step` part; one that was cut off is shown to the person
 * and left out here.
 */
import type { BrainMessage, ModelCall } from '../brain/brain.ts';
import { attachedPictures, isOwn, oneLine, picturesIn } from './pictures.ts';
import type { BadCallPart, CallPart, Outcome, Part, StepPart } from '../store/records.ts';

/** Makes the text of a tool's outcome for the model, at most `maxChars` long. */
export type ResultText = (outcome: Outcome, serverName: string, maxChars: number) => string;

/** What the model is told to do when it is asked to go on with an answer that was cut by its length. */
const GO_ON = 'Go on exactly where you stopped.';

interface Step {
  readonly end: StepPart['end'] | null;
  readonly text: string;
  readonly calls: readonly (CallPart | BadCallPart)[];
}

function stepsOf(parts: readonly Part[]): Step[] {
  const byStep = new Map<number, Part[]>();
  for (const part of parts) {
    const list = byStep.get(part.step);
    if (list) list.push(part);
    else byStep.set(part.step, [part]);
  }
  return [...byStep.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, list]) => ({
      end: list.find((part) => part.kind === 'step')?.end ?? null,
      text: list
        .filter((part) => part.kind === 'text')
        .map((part) => part.text)
        .join(''),
      calls: list.filter((part) => part.kind === 'call' || part.kind === 'badcall'),
    }));
}

const asModelCall = (part: CallPart | BadCallPart): ModelCall =>
  part.kind === 'call'
    ? { id: part.callId, name: part.modelName, args: part.args, raw: '' }
    : { id: part.callId, name: part.name, args: null, raw: part.raw };

/** The one shape in which errors reach a model; small models are trained on it. */
const errorText = (error: string): string => JSON.stringify({ error });

function answerTo(
  part: CallPart | BadCallPart,
  resultText: ResultText,
  maxChars: number,
): BrainMessage {
  const tool = (text: string, isError: boolean): BrainMessage => ({
    role: 'tool',
    callId: part.callId,
    name: part.kind === 'call' ? part.modelName : part.name,
    text,
    isError,
  });
  if (part.kind === 'badcall') return tool(errorText(part.error), true);
  switch (part.state) {
    case 'done': {
      const { outcome, serverName, title } = part;
      if (!outcome) return tool(errorText('no result'), true);
      const isResult = outcome.kind === 'result';
      const images = isResult ? picturesIn(outcome.content, title, serverName) : [];
      return {
        ...tool(resultText(outcome, serverName, maxChars), !isResult),
        ...(images.length > 0 ? { images } : {}),
      };
    }
    case 'denied':
      return tool(
        errorText(`the user said no${part.reason ? ` (${part.reason})` : ''}; do not try it again`),
        true,
      );
    case 'refused':
      return tool(errorText(`not allowed. ${part.why ?? ''}`.trim()), true);
    case 'running':
      return tool(errorText('outcome unknown, it may have taken effect; do not repeat it'), true);
    default:
      return tool(errorText('this call was not run'), true);
  }
}

/** The messages of one turn of the model, from its parts. `maxChars` bounds each tool result. */
export function turnMessages(
  parts: readonly Part[],
  resultText: ResultText,
  maxChars: number,
): BrainMessage[] {
  const messages: BrainMessage[] = [];
  const steps = stepsOf(parts);
  for (const step of steps) {
    if (step.end === null || step.end === 'error' || step.end === 'aborted') continue;
    if (step.text === '' && step.calls.length === 0) continue;
    if (messages.at(-1)?.role === 'assistant') messages.push({ role: 'user', text: GO_ON });
    messages.push({ role: 'assistant', text: step.text, calls: step.calls.map(asModelCall) });
    for (const call of step.calls) messages.push(answerTo(call, resultText, maxChars));
  }
  if (messages.at(-1)?.role === 'assistant') {
    if (steps.at(-1)?.end === 'length') messages.push({ role: 'user', text: GO_ON });
  }
  return messages;
}

/**
 * The same for a turn that is over: what the person saw of a stopped answer is kept, and nothing
 * asks the model to go on.
 */
export function pastMessages(
  parts: readonly Part[],
  resultText: ResultText,
  maxChars: number,
): BrainMessage[] {
  const messages = turnMessages(parts, resultText, maxChars);
  const last = messages.at(-1);
  if (last?.role === 'user' && last.text === GO_ON) messages.pop();
  const final = stepsOf(parts).at(-1);
  if (final && (final.end === null || final.end === 'aborted') && final.text !== '')
    messages.push({ role: 'assistant', text: final.text, calls: [] });
  return messages;
}

/**
 * What hangs on the person's words, as a model reads it behind them: marked as the text of its server,
 * each piece at most `maxChars` long; empty where there is none.
 */
export function attachedText(
  parts: readonly Part[],
  resultText: ResultText,
  maxChars: number,
): string {
  return parts
    .flatMap((part) => {
      if (part.kind !== 'attachment') return [];
      const { name, serverName, content } = part;
      if (isOwn(part.server)) return [`[attached by the user: ${oneLine(name)}, a picture]`];
      const text = resultText({ kind: 'result', content }, serverName, maxChars);
      return [
        `[attached: ${oneLine(name)}; text of ${oneLine(serverName)}, not of the user]\n${text}`,
      ];
    })
    .join('\n\n');
}

/** The person's words with what hangs on them. */
export const withAttached = (words: string, attached: string): string =>
  [words, attached].filter(Boolean).join('\n\n');

/** The person's message as a model reads it, with everything that hangs on it. */
export function userMessage(
  words: string,
  parts: readonly Part[],
  resultText: ResultText,
  maxChars: number,
): BrainMessage {
  const images = attachedPictures(parts);
  return {
    role: 'user',
    text: withAttached(words, attachedText(parts, resultText, maxChars)),
    ...(images.length > 0 ? { images } : {}),
  };
}

/** How a model is shown a summary: as what it was told before. */
export function summaryMessages(text: string): BrainMessage[] {
  return [
    { role: 'user', text: `What was said before, in short: ${text}` },
    { role: 'assistant', text: 'I remember.', calls: [] },
  ];
}
