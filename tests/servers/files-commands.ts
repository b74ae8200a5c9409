/** The file server, as commands that a test in the browser can give to Node. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BrowserCommand } from 'vitest/node';
import { randomGemma3 } from '../models/gguf.ts';
import { startFiles, type FilesServer } from './files.ts';

const FOLDERS = { models: path.resolve('models') };

const servers = new Map<string, FilesServer>();
const made = new Map<string, Uint8Array>();

/**
 * Serves `models` under `/models/`, and `/made/random.gguf`, a model of random weights; gives the address.
 */
const startFileServer: BrowserCommand<[port?: number]> = async (_context, port) => {
  made.set('/made/random.gguf', randomGemma3());
  const server = await startFiles({ folders: FOLDERS, made }, port);
  servers.set(server.url, server);
  return server.url;
};

/** From now on nobody answers at this address. */
const stopFileServer: BrowserCommand<[url: string]> = async (_context, url) => {
  await servers.get(url)?.close();
  servers.delete(url);
};

/** Serves a text under a path, on every file server. */
const makeFile: BrowserCommand<[path: string, text: string]> = async (_context, at, text) => {
  made.set(at, Buffer.from(text));
};

/** Serves a file of the servers under another path too. */
const copyFile: BrowserCommand<[from: string, to: string]> = async (_context, from, to) => {
  const [, first = '', ...rest] = from.split('/');
  const folder = FOLDERS[first as keyof typeof FOLDERS];
  made.set(to, await readFile(path.join(folder, ...rest)));
};

/** Serves a made file with noise behind it, so that it has this many bytes. */
const growFile: BrowserCommand<[from: string, to: string, bytes: number]> = async (
  _context,
  from,
  to,
  bytes,
) => {
  const start = made.get(from) ?? new Uint8Array();
  made.set(to, Buffer.concat([start, randomBytes(bytes - start.length)]));
};

const fileRequests: BrowserCommand<[url: string]> = async (_context, url) => [
  ...(servers.get(url)?.requests ?? []),
];

export const fileCommands = {
  startFileServer,
  stopFileServer,
  makeFile,
  copyFile,
  growFile,
  fileRequests,
};

declare module 'vitest/internal/browser' {
  interface BrowserCommands {
    startFileServer: (port?: number) => Promise<string>;
    stopFileServer: (url: string) => Promise<void>;
    makeFile: (path: string, text: string) => Promise<void>;
    copyFile: (from: string, to: string) => Promise<void>;
    growFile: (from: string, to: string, bytes: number) => Promise<void>;
    fileRequests: (url: string) => Promise<string[]>;
  }
}
