/**
 * Who said what in a conversation, for the gate: the person's own words apart from everything that
 * others wrote into it. Pure. Whatever is not known to be the person's or the app's own is untrusted:
 * as it came, and as the model read it.
 */
import type { UntrustedText } from '../policy/types.ts';
import type { Conversation, Message, Part } from '../store/records.ts';
import { textsOfPieces, withoutPieces } from './foreign.ts';
import type { ResultText } from './transcript.ts';

export interface Heard {
  readonly said: readonly string[];
  readonly untrusted: readonly UntrustedText[];
  /** Model names of the tools that a model was offered: it read what their servers say of them. */
  readonly offered: readonly string[];
  /** Who gave the pictures that a model was shown; words in them are in no text. */
  readonly pictures?: readonly string[];
}

/** Every text inside of a value, names included: an instruction may hide in either. */
function textsOf(value: unknown, into: string[] = []): string[] {
  if (typeof value === 'string') into.push(value);
  else if (typeof value === 'number') into.push(String(value));
  else if (Array.isArray(value)) for (const item of value) textsOf(item, into);
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      into.push(name);
      textsOf(inner, into);
    }
  return into;
}

/** Parts of the content that hold pictures and sounds say nothing in words. */
const worded = (content: readonly { readonly type: string }[]): unknown[] =>
  content.filter(({ type }) => type !== 'image' && type !== 'audio');

const results = new WeakMap<ResultText, WeakMap<Part, UntrustedText[]>>();

/** What others wrote in a part, read once: parts never change, and each turn hears all of them again. */
function untrustedIn(part: Part, resultText: ResultText, whole?: string): UntrustedText[] {
  const known = results.get(resultText) ?? new WeakMap<Part, UntrustedText[]>();
  results.set(resultText, known);
  const made = known.get(part) ?? [
    ...untrustedOf(part, resultText),
    ...(whole === undefined ? [] : wordsOf(part).map((text) => ({ source: whole, text }))),
  ];
  known.set(part, made);
  return made;
}

function untrustedOf(part: Part, resultText: ResultText): UntrustedText[] {
  switch (part.kind) {
    case 'text':
      return textsOfPieces(part.text, part.foreign);
    case 'attachment':
      return [
        {
          source: part.serverName,
          text: [
            ...textsOf([part.name, part.uri, worded(part.content)]),
            resultText({ kind: 'result', content: part.content }, '', Infinity),
          ].join('\n'),
        },
      ];
    case 'call': {
      const { outcome } = part;
      if (outcome?.kind !== 'result' && outcome?.kind !== 'tool_error') return [];
      const structured = outcome.kind === 'result' ? outcome.structured : undefined;
      const text = [
        ...textsOf([worded(outcome.content), structured]),
        resultText(outcome, '', Infinity),
      ].join('\n');
      return [{ source: part.serverName, text }];
    }
    default:
      return [];
  }
}

/** The words that a model reads of a part, whoever wrote them. */
function wordsOf(part: Part): string[] {
  switch (part.kind) {
    case 'text':
    case 'thinking':
      return [part.text];
    case 'call':
      return [textsOf([part.args, part.reason, part.why]).join('\n')];
    case 'badcall':
      return [[part.name, part.raw, part.error].join('\n')];
    default:
      return [];
  }
}

const some = (pictures: readonly string[]): Pick<Heard, 'pictures'> =>
  pictures.length > 0 ? { pictures } : {};

/** What was heard in a message: the person's, or one of the model's turns. */
export function heardIn(
  { role, source }: Pick<Message, 'role' | 'source'>,
  parts: readonly Part[],
  resultText: ResultText,
): Heard {
  const said = parts.flatMap((part) => {
    if (source !== undefined) return [];
    if (role === 'user' && part.kind === 'text') return [withoutPieces(part.text, part.foreign)];
    // Why the person said no is said by the person as well.
    return part.kind === 'call' && part.state === 'denied' && part.reason ? [part.reason] : [];
  });
  return {
    said,
    untrusted: parts.flatMap((part) => untrustedIn(part, resultText, source)),
    offered: parts.flatMap((part) => (part.kind === 'route' ? part.offered : [])),
    ...some(parts.flatMap((part) => (part.kind === 'route' ? (part.pictures ?? []) : []))),
  };
}

/** What a conversation that was not begun here brought along beside its messages. */
export function heardAround({ source, title, summary }: Conversation): Heard {
  const text = [title, summary?.text ?? ''].join('\n');
  return { said: [], untrusted: source === undefined ? [] : [{ source, text }], offered: [] };
}

export function together(heard: readonly Heard[]): Heard {
  return {
    said: heard.flatMap(({ said }) => said),
    untrusted: heard.flatMap(({ untrusted }) => untrusted),
    offered: [...new Set(heard.flatMap(({ offered }) => offered))],
    ...some([...new Set(heard.flatMap(({ pictures = [] }) => pictures))]),
  };
}
