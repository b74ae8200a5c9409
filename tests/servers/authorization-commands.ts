/** The authorization server and the person at it, as commands that a test in the browser can give. */
import type { BrowserCommand } from 'vitest/node';
import {
  startAuthorization,
  type Authorization,
  type AuthorizationOptions,
} from './authorization.ts';
import { visit } from './person.ts';

const running = new Map<string, Authorization>();

/** Starts it with the server that it protects; gives the address of that one. */
const startProtected: BrowserCommand<
  [options?: Pick<AuthorizationOptions, 'seconds' | 'challenge'>]
> = async (_context, options = {}) => {
  const server = await startAuthorization(options);
  running.set(server.mcp.url, server);
  return server.mcp.url;
};

const stopProtected: BrowserCommand<[url: string]> = async (_context, url) => {
  await running.get(url)?.close();
  running.delete(url);
};

/** From now on the server refuses every token that was given out so far. */
const expireProtected: BrowserCommand<[url: string]> = async (_context, url) => {
  running.get(url)?.expireAccess();
};

/** How many tokens were asked for with this grant. */
const grantsAsked: BrowserCommand<[url: string, grant: string]> = async (_context, url, grant) =>
  running.get(url)?.tokenRequests(grant).length ?? 0;

/** Signs in as a person does, in a browser of their own; gives the address that they end at. */
const visitSignIn: BrowserCommand<[address: string, home: string]> = async (
  _context,
  address,
  home,
) => (await visit(address, home)).callback.href;

export const authorizationCommands = {
  startProtected,
  stopProtected,
  expireProtected,
  grantsAsked,
  visitSignIn,
};

declare module 'vitest/internal/browser' {
  interface BrowserCommands {
    startProtected: (
      options?: Pick<AuthorizationOptions, 'seconds' | 'challenge'>,
    ) => Promise<string>;
    stopProtected: (url: string) => Promise<void>;
    expireProtected: (url: string) => Promise<void>;
    grantsAsked: (url: string, grant: string) => Promise<number>;
    visitSignIn: (address: string, home: string) => Promise<string>;
  }
}
