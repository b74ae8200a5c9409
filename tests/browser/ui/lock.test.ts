import { expect, onTestFinished, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { Lock as AppLock, Locked, Proof, Way } from '../../../src/store/store.ts';
import Lock from '../../../src/ui/screens/Lock.svelte';
import Unlock from '../../../src/ui/screens/Unlock.svelte';
import { faults } from './axe.ts';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';

const PASSKEY: Way = {
  kind: 'passkey',
  credential: Uint8Array.of(1, 2),
  salt: new Uint8Array(32),
};
const PASSPHRASE: Way = { kind: 'passphrase' };

/** A store that one passphrase opens; wrong ones wait as long as they are told to. */
function locked(ways: readonly Way[], waits: readonly number[] = []) {
  const proofs: Proof[] = [];
  const left = [...waits];
  const store: Locked = {
    ways: async () => ways,
    wait: async () => 0,
    async open(proof) {
      proofs.push(proof);
      if (proof.kind === 'passphrase' && proof.passphrase === 'four words and more')
        return { ok: true };
      return { ok: false, why: 'wrong', waitMs: left.shift() ?? 0 };
    },
    erase: async () => {},
  };
  return { store, proofs };
}

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = () => page.getByLabelText('Passphrase', { exact: true });

/** What the browser answers to a wish for a passkey. */
function passkeys(answer: 'cancelled' | 'no PRF'): void {
  const refuse = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
  const made = Object.assign(Object.create(PublicKeyCredential.prototype) as object, {
    getClientExtensionResults: () => ({ prf: { enabled: false } }),
  });
  Object.defineProperty(made, 'rawId', { value: Uint8Array.of(1).buffer });
  const create = vi
    .spyOn(navigator.credentials, 'create')
    .mockImplementation(() =>
      answer === 'cancelled' ? refuse() : Promise.resolve(made as unknown as Credential),
    );
  const get = vi.spyOn(navigator.credentials, 'get').mockImplementation(refuse);
  const can = vi
    .spyOn(PublicKeyCredential, 'getClientCapabilities')
    .mockResolvedValue({ 'extension:prf': true });
  onTestFinished(() => [create, get, can].forEach((spy) => spy.mockRestore()));
}

test('the locked screen says what was wrong, forgets what was typed, and waits as long as it is told', async () => {
  passkeys('cancelled');
  const { store, proofs } = locked([PASSKEY, PASSPHRASE], [0, 600_000]);
  const onopen = vi.fn();
  await show(Unlock, { locked: store, onopen });
  await expect.element(page.getByRole('heading', { name: 'Deft is locked' })).toHaveFocus();
  await expect.element(field()).toHaveAttribute('autocomplete', 'current-password');
  expect(await faults()).toEqual([]);

  await button('Unlock with the passkey').click();
  await expect.element(page.getByRole('alert')).toHaveTextContent('The passkey was not used');
  expect(proofs).toEqual([]);

  await field().fill('four words and less');
  await button('Unlock').click();
  await expect.element(page.getByText('That is not the passphrase. Try again.')).toBeVisible();
  await expect.element(field()).toHaveValue('');
  await field().fill('four words and less');
  await button('Unlock').click();
  await expect
    .element(page.getByText('That is not the passphrase. Try again in 10 minutes.'))
    .toBeVisible();
  await expect.element(button(/^Wait \d+ minutes$/)).toBeDisabled();
  expect(await faults()).toEqual([]);
  // Enter sends nothing either.
  await field().fill('four words and more');
  await userEvent.keyboard('{Enter}');
  expect(proofs).toHaveLength(2);
  expect(onopen).not.toHaveBeenCalled();
});

test('the locked screen opens with the right passphrase, and asks no passkey where there is none', async () => {
  const onopen = vi.fn();
  await show(Unlock, { locked: locked([PASSPHRASE]).store, onopen });
  await field().fill('four words and more');
  await expect.element(button('Unlock with the passkey')).not.toBeInTheDocument();
  await userEvent.keyboard('{Enter}');
  await vi.waitFor(() => expect(onopen).toHaveBeenCalledTimes(1));
});

test('the screen of the lock offers a passkey only where there is one that can, and says why one cannot', async () => {
  passkeys('no PRF');
  const turnOn = vi.fn<AppLock['turnOn']>();
  await show(Lock, {}, fakeSession(), { lock: { turnOn } });
  await button('Lock with a passkey').click();
  await expect
    .element(page.getByRole('alert'))
    .toHaveTextContent('This passkey cannot lock Deft: where it is kept, there is no PRF.');
  expect(turnOn).not.toHaveBeenCalled();
});

test('without passkeys the lock takes a passphrase: long enough, twice the same, and shows how far it is', async () => {
  const can = vi
    .spyOn(PublicKeyCredential, 'getClientCapabilities')
    .mockResolvedValue({ 'extension:prf': false });
  onTestFinished(() => can.mockRestore());
  let finish = (): void => {};
  let listener = (): void => {};
  let ways: readonly Way[] = [];
  const turnOn = vi.fn<AppLock['turnOn']>((_way, progress) => {
    progress?.(0.5);
    return new Promise((resolve) => (finish = resolve));
  });
  await show(Lock, {}, fakeSession(), {
    lock: {
      turnOn,
      ways: async () => ways,
      subscribe(told) {
        listener = told;
        return () => {};
      },
    },
  });
  await expect.element(page.getByText(/This browser has no passkeys/)).toBeVisible();
  await expect.element(button('Lock with a passkey')).not.toBeInTheDocument();
  await button('Lock with a passphrase').click();
  const again = page.getByLabelText('Passphrase, once more');
  await field().fill('seven77');
  await button('Turn the lock on').click();
  await expect.element(page.getByText(/^Take at least 8 characters/)).toBeVisible();
  await field().fill('four words and more');
  await again.fill('four words and mroe');
  await button('Turn the lock on').click();
  await expect.element(page.getByText('The two are not the same.')).toBeVisible();
  expect(turnOn).not.toHaveBeenCalled();
  await again.fill('four words and more');
  await button('Turn the lock on').click();
  await expect.element(page.getByRole('progressbar')).toHaveAttribute('value', '0.5');
  ways = [PASSPHRASE];
  listener();
  finish();
  await expect.element(page.getByText('The lock is on.')).toBeVisible();
  await expect.element(button('Change the passphrase')).toBeVisible();
  // The last way is never taken away, and none is added that the browser does not have.
  await expect.element(button('Take the passphrase away')).not.toBeInTheDocument();
  await expect.element(button('Add a passkey')).not.toBeInTheDocument();
  expect(await faults()).toEqual([]);
});
