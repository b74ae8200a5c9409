import { defineConfig } from '@playwright/test';

/** The built app, as a person uses it. Fixtures: tests/e2e/stack.ts. */
export default defineConfig({
  testDir: 'tests/e2e',
  // A model in WebAssembly and one in a software GPU share two cores with the page.
  workers: 1,
  fullyParallel: false,
  // Told by tools/test.ts: a whole browser on a busy machine may fail for the machine's sake.
  retries: 1,
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
});
