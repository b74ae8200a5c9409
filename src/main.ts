/** Starts the app: joins the rooms, shows the first screen, then makes the app work offline. */
import './mcp/no-eval.ts';
import { mount, unmount } from 'svelte';
import { createApp } from './app.ts';
import type { Locked } from './store/store.ts';
import App from './ui/App.svelte';
import { watchInstall } from './ui/shell/install.svelte.ts';
import { registerServiceWorker } from './ui/shell/service-worker.ts';
import StartFailed from './ui/StartFailed.svelte';
import { recallTheme } from './ui/theme.ts';

const target = document.getElementById('app') ?? document.body;

recallTheme();
watchInstall();

/** Asks the person to open the app lock; nothing of the app is there before. */
async function unlock(locked: Locked): Promise<void> {
  const { default: Unlock } = await import('./ui/screens/Unlock.svelte');
  await new Promise<void>((resolve) => {
    const screen = mount(Unlock, {
      target,
      props: {
        locked,
        onopen() {
          void unmount(screen);
          resolve();
        },
      },
    });
  });
}

try {
  const app = await createApp(unlock);
  mount(App, { target, props: { app } });
  void import('./ui/shell/away.ts').then(({ lockWhenAway }) => lockWhenAway(app));
} catch (cause) {
  mount(StartFailed, { target, props: { cause } });
}

void registerServiceWorker();
