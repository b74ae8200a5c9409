/** Shows one component, or a whole conversation, in a window the size of a phone. */
import { flushSync, mount, unmount, type Component } from 'svelte';
import { onTestFinished } from 'vitest';
import { page } from 'vitest/browser';
import Conversation from '../../../src/ui/conversation/Conversation.svelte';
import { openConversation } from '../../../src/ui/stores/session.svelte.ts';
import { fakeApp, fakeSession, type FakeApp, type FakeSession } from './fake-app.ts';
import Harness from './Harness.svelte';

export interface Shown {
  readonly app: FakeApp;
  readonly session: FakeSession;
  readonly root: HTMLElement;
}

type AppOptions = Parameters<typeof fakeApp>[1];

/** Shows a component; it goes when the test ends. */
export async function show<P extends Record<string, unknown>>(
  component: Component<P>,
  props: P,
  session: FakeSession = fakeSession(),
  options: AppOptions = {},
): Promise<Shown> {
  await page.viewport(360, 780);
  const root = document.createElement('div');
  root.className = 'test-root';
  // Not in markup: the policy allows no style there.
  root.style.height = '780px';
  document.body.append(root);
  const app = fakeApp(session, options);
  const mounted = mount(Harness, {
    target: root,
    props: { app, component: component as Component<Record<string, unknown>>, props },
  });
  flushSync();
  onTestFinished(async () => {
    await unmount(mounted);
    root.remove();
  });
  return { app, session, root };
}

/** Shows the conversation of a session. */
export async function showConversation(
  session: FakeSession,
  options: AppOptions & { onnew?: () => void } = {},
): Promise<Shown> {
  return show(
    Conversation,
    { open: openConversation(session), onnew: options.onnew ?? (() => {}) },
    session,
    options,
  );
}
