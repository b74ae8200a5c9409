import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HEADERS } from '../../../tools/headers.ts';
import { parseRange, startServer, type Served } from '../../../tools/serve.ts';

const PAGE = '<!doctype html><title>Deft</title>';
const SCRIPT = `export const words = ${JSON.stringify('deft '.repeat(2000))};`;

let folder: string;
let served: Served;

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** A request exactly as written: `fetch` would tidy up the path and undo the compression. */
function raw(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  const { port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: target, headers, method }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deft-serve-'));
  const dist = path.join(folder, 'dist');
  const models = path.join(folder, 'models');
  await mkdir(path.join(dist, 'assets'), { recursive: true });
  await mkdir(path.join(dist, '.vite'), { recursive: true });
  await mkdir(path.join(models, '.cache'), { recursive: true });
  await writeFile(path.join(dist, 'index.html'), PAGE);
  await writeFile(path.join(dist, 'assets/index-AAAAAAAA.js'), SCRIPT);
  await writeFile(path.join(dist, '.vite/manifest.json'), '{}');
  await writeFile(path.join(models, 'a.bin'), '0123456789');
  await writeFile(path.join(models, 'empty.bin'), '');
  await writeFile(path.join(models, '.cache/secret'), 'hidden');
  await writeFile(path.join(folder, 'outside.txt'), 'outside');
  served = await startServer({ port: 0, dist, models, demo: { url: 'http://x/mcp', name: 'T' } });
});

afterAll(async () => {
  await served.close();
  await rm(folder, { recursive: true });
});

describe('the static server', () => {
  it('sends every header of the app with every answer, errors included', async () => {
    for (const target of ['/', '/assets/index-AAAAAAAA.js', '/models/a.bin', '/none.js']) {
      const { headers } = await raw(target);
      for (const [name, value] of Object.entries(HEADERS))
        expect(headers[name.toLowerCase()], `${name} of ${target}`).toBe(value);
    }
  });

  it('gives the page for every route and a 404 for every missing file, never a page for a file', async () => {
    for (const target of ['/', '/chats/1', '/share?text=a.b', '/servers/%C3%A9']) {
      const answer = await raw(target);
      expect(answer.status, target).toBe(200);
      expect(answer.body.toString()).toBe(PAGE);
    }
    for (const target of ['/assets/gone-AAAAAAAA.js', '/models/none', '/models/', '/x.png']) {
      const answer = await raw(target);
      expect(answer.status, target).toBe(404);
      expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    }
  });

  it('reads nothing outside its folders and nothing hidden', async () => {
    for (const target of [
      '/../outside.txt',
      '/%2e%2e/outside.txt',
      '/models/../../outside.txt',
      '/models/..%2f..%2foutside.txt',
      '/models/.cache/secret',
      '/.vite/manifest.json',
      '/assets\\..\\..\\outside.txt',
      '/%00',
      '/%zz',
    ]) {
      const answer = await raw(target);
      expect(answer.status, target).toBe(404);
      expect(answer.body.toString()).not.toMatch(/outside|hidden|\{\}/);
    }
  });

  it('lets hashed files be kept for good and everything else be asked for again', async () => {
    const hashed = await raw('/assets/index-AAAAAAAA.js');
    expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const target of ['/', '/models/a.bin']) {
      const first = await raw(target);
      expect(first.headers['cache-control']).toBe('no-cache');
      const again = await raw(target, { 'If-None-Match': String(first.headers.etag) });
      expect(again.status).toBe(304);
      expect(again.body.length).toBe(0);
    }
  });

  it('compresses text and leaves weights as they are', async () => {
    const br = await raw('/assets/index-AAAAAAAA.js', { 'Accept-Encoding': 'gzip, deflate, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT);
    const gz = await raw('/assets/index-AAAAAAAA.js', { 'Accept-Encoding': 'gzip' });
    expect(gunzipSync(gz.body).toString()).toBe(SCRIPT);
    expect(gz.headers.etag).not.toBe(br.headers.etag);
    const weights = await raw('/models/a.bin', { 'Accept-Encoding': 'br' });
    expect(weights.headers['content-encoding']).toBeUndefined();
  });

  it('serves ranges, so that a download goes on where it stopped', async () => {
    const part = await raw('/models/a.bin', { Range: 'bytes=4-' });
    expect(part.status).toBe(206);
    expect(part.headers['content-range']).toBe('bytes 4-9/10');
    expect(part.body.toString()).toBe('456789');
    expect((await raw('/models/a.bin', { Range: 'bytes=10-' })).status).toBe(416);
    const changed = await raw('/models/a.bin', { Range: 'bytes=4-', 'If-Range': '"other"' });
    expect(changed.status).toBe(200);
    expect(changed.body.toString()).toBe('0123456789');
    expect((await raw('/models/empty.bin')).status).toBe(200);
  });

  it('answers HEAD without a body and refuses to write', async () => {
    const head = await raw('/models/a.bin', {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe('10');
    expect(head.body.length).toBe(0);
    expect((await raw('/', {}, 'POST')).status).toBe(405);
  });

  it('tells the app of the demo server', async () => {
    const demo = await raw('/demo.json');
    expect(JSON.parse(demo.body.toString())).toEqual({ url: 'http://x/mcp', name: 'T' });
  });
});

describe('a range', () => {
  it('is read as RFC 9110 says', () => {
    expect(parseRange('bytes=0-3', 10)).toEqual({ start: 0, end: 3 });
    expect(parseRange('bytes=-3', 10)).toEqual({ start: 7, end: 9 });
    expect(parseRange('bytes=-30', 10)).toEqual({ start: 0, end: 9 });
    expect(parseRange('bytes=5-99', 10)).toEqual({ start: 5, end: 9 });
    expect(parseRange('bytes=0-1,3-4', 10)).toBe('none');
    expect(parseRange('bytes=5-2', 10)).toBe('none');
    expect(parseRange('bytes=-0', 10)).toBe('invalid');
    expect(parseRange(undefined, 10)).toBe('none');
  });
});
