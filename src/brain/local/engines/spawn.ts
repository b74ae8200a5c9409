/**
 * Makes the workers of this room. A policy header may ask that script addresses are vouched for
 * (Trusted Types): ours vouches for files of this origin and nothing else.
 */

/** The part of the Trusted Types API that is used here; not yet in TypeScript's library. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

function ours(url: string): string {
  const { origin } = new URL(url, self.location.href);
  if (origin !== self.location.origin) throw new TypeError(`Not a worker of this app: ${origin}`);
  return url;
}

const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  'worker-url',
  { createScriptURL: ours },
);

/** The address of one of the app's own worker files, as `new Worker` wants it under the policy. */
export function workerUrl(url: string): string {
  return (policy?.createScriptURL(url) ?? ours(url)) as string;
}

/** Starts a module worker from one of the app's own files. */
export function spawnWorker(url: string, name: string): Worker {
  return new Worker(workerUrl(url), { type: 'module', name });
}
