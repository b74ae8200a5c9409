/**
 * Runs the public `server-everything` in a process of its own, on a port that is free: a real server
 * of the older era with every primitive, over Streamable HTTP or HTTP+SSE.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';

export interface Everything {
  readonly url: string;
  close(): Promise<void>;
}

const PATHS = { streamableHttp: '/mcp', sse: '/sse' };
/** Another process may take the port in between; then another is tried. */
const ATTEMPTS = 5;

export async function startEverything(kind: keyof typeof PATHS): Promise<Everything> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const started = await run(kind, port);
    if (started)
      return { url: `http://localhost:${port}${PATHS[kind]}`, close: () => end(started) };
    if (attempt === ATTEMPTS) throw new Error('server-everything did not start.');
  }
}

async function run(kind: string, port: number): Promise<ChildProcess | null> {
  const main = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  );
  const child = spawn(process.execPath, [main, kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve) => {
    child.once('exit', () => resolve(null));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes(String(port))) resolve(child);
      });
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
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
