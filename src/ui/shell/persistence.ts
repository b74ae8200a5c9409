/**
 * When the browser is asked to keep the data for good: once before the first big download, and again
 * after an installation, which is when browsers like to say yes.
 */
import type { App } from '../../app.ts';

/** Asks unless it was asked before; the answer is in the settings either way. */
export async function askToPersistOnce(app: App): Promise<void> {
  const { persisted } = await app.settings.get();
  if (persisted === null) await app.storage.persist();
}

/** Asks again after an installation, unless the answer was yes. Returns what ends it. */
export function persistAfterInstall(app: App): () => void {
  const ask = async (): Promise<void> => {
    if ((await app.settings.get()).persisted !== true) await app.storage.persist();
  };
  const installed = (): void => void ask().catch(() => undefined);
  addEventListener('appinstalled', installed);
  return () => removeEventListener('appinstalled', installed);
}
