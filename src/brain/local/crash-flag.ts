/**
 * Remembers that a model is being loaded. Found at the next start, it means that the browser or the
 * tab died of it: too little memory, mostly, which no page is told of.
 */
const KEY = 'deft.loading';

/** In localStorage, because only that is written before the next line runs. */
function write(id: string | null): void {
  try {
    if (id === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, id);
  } catch {
    // Storage is full or forbidden: then a crash goes unnoticed.
  }
}

let loading: string | null = null;

/** A page that dies in the background was put away by the person or the phone: no crash of ours. */
const update = (): void => write(document.visibilityState === 'visible' ? loading : null);
/** Nor is it one to leave the page in the midst of a load. */
const leave = (): void => write(null);

export function raiseFlag(id: string): void {
  loading = id;
  update();
  document.addEventListener('visibilitychange', update);
  addEventListener('pagehide', leave);
}

export function lowerFlag(): void {
  loading = null;
  document.removeEventListener('visibilitychange', update);
  removeEventListener('pagehide', leave);
  write(null);
}

/** The id of the model in whose loading the last page died, once; null where none did. */
export function takeFlag(): string | null {
  try {
    const id = localStorage.getItem(KEY);
    write(null);
    return id;
  } catch {
    return null;
  }
}
