/**
 * Pictures end to end in a real browser: through the store, the session, the loop, a server's tool over
 * MCP and the wire of a cloud model, which says what it sees.
 */
import { afterEach, expect, test } from 'vitest';
import { commands } from 'vitest/browser';
import { openSession, type Session } from '../../../src/agent/session.ts';
import { attachPicture } from '../../../src/brain/attach.ts';
import { createCloud } from '../../../src/brain/cloud/accounts.ts';
import { base64Of } from '../../../src/brain/pictures.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { createRouter } from '../../../src/router/router.ts';
import { createTabLocks } from '../../../src/store/locks.ts';
import type { AttachmentPart, Part } from '../../../src/store/records.ts';
import { asPhotographed, draw, PLACE } from '../pictures.ts';
import { openWorld, serve, tidy, type World } from '../mcp/world.ts';

const clouds: string[] = [];
afterEach(async () => {
  await tidy();
  for (const url of clouds.splice(0)) await commands.stopCloudServer(url);
});

const timeZone = (): string => 'Asia/Kolkata';

interface Talk {
  open(): Promise<Session>;
  /** What the cloud was sent last. */
  body(): Promise<string>;
}

/** A conversation of the app in the mode Cloud, whose model can see. */
async function talk({ store, host }: World): Promise<Talk> {
  const url = await commands.startCloudServer();
  clouds.push(url);
  const cloud = createCloud({ store });
  const added = await cloud.add({
    preset: 'other',
    kind: 'openai',
    label: 'Cloud',
    baseUrl: `${url}/v1`,
    model: 'strong',
    key: 'secret-key-1',
    images: true,
  });
  if (!added.ok) throw new Error(added.error.message);
  const id = crypto.randomUUID();
  const now = Date.now();
  await store.conversations.put({
    id,
    title: '',
    createdAt: now,
    updatedAt: now,
    mode: 'cloud',
    draft: '',
    queue: [],
    private: false,
    pinned: false,
  });
  return {
    async open() {
      const session = await openSession(id, {
        store,
        toolbox: createToolbox({ store, host, timeZone, locale: () => 'en' }),
        router: createRouter({
          online: () => true,
          phone: async () => null,
          cloud: () => cloud.brain(added.account.id),
        }),
        gate: createGate({ store }),
        resultText,
        locks: createTabLocks(navigator.locks),
        clock: () => Date.now(),
        breathe: () => new Promise((resolve) => setTimeout(resolve)),
        timeZone,
      });
      return session!;
    },
    async body() {
      const requests = (await (await fetch(`${url}/__requests`)).json()) as { body: unknown }[];
      return JSON.stringify(requests.at(-1)?.body);
    },
  };
}

const partsOf = (session: Session): readonly Part[] => session.view().messages.at(-1)?.parts ?? [];
const answerOf = (session: Session): string =>
  partsOf(session)
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('');
/** The `turns`th turn has its answer. */
const answered = (session: Session, turns: number) =>
  expect
    .poll(() => {
      const { messages } = session.view();
      return `${messages.length} ${messages.at(-1)?.message.state}`;
    })
    .toBe(`${turns * 2} done`);

async function attach(file: File): Promise<AttachmentPart> {
  const read = await attachPicture(file, Date.now());
  if (!read.ok) throw new Error(read.message);
  return read.part;
}

test('a photo outlives a reload on the draft, and the model sees its pixels and nothing of the place', async () => {
  const world = await openWorld({ inPage: [] });
  const { open, body } = await talk(world);
  const photo = asPhotographed(await draw(400, 200, 'image/jpeg'));
  const part = await attach(new File([photo], 'IMG_1.jpg', { type: 'image/jpeg' }));
  const before = await open();
  await before.setAttached([part]);
  before.close();

  const session = await open();
  expect(session.view().conversation.attached).toEqual([part]);
  await session.send('What do you see?', { attached: [part] });
  await answered(session, 1);
  // Upright, as the person sees it.
  expect(answerOf(session)).toBe('I see a jpeg of 200×400.');
  const sent = await body();
  expect(sent).toContain(String(part.content[0]?.data));
  expect(atob(String(part.content[0]?.data))).not.toContain(PLACE);
  const step = partsOf(session).find((it) => it.kind === 'step');
  expect(step?.sent?.text).toMatch(/base64,\[image\/jpeg, \d+ bytes, SHA-256 [0-9a-f]{64}\]/);
  expect(step?.sent?.text).not.toContain(String(part.content[0]?.data));
});

test('the picture of a tool’s result reaches the model, small enough; what cannot be drawn is told of', async () => {
  const world = await openWorld({ inPage: [] });
  const url = await serve({ kind: 'everything', over: 'streamableHttp' });
  const added = await world.host.add({ url, name: 'Everything' });
  if (!added.ok) throw new Error(added.error.message);
  const { open, body } = await talk(world);
  const session = await open();
  const allow = session.subscribe(({ questions }) => {
    for (const { call } of questions)
      void session.answer(call.callId, { allow: true, scope: 'once' });
  });
  await session.send('Call get_tiny_image');
  await answered(session, 1);
  allow();
  expect(answerOf(session)).toMatch(/I see a (png|jpeg) of \d+×\d+\./);
  expect(await body()).toContain('Pictures in the result of');
  const routes = partsOf(session).filter((part) => part.kind === 'route');
  expect(routes.at(-1)?.pictures).toEqual(['Everything']);

  const of = (bytes: Uint8Array, name: string): AttachmentPart => ({
    kind: 'attachment',
    step: 0,
    server: 'album',
    serverName: 'Album',
    uri: `album:${name}`,
    name,
    content: [{ type: 'image', mimeType: 'image/png', data: base64Of(bytes) }],
    at: Date.now(),
  });
  const large = await draw(2000, 1000, 'image/png');
  const webp = await draw(30, 20, 'image/webp');
  const cut = (await draw(8, 8, 'image/png')).slice(0, 45);
  await session.send('And these?', {
    attached: [of(large, 'large'), of(webp, 'other'), of(cut, 'cut')],
  });
  await answered(session, 2);
  expect(answerOf(session)).toBe('I see a png of 1568×784 and a jpeg of 30×20.');
  expect(await body()).toContain('[picture: cut, not shown: it is broken]');
});
