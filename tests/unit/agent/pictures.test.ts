/** Which pictures reach a model, in what words the others do, and where they may not go. */
import { describe, expect, test } from 'vitest';
import { fit } from '../../../src/agent/context.ts';
import { runTurn } from '../../../src/agent/loop.ts';
import { newestPictures } from '../../../src/agent/shown.ts';
import { turnMessages, userMessage } from '../../../src/agent/transcript.ts';
import type { Brain, BrainMessage } from '../../../src/brain/brain.ts';
import { createRouter } from '../../../src/router/router.ts';
import type { Gate } from '../../../src/policy/types.ts';
import type {
  AttachmentPart,
  CallPart,
  ContentBlock,
  Outcome,
  Part,
} from '../../../src/store/records.ts';
import {
  gateOf,
  inputOf,
  memoryJournal,
  portsOf,
  routerOf,
  scriptedBrain,
  textResult,
  toolboxOf,
  type Say,
} from './world.ts';

const live = (): AbortSignal => new AbortController().signal;
const picture = (data: string): ContentBlock => ({ type: 'image', mimeType: 'image/png', data });
const outcome = (...content: ContentBlock[]): Outcome => ({ kind: 'result', content });
const seeing = <B extends Brain>(brain: B): B => ({
  ...brain,
  describe: () => ({
    ...brain.describe(),
    contextTokens: 32_768,
    can: { tools: true, images: true, schema: true },
  }),
});
const resultText = (): string => 'result';
const own: AttachmentPart = {
  kind: 'attachment',
  step: 0,
  server: 'you',
  serverName: 'a picture of yours',
  uri: '',
  name: 'cat.jpg',
  content: [picture('QUJD')],
  at: 1,
};
const image = (data: string, name = 'p') => ({ mime: 'image/png', data, name });
const said = (...images: ReturnType<typeof image>[]): BrainMessage => ({
  role: 'user',
  text: 'Look',
  images,
});

describe('what of a conversation is a picture', () => {
  test('one that the person attached hangs on the words, and is said to be the person’s', () => {
    expect(userMessage('What is it?', [own], resultText, 100)).toEqual({
      role: 'user',
      text: 'What is it?\n\n[attached by the user: cat.jpg, a picture]',
      images: [{ mime: 'image/png', data: 'QUJD', name: 'cat.jpg' }],
    });
  });

  test('one of a server says whose it is; its name cannot forge a mark', () => {
    const part = { ...own, server: 's', serverName: 'Album', name: 'a]\n[b' };
    expect(userMessage('', [part], resultText, 100)).toMatchObject({
      images: [{ name: 'a b', from: 'Album' }],
    });
  });

  test('images and image files of a result are taken, everything else is not', () => {
    const call: CallPart = {
      kind: 'call',
      step: 1,
      callId: 'c',
      server: 's',
      serverName: 'Camera',
      tool: 'shoot',
      title: 'Take a photo',
      modelName: 'shoot',
      pin: 'p',
      args: {},
      days: [],
      readOnly: false,
      state: 'done',
      outcome: outcome(
        picture('AAAA'),
        { type: 'text', text: 'taken' },
        { type: 'audio', mimeType: 'audio/wav', data: 'BBBB' },
        { type: 'resource', resource: { uri: 'a', mimeType: 'image/jpeg', blob: 'CCCC' } },
        { type: 'resource', resource: { uri: 'b', mimeType: 'text/plain', text: 'words' } },
        { type: 'resource', resource: null },
        { type: 'image', mimeType: 7, data: 'DDDD' },
      ),
    };
    const parts: Part[] = [call, { kind: 'step', step: 1, end: 'calls', usage: {} }];
    expect(turnMessages(parts, resultText, 100)[1]).toEqual({
      role: 'tool',
      callId: 'c',
      name: 'shoot',
      text: 'result',
      isError: false,
      images: [
        { mime: 'image/png', data: 'AAAA', name: 'Take a photo', from: 'Camera' },
        { mime: 'image/jpeg', data: 'CCCC', name: 'Take a photo', from: 'Camera' },
      ],
    });
    const failed = { ...call, outcome: { kind: 'tool_error', content: [picture('A')] } as const };
    expect(turnMessages([failed, parts[1]!], resultText, 100)[1]).not.toHaveProperty('images');
  });
});

test('of many pictures the newest are shown, and each of the others is named', () => {
  const answer: BrainMessage = { role: 'assistant', text: 'Nice.', calls: [] };
  const turns = [
    [said(image('1', 'one'), image('2', 'two')), answer],
    [said(image('3', 'three')), answer],
    [said(image('4', 'four'))],
  ];
  expect(newestPictures(turns, 3)).toEqual([
    [
      {
        role: 'user',
        text: 'Look\n[picture: one, not shown]',
        images: [image('2', 'two')],
      },
      answer,
    ],
    turns[1],
    turns[2],
  ]);
  const [first] = newestPictures(turns, 1);
  expect(first?.[0]).toEqual({
    role: 'user',
    text: 'Look\n[picture: one, not shown]\n[picture: two, not shown]',
    images: [],
  });
  const many = Array.from({ length: 11 }, (_, at) => image(String(at)));
  const [[shown] = []] = newestPictures([[said(...many)]]);
  expect(shown).toMatchObject({ images: many.slice(3) });
});

