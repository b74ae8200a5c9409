/**
 * A model on the phone is of no use without its engine: as soon as one is being downloaded, the
 * service worker is asked to keep that engine's files too, so that it runs without a network.
 */
import type { EngineName, Models } from '../../brain/local/types.ts';
import { keepOffline } from './service-worker.ts';

/** Watches the models for as long as the page lives. Returns what ends it. */
export function keepEngines(models: Models): () => void {
  const asked = new Set<EngineName>();

  async function look(): Promise<void> {
    const needed = (await models.list())
      .filter(({ status }) => status.kind !== 'absent' && status.kind !== 'failed')
      .map(({ row }) => row.engine)
      .filter((engine) => !asked.has(engine));
    const names = [...new Set(needed)];
    if (names.length === 0) return;
    for (const name of names) asked.add(name);
    const answer = await keepOffline(names);
    // Tried again at the next change, e.g. when the network is back.
    if (answer && answer.missing.length > 0) for (const name of names) asked.delete(name);
  }

  const again = (): void => void look().catch(() => undefined);
  again();
  const release = models.subscribe(again);
  addEventListener('online', again);
  return () => {
    release();
    removeEventListener('online', again);
  };
}
