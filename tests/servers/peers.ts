/**
 * Servers and gateways that nobody here wrote, each in a process of its own on a free port: the
 * public filesystem and memory servers speak stdio, and a gateway puts them on HTTP.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo } from 'node:net';

export interface Peer {
  readonly url: string;
  close(): Promise<void>;
}

/** A public server, as a command. */
export interface StdioServer {
  readonly kind: 'filesystem' | 'memory';
  /** Folders that the filesystem server may use; where the memory server keeps its file. */
  readonly folder: string;
}

export type Gateway =
  /** One endpoint for both eras. */
  | 'mcp-proxy'
  /** The same, and only the older era. */
  | 'mcp-proxy-legacy'
  /** The same, over HTTP+SSE. */
  | 'mcp-proxy-sse'
  | 'supergateway';

const { resolve: resolvePackage } = createRequire(import.meta.url);
/** Another process may take the port in between; then another is tried. */
const ATTEMPTS = 5;
const POLL_MS = 25;

export async function startPeer(gateway: Gateway, server: StdioServer): Promise<Peer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    // Of its own group, so that what it starts ends with it.
    const child = spawn(process.execPath, argsOf(gateway, commandOf(server), port), {
      env: { ...process.env, MEMORY_FILE_PATH: `${server.folder}/memory.jsonl` },
      stdio: 'ignore',
      detached: true,
    });
    if (await listens(child, port)) {
      const path = gateway === 'mcp-proxy-sse' ? '/sse' : '/mcp';
      return { url: `http://localhost:${port}${path}`, close: () => end(child) };
    }
    if (attempt === ATTEMPTS) throw new Error(`${gateway} did not start.`);
  }
}

function commandOf({ kind, folder }: StdioServer): string[] {
  const main = resolvePackage(`@modelcontextprotocol/server-${kind}/dist/index.js`);
  return [process.execPath, main, ...(kind === 'filesystem' ? [folder] : [])];
}

function argsOf(gateway: Gateway, command: readonly string[], port: number): string[] {
  if (gateway === 'supergateway')
    return [
      resolvePackage('supergateway/dist/index.js'),
      '--stdio',
      command.map((word) => JSON.stringify(word)).join(' '),
      '--outputTransport',
      'streamableHttp',
      '--stateful',
      '--logLevel',
      'none',
      '--port',
      String(port),
    ];
  return [
    resolvePackage('mcp-proxy/dist/bin/mcp-proxy.mjs'),
    '--port',
    String(port),
    ...(gateway === 'mcp-proxy-legacy' ? ['--no-modern'] : []),
    '--',
    ...command,
  ];
}

/** Waits until somebody listens; false where the process ended before. */
async function listens(child: ChildProcess, port: number): Promise<boolean> {
  let ended = false;
  child.once('exit', () => (ended = true));
  while (!ended) {
    if (await answers(port)) return true;
    await new Promise((next) => setTimeout(next, POLL_MS));
  }
  return false;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, 'localhost');
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || !child.pid) return resolve();
    child.once('exit', () => resolve());
    process.kill(-child.pid, 'SIGKILL');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
