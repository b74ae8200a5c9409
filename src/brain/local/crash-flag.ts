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

/** Leaving the page in the midst of a load is no crash. */
const leave = (): void => write(null);

export function raiseFlag(id: string): void {
  write(id);
  addEventListener('pagehide', leave);
}

export function lowerFlag(): void {
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
