import { defineConfig } from '@playwright/test';

/** The built app, as a person uses it. Fixtures: tests/e2e/fixtures.ts. */
export default defineConfig({
  testDir: 'tests/e2e',
  // A model in WebAssembly and one in a software GPU share two cores with the page.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
});
