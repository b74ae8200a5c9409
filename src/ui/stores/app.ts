/** The app's surface, handed down to every screen through Svelte's context. */
import { createContext } from 'svelte';
import type { App } from '../../app.ts';

const [useApp, setApp] = createContext<App>();

/** `useApp()` in a component's script gives the app; `setApp(app)` is for the root and for tests. */
export { setApp, useApp };
