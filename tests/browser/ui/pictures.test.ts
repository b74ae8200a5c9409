/** Pictures of the person's own: chosen, pasted and dropped, drawn anew, shown, taken off. */
import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { bytesOf, readPicture } from '../../../src/brain/pictures.ts';
import type { AttachmentPart } from '../../../src/store/records.ts';
import { asPhotographed, draw, PLACE } from '../pictures.ts';
import { faults } from './axe.ts';
import { conversation, fakeSession, message, text, type FakeSession } from './fake-app.ts';
import { showConversation } from './render.ts';

const box = () => page.getByRole('textbox', { name: 'Message' });
const list = () => page.getByRole('list', { name: 'Attached' });
const button = (name: string) => page.getByRole('button', { name, exact: true });
/** Hidden, so that only a label or the clip leads to it; loaded behind the first screen. */
const chooser = (): Promise<HTMLInputElement> =>
  vi.waitFor(() => {
    const found = document.querySelector<HTMLInputElement>('input[type="file"]');
    if (!found) throw new Error('there is no chooser yet');
    return found;
  });
const attached = (session: FakeSession): readonly AttachmentPart[] =>
  session.view().conversation.attached ?? [];
const stored = (part: AttachmentPart | undefined): Uint8Array<ArrayBuffer> =>
  bytesOf(String(part?.content[0]?.data))!;
const holds = (bytes: Uint8Array, words: string): boolean =>
  Array.from(bytes, (byte) => String.fromCharCode(byte))
    .join('')
    .includes(words);

test('a chosen photo is drawn upright and without what the camera wrote beside it, shown and taken off', async () => {
  const photo = asPhotographed(await draw(60, 30, 'image/jpeg'));
  expect(holds(photo, PLACE)).toBe(true);
  const { session } = await showConversation(fakeSession(), { servers: [] });
  await expect.element(button('Attach a picture')).toBeVisible();
  await userEvent.upload(await chooser(), new File([photo], 'IMG_1.jpg', { type: 'image/jpeg' }));
  await expect.element(list()).toHaveTextContent('IMG_1.jpg From this phone');
  const [part] = attached(session);
  expect(part).toMatchObject({ server: 'you', uri: '', content: [{ mimeType: 'image/jpeg' }] });
  // Small as it is, nothing is kept but its pixels, turned as the camera said.
  const bytes = stored(part);
  expect(readPicture(bytes)).toEqual({ mime: 'image/jpeg', width: 30, height: 60 });
  expect(holds(bytes, 'Exif') || holds(bytes, PLACE)).toBe(false);
  const image = () => list().element().querySelector('img');
  await expect.poll(() => image()?.naturalHeight).toBe(60);
  expect(await faults()).toEqual([]);

  await list().getByRole('button', { name: 'IMG_1.jpg From this phone' }).click();
  const viewer = page.getByRole('dialog', { name: 'IMG_1.jpg' });
  await expect.element(viewer.getByRole('img', { name: 'IMG_1.jpg' })).toBeVisible();
  await expect.element(viewer).toHaveTextContent('From this phone, attached');
  expect(await faults()).toEqual([]);
  await userEvent.keyboard('{Escape}');

  await button('Remove IMG_1.jpg').click();
  await expect.element(list()).not.toBeInTheDocument();
  await expect.element(button('Send')).toBeDisabled();
});

test('a large screenshot is made smaller, and goes without a word', async () => {
  const { session } = await showConversation(fakeSession(), { servers: [] });
  const large = new File([await draw(3000, 1000, 'image/png')], 'a.png', { type: 'image/png' });
  const webp = new File([await draw(20, 10, 'image/webp')], 'b.webp', { type: 'image/webp' });
  await userEvent.upload(await chooser(), [large, webp]);
  await expect.element(list().getByRole('listitem')).toHaveLength(2);
  expect(attached(session).map((part) => readPicture(stored(part)))).toEqual([
    { mime: 'image/png', width: 1568, height: 523 },
    { mime: 'image/jpeg', width: 20, height: 10 },
  ]);
  await button('Send').click();
  const sent = session.calls.find(({ name }) => name === 'send');
  expect(sent?.args).toMatchObject(['', { attached: [{ name: 'a.png' }, { name: 'b.webp' }] }]);
});

