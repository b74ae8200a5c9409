import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { shell } from './tools/vite-shell.ts';
import { wllama } from './tools/vite-wllama.ts';

export default defineConfig({
  plugins: [svelte(), wllama(), shell()],
  build: {
    target: 'es2023',
    sourcemap: false,
    manifest: true,
    modulePreload: { polyfill: false },
    // A file as data: is refused as a script's source, and the policy allows no font of that kind.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most screens share, as one file: dozens of tiny ones cost more than they save.
          groups: [
            {
              name: 'ui',
              test: /src\/ui\/(components|router|overlays|errors)|@lucide|node_modules\/svelte/,
              minShareCount: 3,
            },
          ],
        },
      },
    },
  },
  worker: { format: 'es', plugins: () => [wllama()] },
});
