/**
 * The SDK checks messages with Zod, which tries whether it may compile its checks; the page's policy
 * forbids that, and the browser reports each try. Imported before the SDK, whose schemas are made
 * while it loads.
 */
import { config } from 'zod/v4/core';

config({ jitless: true });
