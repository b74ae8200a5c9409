/**
 * The browser is asked to keep the data for good before the first large download, by the models, and
 * here after an installation, which is when browsers like to say yes.
 */
import type { App } from '../../app.ts';

/** Asks after an installation, unless the answer was yes before. Returns what ends it. */
export function persistAfterInstall(app: App): () => void {
  const ask = async (): Promise<void> => {
    if ((await app.settings.get()).persisted !== true) await app.storage.persist();
  };
  const installed = (): void => void ask().catch(() => undefined);
  addEventListener('appinstalled', installed);
  return () => removeEventListener('appinstalled', installed);
}
