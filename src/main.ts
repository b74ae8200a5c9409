/** Starts the app: joins the rooms, shows the first screen, then makes the app work offline. */
import './mcp/no-eval.ts';
import { mount } from 'svelte';
import { createApp } from './app.ts';
import App from './ui/App.svelte';
import { watchInstall } from './ui/shell/install.svelte.ts';
import { registerServiceWorker } from './ui/shell/service-worker.ts';
import StartFailed from './ui/StartFailed.svelte';
import { recallTheme } from './ui/theme.ts';

const target = document.getElementById('app') ?? document.body;

recallTheme();
watchInstall();

try {
  const app = await createApp();
  mount(App, { target, props: { app } });
} catch (cause) {
  mount(StartFailed, { target, props: { cause } });
}

void registerServiceWorker();
