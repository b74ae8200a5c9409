import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { cloudCommands } from './tests/servers/cloud-commands.ts';
import { fileCommands } from './tests/servers/files-commands.ts';
import { mcpCommands } from './tests/servers/mcp-commands.ts';
import { CHROMIUM_FLAGS, findChromium } from './tools/chromium.ts';
import { wllama } from './tools/vite-wllama.ts';

const executablePath = findChromium();

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
          // All that tests import, workers included: what is found later would reload the page.
          entries: ['src/main.ts', 'src/**/*.worker.ts', 'tests/browser/**/*.test.ts'],
          include: ['@cfworker/json-schema', '@modelcontextprotocol/client', 'chrono-node/en'],
        },
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 300_000,
          fileParallelism: false,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            commands: { ...cloudCommands, ...fileCommands, ...mcpCommands },
            provider: playwright({
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
