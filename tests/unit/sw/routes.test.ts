import { describe, expect, it } from 'vitest';
import { route, stem, successors, type Build } from '../../../src/sw/routes.ts';

const ORIGIN = 'https://deft.example';
const BUILD: Build = {
  version: 'v1',
  shell: ['/', '/assets/index-AAAAAAAA.js', '/manifest.webmanifest', '/licences.txt'],
  lazy: ['/assets/webllm-BBBBBBBB.js', '/assets/wllama-CCCCCCCC.wasm'],
};
const get = (path: string, mode = 'cors', method = 'GET') =>
  route({ method, mode, url: new URL(path, ORIGIN).href }, ORIGIN, BUILD);

describe('what the service worker answers', () => {
  it('opens the page for every route, deep links and shared words included', () => {
    for (const path of ['/', '/?new=1', '/chats/abc-1', '/servers/x', '/share?text=a.b'])
      expect(get(path, 'navigate')).toEqual({ from: 'page' });
  });

  it('serves a file of the shell as itself, when it is opened as a page too', () => {
    expect(get('/assets/index-AAAAAAAA.js')).toEqual({
      from: 'shell',
      path: '/assets/index-AAAAAAAA.js',
    });
    expect(get('/licences.txt', 'navigate')).toEqual({ from: 'shell', path: '/licences.txt' });
  });

  it('keeps big files apart', () => {
    expect(get('/assets/webllm-BBBBBBBB.js')).toEqual({
      from: 'lazy',
      path: '/assets/webllm-BBBBBBBB.js',
    });
  });

  it('never touches weights, the demo address, other origins, writes, or unknown files', () => {
    for (const path of [
      '/models/index.json',
      '/models/a/b.bin',
      '/demo.json',
      '/sw.js',
      '/assets/index-OLDOLDOL.js',
      'https://elsewhere.example/',
      'https://elsewhere.example/assets/index-AAAAAAAA.js',
    ])
      expect(get(path), path).toEqual({ from: 'network' });
    expect(get('/models/readme', 'navigate')).toEqual({ from: 'network' });
    expect(get('/', 'navigate', 'POST')).toEqual({ from: 'network' });
  });
});

describe('big files over an update', () => {
  it('are known by their name without the hash', () => {
    expect(stem('/assets/webllm-BX3_a9-z.js')).toBe('webllm');
    expect(stem('/assets/wllama-worker-BX3_a9zz.js')).toBe('wllama-worker');
    expect(stem('/big.wasm')).toBe('big');
  });

  it('are replaced by their successors only where they were kept', () => {
    expect(successors(BUILD.lazy, ['/assets/webllm-ZZZZZZZZ.js'])).toEqual([
      '/assets/webllm-BBBBBBBB.js',
    ]);
    expect(successors(BUILD.lazy, ['/assets/webllm-BBBBBBBB.js'])).toEqual([]);
  });
});
