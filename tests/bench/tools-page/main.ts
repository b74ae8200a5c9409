/**
 * The app over as many stored tools as are asked for: how long it takes to read them, to offer some
 * of them, and to draw the servers screen. Nothing is asked over the network.
 */
import { mount } from 'svelte';
import { createApp } from '../../../src/app.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createPhone } from '../../../src/phone/phone.ts';
import { openStore } from '../../../src/store/open.ts';
import App from '../../../src/ui/App.svelte';
import { navigate } from '../../../src/ui/router.ts';
import '../../../src/ui/theme.css';

/** In milliseconds. */
export interface ToolTimes {
  /** Until all servers and tools are read, as at the start of the app. */
  readonly read: number;
  /** The first offer, for which all tools are named and indexed. */
  readonly firstOffer: number;
  /** A later one. */
  readonly offer: number;
  /** Until the servers screen shows the last server. */
  readonly screen: number;
}

declare global {
  interface Window {
    measureTools(servers: number): Promise<ToolTimes>;
  }
}

const TOOLS_A_SERVER = 50;
const OFFERS = 20;
const VERBS = 'get list create update delete search send export share book'.split(' ');
const NOUNS = 'order invoice note photo route ticket room meal seat bill letter parcel'.split(' ');

function toolOf(server: number, at: number) {
  const verb = VERBS[at % VERBS.length] ?? '';
  const noun = NOUNS[(at + server) % NOUNS.length] ?? '';
  const property = (description: string) => ({ type: 'string', description });
  return {
    name: `${verb}_${noun}_${at}`,
    title: `${verb} ${noun}`,
    description: `Use this to ${verb} a ${noun} of a customer by its number, with what belongs to it.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: property(`Number of the ${noun}.`),
        since: property('Only what changed after this day, as YYYY-MM-DD.'),
        sort: { enum: ['newest', 'oldest', 'name'], description: 'The order of the answer.' },
      },
      required: ['id'],
    },
    pin: `${server}/${at}`,
  };
}

const nextFrame = (): Promise<unknown> => new Promise(requestAnimationFrame);

async function until(text: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!document.body.textContent.includes(text)) {
    if (performance.now() > deadline) throw new Error(`The screen never said "${text}".`);
    await nextFrame();
  }
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

window.measureTools = async (servers) => {
  const store = await openStore();
  await store.settings.set({ firstRunDone: true });
  for (let at = 0; at < servers; at += 1) {
    const id = `s${at}`;
    await store.lists.put({
      server: id,
      fetchedAt: Date.now(),
      ttlMs: 3_600_000,
      off: [],
      tools: Array.from({ length: TOOLS_A_SERVER }, (_, tool) => toolOf(at, tool)),
    });
    await store.servers.put({
      id,
      name: `Server number ${at}`,
      url: `https://s${at}.example/mcp`,
      addedAt: at + 1,
      enabled: true,
      trustHints: false,
      private: false,
    });
  }
  const host = createHost({ store, inPage: [createPhone({ store })], online: () => false });
  const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
  const read = await took(() => host.list());
  const ask = (words: string) =>
    toolbox.offer(words, { maxTools: 8, maxTokens: 2_000, cost: () => 100 });
  const firstOffer = await took(() => ask('find the invoice of a customer'));
  const later = await took(async () => {
    for (let times = 0; times < OFFERS; times += 1) await ask(`send me the photo ${times}`);
  });
  await host.close();
  mount(App, {
    target: document.getElementById('app')!,
    props: { app: await createApp() },
  });
  await until('What can I do for you?');
  const screen = await took(async () => {
    navigate('/servers');
    await until(`Server number ${servers - 1}`);
  });
  return { read, firstOffer, offer: later / OFFERS, screen };
};
