/**
 * The conversation in the form that every cloud interface insists on: each call is followed by its
 * result, no result comes without its call, nothing is empty, and a user speaks first and last.
 */
import type { BrainImage, BrainMessage, BrainRequest, ToolSpec } from '../brain.ts';

export interface WireCall {
  /**
   * Id on the wire: nine letters and digits, the strictest rule there is (Mistral). Made from the
   * call's place in the conversation, so that it stays the same from step to step.
   */
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface WireResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly images: readonly BrainImage[];
}

export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly images: readonly BrainImage[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly WireCall[];
      /** Key of the turns before it. */
      readonly after: string;
    }
  | { readonly role: 'results'; readonly results: readonly WireResult[] };

/** Tool names as a wire allows them, both ways. */
export interface Names {
  toWire(name: string): string;
  fromWire(name: string): string;
}

const NAME_LENGTH = 64;

/** Letters, digits, `_` and `-`, at most 64, not beginning with a digit or `-`: allowed everywhere. */
function legal(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_LENGTH);
  return /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`.slice(0, NAME_LENGTH);
}

export function wireNames(tools: readonly ToolSpec[]): Names {
  const out = new Map<string, string>();
  const back = new Map<string, string>();
  for (const { name } of tools) {
    let wire = legal(name);
    for (let n = 2; back.has(wire); n++) wire = `${legal(name).slice(0, NAME_LENGTH - 4)}_${n}`;
    out.set(name, wire);
    back.set(wire, name);
  }
  return {
    toWire: (name) => out.get(name) ?? legal(name),
    fromWire: (name) => back.get(name) ?? name,
  };
}

/** System text with the phone's clock behind it. */
export function systemText(request: BrainRequest): string {
  return [request.system, `Now: ${request.now}`].filter(Boolean).join('\n\n');
}

const LEFT_OUT = '(Earlier messages are left out.)';
const GO_ON = 'Go on.';
const NOT_RUN = 'This call was not run.';

/** What stands before the pictures of a result where they cannot stand inside of it. */
export function picturesOf(result: WireResult): string {
  return `Pictures in the result of ${result.name}:`;
}

export interface History {
  readonly turns: readonly Turn[];
  /** Tells this conversation from others, well enough for a short memory. */
  readonly key: string;
}

/** cyrb53, a hash of 53 bits in the public domain. */
function hash(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}`;
}

export function historyOf(messages: readonly BrainMessage[], names: Names): History {
  const results = new Map<string, Extract<BrainMessage, { role: 'tool' }>>();
  for (const message of messages) if (message.role === 'tool') results.set(message.callId, message);

  const turns: Turn[] = [];
  let key = '';
  let count = 0;
  const add = (turn: Turn): void => {
    turns.push(turn);
    // Without the megabytes of pictures: the words beside them tell turns apart.
    key = hash(key + JSON.stringify(turn, (name, value) => (name === 'images' ? [] : value)));
  };
  for (const message of messages) {
    if (message.role === 'user') {
      const { text, images = [] } = message;
      if (text || images.length > 0) add({ role: 'user', text, images });
    } else if (message.role === 'assistant') {
      if (!message.text && message.calls.length === 0) continue;
      const calls = message.calls.map((call) => ({
        id: `call${String(++count).padStart(5, '0')}`,
        name: names.toWire(call.name),
        // Every wire wants an object; what the model wrote instead is shown to it as it was.
        args: call.args ?? { malformed: call.raw },
      }));
      add({ role: 'assistant', text: message.text, calls, after: key });
      if (calls.length > 0)
        add({
          role: 'results',
          results: calls.map(({ id, name }, at) => {
            const result = results.get(message.calls[at]!.id);
            return {
              id,
              name,
              text: result ? result.text : NOT_RUN,
              isError: result ? result.isError : true,
              images: result?.images ?? [],
            };
          }),
        });
    }
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', text: LEFT_OUT, images: [] });
  if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', text: GO_ON, images: [] });
  return { turns, key };
}
