/**
 * Remembers that a model is being loaded, or answers for the first time since. Found at the next start,
 * it means that the browser or the tab died of it: too little memory, mostly, which no page is told of.
 */
import type { TrialKey } from './trials.ts';

export interface Flag extends TrialKey {
  /** It was loaded, and was answering for the first time. */
  readonly answering: boolean;
}

const KEY = 'deft.loading';

/** In localStorage, because only that is written before the next line runs. */
function write(flag: Flag | null): void {
  try {
    if (flag === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(flag));
  } catch {
    // Storage is full or forbidden: then a crash goes unnoticed.
  }
}

let raised: Flag | null = null;

/** A page that dies in the background was put away by the person or the phone: no crash of ours. */
const update = (): void => write(document.visibilityState === 'visible' ? raised : null);
/** Nor is it one to leave the page in the midst of a load. */
const leave = (): void => write(null);

export function raiseFlag(key: TrialKey, answering = false): void {
  raised = { ...key, answering };
  update();
  document.addEventListener('visibilitychange', update);
  addEventListener('pagehide', leave);
}

export function lowerFlag(): void {
  raised = null;
  document.removeEventListener('visibilitychange', update);
  removeEventListener('pagehide', leave);
  write(null);
}

function read(text: string | null): Flag | null {
  const flag: unknown = text === null ? null : JSON.parse(text);
  if (typeof flag !== 'object' || flag === null) return null;
  const { model, version, device, contextTokens, answering } = flag as Record<string, unknown>;
  const sound =
    typeof model === 'string' &&
    typeof version === 'string' &&
    typeof device === 'string' &&
    typeof contextTokens === 'number';
  return sound ? { model, version, device, contextTokens, answering: answering === true } : null;
}

/** What the last page died of, once; null where it did not. */
export function takeFlag(): Flag | null {
  try {
    return read(localStorage.getItem(KEY));
  } catch {
    return null;
  } finally {
    write(null);
  }
}
