/** The cloud server, as commands that a test in the browser can give to Node. */
import type { BrowserCommand } from 'vitest/node';
import { startCloud, type CloudServer, type CloudServerOptions } from './cloud.ts';

const servers = new Map<string, CloudServer>();

const startCloudServer: BrowserCommand<[options?: CloudServerOptions]> = async (
  _context,
  options,
) => {
  const server = await startCloud(options);
  servers.set(server.url, server);
  return server.url;
};

/** From now on nobody answers at this address. */
const stopCloudServer: BrowserCommand<[url: string]> = async (_context, url) => {
  await servers.get(url)?.close();
  servers.delete(url);
};

export const cloudCommands = { startCloudServer, stopCloudServer };

declare module 'vitest/internal/browser' {
  interface BrowserCommands {
    startCloudServer: (options?: CloudServerOptions) => Promise<string>;
    stopCloudServer: (url: string) => Promise<void>;
  }
}
