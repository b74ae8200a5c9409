import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [svelte()],
  build: { target: 'es2023', sourcemap: false, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
});
