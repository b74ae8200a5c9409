/** The MCP host together with the sign-ins of its servers; what the app starts behind its first screen. */
import { createSignIn } from './auth/signin.ts';
import type { SignIn } from './auth/types.ts';
import { browserWindows } from './auth/windows.ts';
import { createHost, type HostOptions } from './host.ts';
import type { Host, ToolCaller } from './types.ts';

/** In a page: with its windows, its origin and its Web Locks. */
export function startHost(options: HostOptions & { readonly online: () => boolean }): {
  readonly host: Host & ToolCaller;
  readonly signIn: SignIn;
} {
  const { store, online } = options;
  const signIn = createSignIn({
    store,
    windows: browserWindows(),
    origin: location.origin,
    locks: navigator.locks,
    online,
  });
  return { host: createHost({ ...options, signIn }), signIn };
}