test('what is no picture is a sentence each, whatever it calls itself, and more than eight are too many', async () => {
  const { session } = await showConversation(fakeSession(), { servers: [] });
  const png = await draw(4, 4, 'image/png');
  const cut = png.slice(0, 45);
  const file = (bytes: BlobPart, name: string) => new File([bytes], name, { type: 'image/png' });
  await userEvent.upload(await chooser(), [file('<svg/>', 'vector.png'), file(cut, 'cut.png')]);
  const alert = page.getByRole('alert').filter({ hasText: 'vector.png' });
  await expect
    .element(alert)
    .toHaveTextContent(
      'vector.png is no PNG, JPEG, WebP or GIF picture. Choose another one, or take a screenshot of it. cut.png cannot be read as a picture. It may be damaged. Choose another one.',
    );
  expect(attached(session)).toEqual([]);
  await userEvent.upload(
    await chooser(),
    Array.from({ length: 9 }, (_, at) => file(png, `${at}.png`)),
  );
  await expect
    .element(page.getByRole('alert').filter({ hasText: 'at most 8 pictures' }))
    .toBeVisible();
  expect(attached(session)).toHaveLength(8);
  expect(new Set(attached(session).map(({ at }) => at)).size).toBe(8);
});

test('a picture is pasted and dropped; one that a document copies beside its words is not', async () => {
  const { session } = await showConversation(fakeSession(), { servers: [] });
  await chooser();
  const png = await draw(4, 4, 'image/png');
  const data = (name: string, words?: string) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([png], name, { type: 'image/png' }));
    if (words) transfer.setData('text/plain', words);
    return transfer;
  };
  const paste = (clipboardData: DataTransfer) =>
    box()
      .element()
      .dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, cancelable: true, bubbles: true }),
      );
  expect(paste(data('words.png', 'Words'))).toBe(true);
  expect(paste(data('pasted.png'))).toBe(false);
  await expect.element(list()).toHaveTextContent('pasted.png');
  const drag = (type: string) =>
    box()
      .element()
      .dispatchEvent(
        new DragEvent(type, { dataTransfer: data('dropped.png'), cancelable: true, bubbles: true }),
      );
  expect(drag('dragover')).toBe(false);
  drag('drop');
  await expect.element(list()).toHaveTextContent('dropped.png');
  expect(attached(session).map(({ name }) => name)).toEqual(['pasted.png', 'dropped.png']);
});

test('without room nothing is lost and it is said; queued pictures are named; sent ones are shown', async () => {
  const picture: AttachmentPart = {
    kind: 'attachment',
    step: 0,
    server: 'you',
    serverName: 'a picture of yours',
    uri: '',
    name: 'cat.png',
    content: [{ type: 'image', mimeType: 'image/png', data: btoa('broken') }],
    at: 1,
  };
  const session = fakeSession({
    messages: [message('user', [text('', 0), picture])],
    conversation: conversation({ queue: [{ text: '', attached: [picture] }] }),
  });
  session.setAttached = async () => {
    throw Object.assign(new Error('full'), { name: 'QuotaError' });
  };
  await showConversation(session, { servers: [] });
  await expect
    .element(page.getByRole('list', { name: 'Waiting to be sent' }))
    .toHaveTextContent('Next: cat.png');
  await expect
    .element(page.getByRole('button', { name: /cat\.png From this phone/ }))
    .toBeVisible();
  await box().fill('Look');
  const png = new File([await draw(4, 4, 'image/png')], 'dog.png', { type: 'image/png' });
  await userEvent.upload(await chooser(), png);
  await expect.element(page.getByRole('alert').filter({ hasText: 'no room left' })).toBeVisible();
  await expect.element(box()).toHaveValue('Look');
  expect(await faults()).toEqual([]);
});
