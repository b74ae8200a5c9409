/**
 * The ways into the app that are more than a screen: the shortcuts "New chat" and "Ask by voice",
 * words shared from another app, links that propose a server, and a launch while the app is open
 * already. Whatever comes in ends as a draft or a proposal: nothing is sent before the person has
 * seen it.
 */
import type { App } from '../../app.ts';
import type { ForeignText } from '../../store/records.ts';
import { currentRoute, navigate } from '../router.ts';
import { carried } from './carried.svelte.ts';
import { proposedBy } from './invite.ts';
import { sharedText } from './shared.ts';
import { voice } from './voice.svelte.ts';

/** The address that opened this page, before any screen has replaced it. */
const FIRST = location.href;

/**
 * Opens a new conversation with words in its composer; `foreign`: what others wrote of them. Words that
 * could not be stored come into the box all the same, of whichever conversation is there. Rejects only
 * where nothing can be lost by it.
 */
export async function openWithDraft(
  app: App,
  text: string,
  foreign: readonly ForeignText[] = [],
): Promise<void> {
  let path = '/';
  try {
    const { id } = await app.conversations.create();
    path = `/c/${id}`;
    if (text !== '') await setDraft(app, id, text, foreign);
  } catch (cause) {
    const { screen } = currentRoute();
    // The address holds the words, too, and a reload tries once more.
    if (text === '' || (path === '/' && screen.name === 'share')) throw cause;
    carried.now = { words: text, foreign, cause };
    if (path === '/' && screen.name === 'conversation') return;
  }
  navigate(path, { replace: true });
}

async function setDraft(
  app: App,
  id: string,
  text: string,
  foreign: readonly ForeignText[],
): Promise<void> {
  const session = await app.conversations.open(id);
  if (!session) throw new Error('The new conversation is gone.');
  try {
    await session.setDraft(text, foreign);
  } finally {
    session.close();
  }
}

/** Acts on an address of the manifest's; false where it is an ordinary screen. */
export async function launch(app: App, url: URL): Promise<boolean> {
  if (url.pathname === '/share') {
    const text = sharedText(url.searchParams);
    await openWithDraft(app, text, [{ source: 'a shared page', text }]);
    return true;
  }
  if (url.pathname === '/' && url.searchParams.has('new')) {
    await openWithDraft(app, '');
    return true;
  }
  if (url.pathname === '/' && url.searchParams.has('voice')) {
    navigate('/', { replace: true });
    voice.open = true;
    return true;
  }
  const server = url.pathname === '/' ? proposedBy(url.searchParams) : '';
  if (server !== '') {
    // The screen shows where the address leads; only a tap there sends anything to it.
    navigate(`/servers?server=${encodeURIComponent(server)}`, { replace: true });
    return true;
  }
  return false;
}

interface LaunchQueue {
  setConsumer(consumer: (launch: { readonly targetURL?: string }) => void): void;
}

/**
 * Follows launches and notifications that reach the app while it is open. A plain start only brings
 * it to the front, where it was left. `onfault` hears of one that led nowhere.
 */
export function followLaunches(app: App, onfault: (cause: unknown) => void): () => void {
  let started = false;

  async function follow(target: string): Promise<void> {
    try {
      const url = new URL(target, location.origin);
      if (url.origin !== location.origin || (await launch(app, url))) return;
      const here = currentRoute();
      if (url.pathname !== '/' && url.pathname !== here.path) navigate(url.pathname + url.search);
    } catch (cause) {
      onfault(cause);
    }
  }

  const queue = (globalThis as { launchQueue?: LaunchQueue }).launchQueue;
  queue?.setConsumer(({ targetURL }) => {
    // The launch that opened this page: its address is this page's own.
    const own = !started && targetURL === FIRST;
    started = true;
    if (targetURL && !own) void follow(targetURL);
  });

  const heard = (event: MessageEvent<{ type?: unknown; url?: unknown }>): void => {
    if (event.data?.type === 'open' && typeof event.data.url === 'string')
      void follow(event.data.url);
  };
  navigator.serviceWorker?.addEventListener('message', heard);
  return () => navigator.serviceWorker?.removeEventListener('message', heard);
}
