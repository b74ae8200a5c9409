/** The safer choice in place of a model that failed: its words, and what a tap on it does. */
import type { App } from '../../app.ts';
import type { ModelView, Rung, Setback } from '../../brain/local/types.ts';
import { isStored, sizeOf } from '../screens/models.ts';
import { bytes } from '../screens/words.ts';
import { currentRoute, navigate } from '../router.ts';

/** What is offered, as the words of a button. */
export function rungLabel(next: Rung): string {
  switch (next.kind) {
    case 'context':
      return `Use a smaller window (${next.contextTokens.toLocaleString('en')} tokens)`;
    case 'cpu':
      return 'Run it on the processor';
    case 'cloud':
      return 'Use the cloud';
    default:
      return `Use ${next.row.label}`;
  }
}

/**
 * What that means, in sentences: also what comes with a download that it begins with, and why the
 * last one came to nothing. `models` is the whole list.
 */
export function rungReason(next: Rung, models: readonly ModelView[]): string {
  const found =
    next.kind === 'cloud' ? undefined : models.find(({ row }) => row.id === next.row.id);
  // One that has a setback of its own failed too, and is stored.
  if (!found || next.kind === 'context' || isStored(found.status) || found.setback)
    return meaning(next);
  if (found.status.kind === 'downloading') {
    const { received, total } = found.status;
    return `${meaning(next)} It is on its way: ${bytes(received)} of ${bytes(total)}.`;
  }
  const begin =
    found.status.kind === 'failed'
      ? [found.status.message, found.status.advice]
      : [`${bytes(sizeOf(found.row))} are downloaded first.`];
  return [meaning(next), ...begin, ...found.fit.asks].join(' ');
}

/** What a person who has read of a setback has read: another model's, or another offer, is news. */
export function setbackKey({ row }: ModelView, { next }: Setback): string {
  const contextTokens = next.kind === 'cloud' ? null : next.contextTokens;
  return `${row.id} ${JSON.stringify([next.kind, contextTokens])}`;
}

function meaning(next: Rung): string {
  switch (next.kind) {
    case 'context':
      return 'With a smaller window it needs less memory, and keeps less of a long conversation in mind.';
    case 'quantisation':
      return `${next.row.label} is the same model, packed in another way.`;
    case 'cpu':
      return 'The same model runs on the processor too: slower, and safer.';
    case 'smaller':
      return `${next.row.label} is smaller and needs less memory.`;
    case 'cloud':
      return 'No safer choice is left on this phone. A cloud model can answer.';
  }
}

/**
 * Takes what is offered in place of the model. Where that is the cloud and there is no key, it leads
 * to one, and the offer stands until there is.
 */
export async function takeRung(app: App, id: string, next: Rung): Promise<void> {
  const { cloudAccount } = await app.settings.get();
  if (next.kind === 'cloud' && cloudAccount === null) return navigate('/cloud');
  const taken = await app.models.stepDown(id);
  if (taken?.kind !== 'cloud') return;
  // What is offered may have changed since it was shown.
  if (cloudAccount === null) return navigate('/cloud');
  await app.settings.set({ mode: 'cloud' });
  const { screen } = currentRoute();
  if (screen.name !== 'conversation') return;
  const session = await app.conversations.open(screen.id);
  await session?.setMode('cloud');
  session?.close();
}
