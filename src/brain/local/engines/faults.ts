/**
 * What the engines throw, as typed errors. Both throw plain errors, strings, numbers and objects;
 * the kind is read from the name and the words (@mlc-ai/web-llm 0.2.86, @wllama/wllama 3.13.0).
 */
import { EngineError, type EngineErrorKind } from '../errors.ts';

/** First match decides. */
const SIGNS: readonly (readonly [EngineErrorKind, RegExp])[] = [
  ['context', /ContextWindowSizeExceeded|exceeds? (the )?(available )?context|context size/i],
  ['memory', /out of memory|allocation failed|could not allocate|failed to allocate|\bOOM\b/i],
  [
    'gpu',
    /WebGPU|compatible GPU|GPU ?Device|DeviceLost|device (was|is) lost|Cannot initialize runtime|ShaderF16|FeatureSupport/i,
  ],
];

function words(thrown: unknown): string {
  if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`;
  if (typeof thrown === 'object' && thrown !== null) {
    const { message } = thrown as { message?: unknown };
    return typeof message === 'string' ? message : JSON.stringify(thrown);
  }
  return String(thrown);
}

/** Any thrown value as an EngineError of the kind that its words tell. */
export function engineFault(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const text = words(thrown);
  const kind = SIGNS.find(([, sign]) => sign.test(text))?.[0] ?? 'internal';
  return new EngineError(kind, text, { cause: thrown });
}