test('a picture takes its room in the window of a model that sees, and little in another’s', () => {
  const material = () => ({ history: [], current: [said(image('1'))], attached: 'x' });
  const used = (brain: Brain) => fit(material, { system: 0, tools: 0 }, brain).use;
  const blind = scriptedBrain([]);
  expect(used(seeing(blind)).attached).toBeGreaterThan(1_500);
  expect(used(blind).attached).toBeLessThan(50);
  expect(used(blind).words).toBe(used(seeing(blind)).words);
});

describe('a turn with pictures', () => {
  const camera = (hand: { private?: boolean } = {}) =>
    toolboxOf({
      shoot: { readOnly: true, ...hand, run: async () => outcome(picture('AAAA')) },
      pay: { run: async () => textResult('paid') },
    });
  const shooting: Say[] = [{ calls: [{ name: 'shoot', args: {} }] }, { text: 'A cat.' }];

  test('the result’s picture reaches the model, and the step says whose pictures it was shown', async () => {
    const brain = seeing(scriptedBrain(shooting));
    const ports = portsOf({ router: routerOf(brain), toolbox: camera() });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(brain.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      images: [{ data: 'AAAA', from: 'Test server' }],
    });
    const routes = ports.journal.parts().filter((part) => part.kind === 'route');
    expect(routes.map(({ pictures }) => pictures)).toEqual([undefined, ['Test server']]);
  });

  test('the person’s picture is in the request, of the history too', async () => {
    const brain = seeing(scriptedBrain([{ text: 'Two cats.' }]));
    const ports = portsOf({ router: routerOf(brain) });
    const input = inputOf({
      pictures: [image('NEW')],
      history: () => [[said(image('OLD')), { role: 'assistant', text: 'A cat.', calls: [] }]],
    });
    await runTurn(input, ports, live());
    expect(
      brain.requests[0]?.messages.map((it) => (it.role === 'user' ? it.images?.[0]?.data : null)),
    ).toEqual(['OLD', null, 'NEW']);
  });

  test('a model that cannot see them: the person is told once, and it still answers', async () => {
    const brain = scriptedBrain(shooting);
    const router = createRouter({
      phone: async () => brain,
      cloud: async () => null,
      online: () => true,
    });
    const ports = portsOf({ router, toolbox: camera() });
    const input = inputOf({ mode: 'phone', pictures: [image('NEW')] });
    expect(await runTurn(input, ports, live())).toBe('done');
    const notices = ports.journal.parts().filter((part) => part.kind === 'notice');
    expect(notices).toEqual([
      {
        kind: 'notice',
        step: 1,
        code: 'pictures-unseen',
        text: 'Test phone cannot see pictures. It is told only that there is one in your message.',
        advice: 'Send this turn to a cloud model that can see pictures, or describe it in words.',
      },
    ]);
  });

  test('pictures of a private server never reach the cloud: the rule is in force before the next step', async () => {
    const phone = scriptedBrain([{ text: 'A cat.' }]);
    const cloud = seeing(scriptedBrain(shooting, 'cloud'));
    const router = createRouter({
      phone: async () => phone,
      cloud: async () => cloud,
      online: () => true,
    });
    const ports = portsOf({ router, toolbox: camera({ private: true }), journal: memoryJournal() });
    // The person's own picture took the turn to the cloud; the private one takes it back.
    const input = inputOf({ pictures: [image('MINE')] });
    expect(await runTurn(input, ports, live())).toBe('done');
    expect(cloud.requests).toHaveLength(1);
    expect(JSON.stringify(cloud.requests)).not.toContain('AAAA');
    expect(JSON.stringify(phone.requests)).toContain('AAAA');
    const routes = ports.journal.parts().filter((part) => part.kind === 'route');
    expect(routes.map(({ rule, place }) => `${place} ${rule}`)).toEqual([
      'cloud images',
      'phone auto',
    ]);
  });

  test('the gate hears whose pictures the model was shown before it asked for a call', async () => {
    const brain = seeing(
      scriptedBrain([
        { calls: [{ name: 'shoot', args: {} }] },
        { calls: [{ name: 'pay', args: {} }] },
        { text: 'Paid.' },
      ]),
    );
    const judged: unknown[] = [];
    const gate: Gate = {
      ...gateOf(() => 'run'),
      judge: async ({ tool }, { pictures }) => {
        judged.push([tool.name, pictures]);
        return { verdict: 'run', why: 'A test rule.' };
      },
    };
    await runTurn(inputOf(), portsOf({ router: routerOf(brain), toolbox: camera(), gate }), live());
    expect(judged).toEqual([
      ['shoot', []],
      ['pay', ['Test server']],
    ]);
  });
});
