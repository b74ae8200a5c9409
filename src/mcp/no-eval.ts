/**
 * The SDK checks messages with Zod, which tries whether it may compile its checks; the page's policy
 * forbids that, and the browser reports each try. Zod takes its settings from this global, whichever
 * of them is loaded first: how the code is cut into files decides that, so the app imports this before
 * all else.
 */
const settings = globalThis as { __zod_globalConfig?: { jitless?: boolean } };
settings.__zod_globalConfig ??= {};
settings.__zod_globalConfig.jitless = true;

export {};
