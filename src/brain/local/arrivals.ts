/**
 * Where files wait that were fetched while the app was closed: a cache that the service worker fills
 * and the downloads' worker empties, by address. Nothing in it counts before it was verified.
 */
export const ARRIVALS = 'deft-arrivals';
