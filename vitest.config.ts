import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { authorizationCommands } from './tests/servers/authorization-commands.ts';
import { cloudCommands } from './tests/servers/cloud-commands.ts';
import { fileCommands } from './tests/servers/files-commands.ts';
import { mcpCommands } from './tests/servers/mcp-commands.ts';
import { CHROMIUM_FLAGS, findChromium } from './tools/chromium.ts';
import { wllama } from './tools/vite-wllama.ts';

const executablePath = findChromium();
const languages = [
  'bash',
  'css',
  'javascript',
  'json',
  'kotlin',
  'python',
  'sql',
  'typescript',
  'xml',
  'yaml',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          environment: 'node',
          include: ['tests/unit/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        plugins: [svelte(), wllama()],
        worker: { format: 'es', plugins: () => [wllama()] },
        optimizeDeps: {
          // Nothing is looked for while tests run: what was found then would load Svelte twice.
          noDiscovery: true,
          include: [
            '@cfworker/json-schema',
            'axe-core',
            '@mlc-ai/web-llm',
            '@modelcontextprotocol/client',
            '@noble/ciphers/chacha.js',
            '@wllama/wllama',
            'chrono-node/en',
            'eventsource-parser',
            'highlight.js/lib/core',
            ...languages.map((name) => `highlight.js/lib/languages/${name}`),
            'idb',
            'marked',
            'remend',
            'virtua/svelte',
            'zod/v4/core',
          ],
        },
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 300_000,
          // As in playwright.config.ts; Vitest itself tells which were tried again.
          retry: 1,
          // What a screen owes is there in a minute, also on a busy machine.
          expect: { poll: { timeout: 60_000 } },
          fileParallelism: false,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            commands: {
              ...authorizationCommands,
              ...cloudCommands,
              ...fileCommands,
              ...mcpCommands,
            },
            provider: playwright({
              actionTimeout: 60_000,
              launchOptions: {
                args: CHROMIUM_FLAGS,
                ...(executablePath ? { executablePath } : {}),
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
