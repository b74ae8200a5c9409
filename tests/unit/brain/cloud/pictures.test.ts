/** Pictures on every wire, over real HTTP against a server that reads them as strictly as its host. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrainImage, BrainMessage } from '../../../../src/brain/brain.ts';
import { planOf } from '../../../../src/brain/cloud/pictures.ts';
import { seesPictures } from '../../../../src/brain/cloud/sight.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { png } from '../png.ts';
import { WIRES, ask, brainAt, collect } from './bench.ts';

let server: CloudServer;
beforeAll(async () => {
  server = await startCloud();
});
afterAll(() => server.close());

const data = png(3, 2).toString('base64');
const image: BrainImage = { mime: 'image/png', data, name: 'cat.png' };

const user = (text: string, images: readonly BrainImage[] = [image]): BrainMessage => ({
  role: 'user',
  text,
  images,
});
const shot = (images: readonly BrainImage[] = [image]): readonly BrainMessage[] => [
  { role: 'user', text: 'Look outside.' },
  { role: 'assistant', text: '', calls: [{ id: 'a', name: 'camera', args: {}, raw: '{}' }] },
  { role: 'tool', callId: 'a', name: 'camera', text: 'taken', isError: false, images },
];

describe.each(WIRES)('$kind', ({ kind, path }) => {
  const at = (model = 'strong', images = true) =>
    brainAt(server.url + path, kind, model, { images });
  const last = () => server.requests.at(-1)?.body as Record<string, unknown>;
  const messages = () => (last().messages ?? last().contents) as unknown[];

  test('a picture of the person goes along with the words', async () => {
    const answer = await collect(await at(), ask('', { messages: [user('What is this?')] }));
    expect(answer.text).toBe('I see a png of 3×2.');
    expect(messages().at(-1)).toEqual(
      {
        openai: {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          ],
        },
        anthropic: {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
            {
              type: 'text',
              text: 'What is this?',
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
        gemini: {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'image/png', data } }, { text: 'What is this?' }],
        },
      }[kind],
    );
  });

  test('a picture without a word goes, too', async () => {
    const answer = await collect(await at(), ask('', { messages: [user('')] }));
    expect(answer.text).toBe('I see a png of 3×2.');
  });

  test('a picture in the result of a tool reaches the model, and says whose it is', async () => {
    const answer = await collect(await at(), ask('', { messages: shot() }));
    expect(answer.text).toBe('I see a png of 3×2.');
    const words = 'Pictures in the result of camera:';
    expect(messages().slice(2)).toEqual(
      {
        openai: [
          { role: 'assistant', content: null, tool_calls: expect.anything() },
          { role: 'tool', tool_call_id: expect.any(String), content: 'taken' },
          {
            role: 'user',
            content: [
              { type: 'text', text: words },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
            ],
          },
        ],
        anthropic: [
          {
            role: 'user',
            content: [
              expect.objectContaining({
                type: 'tool_result',
                content: [
                  { type: 'text', text: 'taken' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
                ],
              }),
            ],
          },
        ],
        gemini: [
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'camera', response: { output: 'taken' } } },
              { text: words },
              { inlineData: { mimeType: 'image/png', data } },
            ],
          },
        ],
      }[kind],
    );
  });

  test('the receipt holds everything that left but the bytes of pictures: their kind, size and hash', async () => {
    const answer = await collect(await at(), ask('', { messages: [user('What is this?')] }));
    const { text } = answer.sent[0]!;
    expect(text).not.toContain(data);
    const hash = createHash('sha256').update(png(3, 2)).digest('hex');
    const mark = `[image/png, ${png(3, 2).length} bytes, SHA-256 ${hash}]`;
    expect(JSON.parse(text.replace(mark, data))).toEqual(last());
  });

  test('what is no picture is told in words, whatever it calls itself', async () => {
    const page = Buffer.from('<!doctype html><title>Sign in</title>').toString('base64');
    const answer = await collect(
      await at(),
      ask('', { messages: shot([{ mime: 'image/png', data: page, name: 'view' }, image]) }),
    );
    expect(answer.text).toBe('I see a png of 3×2.');
    expect(JSON.stringify(last())).toContain(
      '[picture: view, not shown: it is no PNG, JPEG, WebP or GIF]',
    );
    expect(JSON.stringify(last())).not.toContain(page);
  });

  test('a model that cannot see gets no picture and a sentence in its place', async () => {
    const answer = await collect(
      await at('strong', false),
      ask('', { messages: [user('What is this?')] }),
    );
    expect(answer.error).toBeUndefined();
    const sent = JSON.stringify(last());
    expect(sent).toContain('[a picture, 3×2, which this model cannot see]');
    expect(sent).not.toContain(data);
  });

  test('a host that takes no pictures after all is told from other failures', async () => {
    const answer = await collect(await at('blind'), ask('', { messages: [user('Look')] }));
    expect(answer.error).toMatchObject({
      kind: 'refused',
      message: 'blind did not take the pictures in this conversation.',
      advice: expect.stringContaining('Cloud models'),
    });
    const plain = await collect(await at('blind'), ask('Say hello.'));
    expect(plain.text).toBe('Hello.');
  });
});

test('a model of Mistral hears an answer between the results of tools and their pictures', async () => {
  const brain = await brainAt(`${server.url}/v1`, 'openai', 'strong-mistral', { images: true });
  const answer = await collect(brain, ask('', { messages: shot() }));
  expect(answer.error).toBeUndefined();
  expect(answer.text).toBe('I see a png of 3×2.');
});

test.each([
  ['image/png', 1568, 1568, 100, 'send'],
  ['image/jpeg', 1000, 10, 1_500_000, 'send'],
  ['image/jpeg', 1569, 10, 100, 'redraw'],
  ['image/jpeg', 10, 4000, 100, 'redraw'],
  ['image/png', 10, 10, 1_500_001, 'redraw'],
  ['image/gif', 10, 10, 100, 'redraw'],
  ['image/webp', 10, 10, 100, 'redraw'],
] as const)('%s of %i×%i and %i bytes: %s', (mime, width, height, bytes, plan) => {
  expect(planOf({ mime, width, height }, bytes)).toBe(plan);
});

test.each([
  ['openai', 'gpt-5.6-luna', true],
  ['openai', 'gpt-4o-audio-preview', false],
  ['openai', 'gpt-3.5-turbo', false],
  ['openai', 'o3-mini', false],
  ['openai', 'o3', true],
  ['anthropic', 'claude-sonnet-5-5', true],
  ['gemini', 'gemini-flash-latest', true],
  ['gemini', 'models/gemini-3-pro', true],
  ['gemini', 'gemini-embedding-001', false],
  ['mistral', 'mistral-medium-latest', true],
  ['mistral', 'codestral-latest', false],
  ['openrouter', 'openrouter/auto', true],
  ['openrouter', 'anthropic/claude-sonnet-5-5', true],
  ['openrouter', 'deepseek/deepseek-chat', false],
  ['ollama', 'qwen3:8b', false],
  ['ollama', 'qwen2.5vl:7b', true],
  ['ollama', 'qwen3-vl:8b', true],
  ['ollama', 'gemma3:270m', false],
  ['ollama', 'gemma3:12b', true],
  ['other', 'openrouter/auto', false],
  ['other', 'strong', false],
])('%s: %s can see, as far as its name says: %s', (preset, model, sees) => {
  expect(seesPictures({ preset, model })).toBe(sees);
  expect(seesPictures({ preset, model, images: !sees })).toBe(!sees);
});
