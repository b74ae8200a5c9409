/** Builds a page of the bench as the app is built, so that what it measures is what a person gets. */
import path from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { build } from 'vite';
import { wllama } from '../../tools/vite-wllama.ts';

/** `root`: the page's folder; `outDir`: where it is built, absolute. */
export async function buildPage(root: string, outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: path.resolve(root),
    publicDir: false,
    logLevel: 'error',
    plugins: [svelte({ configFile: path.resolve('svelte.config.js') }), wllama()],
    worker: { format: 'es', plugins: () => [wllama()] },
    build: {
      target: 'es2023',
      outDir,
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 20_000,
    },
  });
}
