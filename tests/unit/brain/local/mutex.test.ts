import { expect, test } from 'vitest';
import { Mutex } from '../../../../src/brain/local/mutex.ts';

test('runs one after the other, in the order asked for', async () => {
  const mutex = new Mutex();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
  };
  await Promise.all([mutex.run(work('a')), mutex.run(work('b')), mutex.run(work('c'))]);
  expect(log).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test('who gives up waiting is passed over, and nobody overtakes', async () => {
  const mutex = new Mutex();
  const leave = await mutex.enter();
  const stop = new AbortController();
  const impatient = mutex.enter(stop.signal);
  let entered = false;
  const patient = mutex.run(async () => {
    entered = true;
  });
  stop.abort(new Error('enough'));
  await expect(impatient).rejects.toThrow('enough');
  expect(entered).toBe(false);
  leave();
  await patient;
  expect(entered).toBe(true);
});

test('a failure lets the next one in', async () => {
  const mutex = new Mutex();
  await expect(mutex.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await mutex.run(async () => 'yes')).toBe('yes');
});
