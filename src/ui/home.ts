/** Where `/` leads: to the first run, or to the conversation that was last at work. */
import type { App } from '../app.ts';

/** The path to go on to. */
export async function homePath(app: App): Promise<string> {
  const [settings, conversations] = await Promise.all([
    app.settings.get(),
    app.conversations.list(),
  ]);
  // Who came in by a link or a shortcut, and has talked, needs no welcome.
  if (!settings.firstRunDone && conversations.length === 0) return '/welcome';
  const last = conversations.reduce<{ id: string; updatedAt: number } | null>(
    (newest, one) => (newest && newest.updatedAt >= one.updatedAt ? newest : one),
    null,
  );
  return `/c/${(last ?? (await app.conversations.create())).id}`;
}
