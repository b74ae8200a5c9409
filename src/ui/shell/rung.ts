/** The safer choice in place of a model that failed: its words, and what a tap on it does. */
import type { App } from '../../app.ts';
import type { ModelView, Rung } from '../../brain/local/types.ts';
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

/** What that means, as a sentence or two. */
export function rungReason(next: Rung, models: readonly ModelView[]): string {
  const found =
    next.kind === 'cloud' ? undefined : models.find(({ row }) => row.id === next.row.id);
  if (!found || next.kind === 'context' || isStored(found.status)) return meaning(next);
  if (found.status.kind === 'downloading') {
    const { received, total } = found.status;
    return `${meaning(next)} It is on its way: ${bytes(received)} of ${bytes(total)}.`;
  }
  return `${meaning(next)} ${bytes(sizeOf(found.row))} are downloaded first.`;
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

/** Takes what is offered in place of the model; for the cloud it leads to a key where there is none. */
export async function takeRung(app: App, id: string): Promise<void> {
  const taken = await app.models.stepDown(id);
  if (taken?.kind !== 'cloud') return;
  const { cloudAccount } = await app.settings.get();
  if (cloudAccount === null) return navigate('/cloud');
  await app.settings.set({ mode: 'cloud' });
  const { screen } = currentRoute();
  if (screen.name !== 'conversation') return;
  const session = await app.conversations.open(screen.id);
  await session?.setMode('cloud');
  session?.close();
}
