import { expect, test } from 'vitest';
import type { AttachmentPart } from '../../../src/store/records.ts';
import { conversation, freshStore, text } from './helpers.ts';

test('pictures of the person’s own outlive an export and an import, bit for bit, sent, queued and on the draft', async () => {
  // Looks like a token, and is none: bytes of pictures may say anything.
  const data = `eyJhbGciOiJIUzI1NiJ9${'AKIAIOSFODNN7EXAMPLE'.repeat(50)}/+==`;
  const picture = (at: number): AttachmentPart => ({
    kind: 'attachment',
    step: 0,
    server: 'you',
    serverName: 'a picture of yours',
    uri: '',
    name: 'cat.png',
    content: [{ type: 'image', mimeType: 'image/png', data }],
    at,
  });
  const from = await freshStore();
  await from.conversations.put(
    conversation('c1', {
      attached: [picture(1)],
      queue: [{ text: '', attached: [picture(2)] }],
    }),
  );
  const message = {
    id: 'm1',
    conversation: 'c1',
    role: 'user',
    createdAt: 1,
    state: 'done',
  } as const;
  const parts = [text('Look'), picture(3)];
  await from.messages.add(message, parts);
  await from.messages.add({ ...message, id: 'm2', role: 'assistant' }, [
    {
      kind: 'route',
      step: 1,
      place: 'cloud',
      brain: 'b',
      label: 'B',
      rule: 'images',
      reason: 'It can see.',
      offered: [],
      pictures: ['Camera'],
    },
  ]);

  const to = await freshStore();
  expect(await to.archive.import(await from.archive.export())).toMatchObject({ ok: true });
  const [found] = await to.conversations.list();
  const stored = await to.messages.partsOf(found!.id);
  const all = JSON.stringify([found, ...stored.values()]);
  expect(all.split(data)).toHaveLength(4);
  expect(all).toContain('"pictures":["Camera"]');
});
