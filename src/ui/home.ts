/** Where `/` leads: to the first run, or to the conversation that was last at work. */
import type { App } from '../app.ts';

/** The path to go on to. */
export async function homePath(app: App): Promise<string> {
  if (!(await app.settings.get()).firstRunDone) return '/welcome';
  const last = (await app.conversations.list()).reduce<{ id: string; updatedAt: number } | null>(
    (newest, one) => (newest && newest.updatedAt >= one.updatedAt ? newest : one),
    null,
  );
  return `/c/${(last ?? (await app.conversations.create())).id}`;
}
