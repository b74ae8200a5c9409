/** Attachments that change at their servers: which are watched, for how long, and what is said. */
import { expect, test } from 'vitest';
import type { AttachmentPart } from '../../../../src/store/records.ts';
import {
  changeKey,
  forgetChange,
  watchFor,
  type Changes,
} from '../../../../src/ui/conversation/changes.ts';

const part = (uri: string, at = 1): AttachmentPart => ({
  kind: 'attachment',
  step: 0,
  server: 'notes',
  serverName: 'Notes',
  uri,
  name: uri,
  content: [],
  at,
});

function world() {
  const changes: Changes = { changed: new Set(), ends: new Map() };
  const listeners = new Map<string, () => void>();
  const host = {
    async watchResource(_: string, uri: string, listener: () => void) {
      listeners.set(uri, listener);
      return () => void listeners.delete(uri);
    },
  };
  const watch = async (one: AttachmentPart) => {
    watchFor(changes, host, one);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { changes, listeners, watch, host };
}

test('one that its server says changed is marked, and only as it was read then', async () => {
  const { changes, listeners, watch } = world();
  await watch(part('a'));
  await watch(part('b'));
  listeners.get('a')?.();
  expect(changes.changed.has(changeKey(part('a')))).toBe(true);
  expect(changes.changed.has(changeKey(part('a', 2)))).toBe(false);
  expect(changes.changed.has(changeKey(part('b')))).toBe(false);
  forgetChange(changes, part('a'));
  expect(changes.changed.size).toBe(0);
  expect([...listeners.keys()]).toEqual(['b']);
});

test('one is watched once, ten are watched at once, and none when the conversation is left', async () => {
  const { changes, listeners, watch } = world();
  for (let at = 0; at < 12; at += 1) await watch(part(`r${at}`));
  await watch(part('r11'));
  expect([...listeners.keys()]).toEqual(Array.from({ length: 10 }, (_, at) => `r${at + 2}`));
  changes.ends.forEach((end) => end());
  expect(listeners.size).toBe(0);
});

test('a watch that is ended before it has begun ends all the same; one that cannot be had says nothing', async () => {
  const { changes, listeners, host } = world();
  watchFor(changes, host, part('late'));
  forgetChange(changes, part('late'));
  await Promise.resolve();
  await Promise.resolve();
  expect(listeners.size).toBe(0);
  watchFor(changes, { watchResource: () => Promise.reject(new Error('gone')) }, part('none'));
  watchFor(changes, host, part(''));
  await Promise.resolve();
  expect(changes.changed.size + listeners.size).toBe(0);
});
