/** The pull that renews the servers and a server's page: by finger only, from the top, and never silent. */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import Servers from '../../../src/ui/screens/Servers.svelte';
import Server from '../../../src/ui/screens/Server.svelte';
import { navigate } from '../../../src/ui/router.ts';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { serverView } from './server-view.ts';

const notes = serverView({ record: { id: 'notes', name: 'Notes', url: 'https://n.example/mcp' } });
const pulling = '.pull';

function finger(at: Element) {
  const event = (name: string, y: number, x = 100) => {
    const touch = new Touch({ identifier: 1, target: at, clientX: x, clientY: y });
    const touches = name === 'touchend' ? [] : [touch];
    at.dispatchEvent(
      new TouchEvent(name, { bubbles: true, touches, changedTouches: [touch], cancelable: true }),
    );
  };
  return {
    down: (y: number) => event('touchstart', y),
    move: (y: number, x?: number) => event('touchmove', y, x),
    up: () => event('touchend', 0),
  };
}

test('a pull renews every list, shows that it does, and less than a pull does nothing', async () => {
  let end = (): void => undefined;
  const refresh = vi.fn<App['host']['refresh']>(
    () => new Promise((resolve) => (end = () => resolve({ ok: true }))),
  );
  const { root } = await show(Servers, {}, fakeSession(), { servers: [notes], host: { refresh } });
  await expect.element(page.getByText('Notes', { exact: true })).toBeVisible();
  const hand = finger(page.getByText('Notes', { exact: true }).element());
  const scroller = root.querySelector<HTMLElement>('.page')!;
  expect(getComputedStyle(scroller).overscrollBehaviorY).toBe('contain');

  // Not far enough, sideways, and pushed up.
  for (const [x, y] of [
    [100, 180],
    [300, 130],
    [100, 20],
  ] as const) {
    hand.down(100);
    hand.move(y, x);
    hand.up();
  }
  expect(refresh).not.toHaveBeenCalled();

  hand.down(100);
  hand.move(180);
  await expect.poll(() => root.querySelector(pulling)).not.toBeNull();
  expect(root.querySelector('.ready')).toBeNull();
  hand.move(260);
  await expect.poll(() => root.querySelector('.ready')).not.toBeNull();
  hand.up();
  await expect.poll(() => refresh.mock.calls.length).toBe(1);
  await expect.poll(() => root.querySelector('.renewing')).not.toBeNull();
  end();
  await expect.element(page.getByText('1 list renewed.')).toBeVisible();
  await expect.poll(() => root.querySelector(pulling)).toBeNull();
});

test('a server’s page says that it was renewed, and says nothing of the kind where it was not', async () => {
  const error = {
    code: 'timeout',
    message: 'Notes did not answer.',
    advice: 'Try later.',
  } as const;
  const refresh = vi
    .fn<App['host']['refresh']>(async () => ({ ok: true }))
    .mockResolvedValueOnce({ ok: false, error });
  navigate('/servers/notes', { replace: true });
  await show(Server, {}, fakeSession(), { servers: [notes], host: { refresh } });
  await expect.element(page.getByText('https://n.example/mcp')).toBeVisible();
  const pull = () => {
    const hand = finger(page.getByText('https://n.example/mcp').element());
    hand.down(100);
    hand.move(260);
    hand.up();
  };
  pull();
  await expect.element(page.getByText('Notes did not answer.')).toBeVisible();
  await expect.element(page.getByText('Renewed', { exact: true })).not.toBeInTheDocument();
  pull();
  await expect.element(page.getByText('Renewed', { exact: true })).toBeInTheDocument();
  expect(refresh).toHaveBeenCalledTimes(2);
});
