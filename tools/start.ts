/**
 * `npm start`: builds the app where the build is missing or old, serves it with its real headers,
 * starts the demo MCP server, and fills `models/` behind that, so that the page is there at once.
 * PORT and DEMO_PORT choose the ports, HOST the address to listen on.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';
import { startTravel, TRAVEL_PORT } from '../tests/servers/travel.ts';
import { startServer } from './serve.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const DIST = path.join(ROOT, 'dist');
/** What a build is made of. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'svelte.config.js',
  'package-lock.json',
  'tools/headers.ts',
  'tools/vite-shell.ts',
  'tools/vite-wllama.ts',
  'tools/licences.ts',
];

const port = readPort('PORT', 4173);
const demoPort = readPort('DEMO_PORT', TRAVEL_PORT);
const host = process.env.HOST;

function readPort(name: string, usual: number): number {
  const value = Number(process.env[name] || usual);
  if (Number.isInteger(value) && value >= 0 && value < 65_536) return value;
  return fail(`${name} is "${process.env[name]}", which is no port. Give a number below 65536.`);
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

/** Newest change below a path, in milliseconds since the epoch. */
async function changedAt(file: string): Promise<number> {
  const found = await stat(file);
  if (!found.isDirectory()) return found.mtimeMs;
  const inside = await readdir(file);
  const times = await Promise.all(inside.map((name) => changedAt(path.join(file, name))));
  return Math.max(found.mtimeMs, ...times);
}

async function isStale(): Promise<boolean> {
  const built = path.join(DIST, 'sw.js');
  if (!existsSync(built)) return true;
  const times = await Promise.all(SOURCES.map((name) => changedAt(path.join(ROOT, name))));
  return Math.max(...times) > (await stat(built)).mtimeMs;
}

/** Starts something on a port, or ends with a sentence that says why that cannot be. */
async function listen<T>(what: string, at: number, name: string, start: () => Promise<T>) {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EADDRINUSE')
      return fail(
        `Port ${at} is taken, so ${what} cannot start. Stop what runs there, or choose another: ${name}=${at + 10} npm start`,
      );
    if (code === 'EACCES')
      return fail(`Port ${at} needs more rights. Choose one above 1023: ${name}=4173 npm start`);
    throw error;
  }
}

if (await isStale()) {
  console.log('Building the app.');
  await build({ root: ROOT, logLevel: 'warn' });
}

const travel = await listen('the demo server', demoPort, 'DEMO_PORT', () =>
  startTravel({ port: demoPort }),
);
const served = await listen('the app', port, 'PORT', () =>
  startServer({
    port,
    ...(host ? { host } : {}),
    dist: DIST,
    models: path.join(ROOT, 'models'),
    demo: { url: travel.url, name: 'Travel demo' },
  }),
);

console.log(`
Deft is on        ${served.url}
The demo server   ${travel.url}
Ctrl-C stops both.
`);

// In a process of its own: merging a model keeps a processor busy, and the page is not to wait for it.
const weights = spawn(process.execPath, ['--import', 'tsx', path.join(ROOT, 'tools/weights.ts')], {
  cwd: ROOT,
  stdio: 'inherit',
});
weights.on('exit', (code) => {
  if (code) console.error('The app runs all the same, without the model that is served beside it.');
});

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stopping) process.exit(1);
    stopping = true;
    weights.removeAllListeners('exit');
    weights.kill();
    void Promise.allSettled([served.close(), travel.close()]).then(() => process.exit(0));
  });
