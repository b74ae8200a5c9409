/** The test server's model decides by what it is offered and what it is sent, never by a script. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../../src/brain/brain.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { KEY, TRAVEL, TRAVEL_TOOLS, ask, brainAt, collect, runTurn } from './bench.ts';

let server: CloudServer;
beforeAll(async () => {
  server = await startCloud();
});
afterAll(() => server.close());

const strong = () => brainAt(`${server.url}/v1`, 'openai', 'strong');
const say = async (text: string, tools: readonly ToolSpec[] = []) =>
  collect(await strong(), ask(text, { tools }));

const REMINDER: ToolSpec = {
  name: 'phone_set_reminder',
  description: 'Set a reminder on this phone.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, when: { type: 'string' } },
    required: ['text', 'when'],
  },
};

describe('the travel sentence', () => {
  test('takes the cities, the day and the part of the day from the words', async () => {
    const { calls } = await say(
      'I am flying from New York to San Francisco tomorrow. Find me an evening flight and save the flight to my itinerary.',
      TRAVEL_TOOLS,
    );
    expect(calls).toMatchObject([
      {
        name: 'search_flights',
        args: {
          origin: 'New York',
          destination: 'San Francisco',
          date: '2026-11-30',
          part: 'evening',
        },
      },
    ]);
  });

  test('fills the arguments that another server’s schema has', async () => {
    const tools: ToolSpec[] = [
      {
        name: 'air_find_flight_offers',
        description: 'Flight offers.',
        inputSchema: {
          type: 'object',
          properties: { from: { type: 'string' }, to: { type: 'string' }, day: { type: 'string' } },
        },
      },
    ];
    expect((await say(TRAVEL, tools)).calls).toMatchObject([
      { name: 'air_find_flight_offers', args: { from: 'Delhi', to: 'Goa', day: '2026-12-04' } },
    ]);
  });

  test('reads the flights that it is sent', async () => {
    const { steps, answer } = await runTurn(await strong(), ask(TRAVEL, { tools: TRAVEL_TOOLS }), {
      sky: 'sunny',
      flights: [
        { flight: 'XY 9', departs: '13:00' },
        { flight: 'XY 7', departs: '11:45' },
      ],
    });
    expect(steps.at(-1)![0]!.args).toMatchObject({ item: 'Flight XY 7' });
    expect(answer.text).toContain('XY 7 at 11:45');
  });

  test('saves nothing where no flight fits', async () => {
    const { steps, answer } = await runTurn(await strong(), ask(TRAVEL, { tools: TRAVEL_TOOLS }), {
      sky: 'sunny',
      flights: [{ flight: 'XY 9', departs: '13:00' }],
    });
    expect(steps).toHaveLength(1);
    expect(answer.text).toContain('I found no morning flight from Delhi to Goa.');
  });

  test('says what it has no tool for', async () => {
    const { answer } = await runTurn(await strong(), ask(TRAVEL, { tools: [TRAVEL_TOOLS[1]!] }), {
      sky: 'sunny',
    });
    expect(answer.text).toContain('I have no tool to search flights with.');
  });
});

test.each([
  ['Remind me to call mum tomorrow at 9', 'call mum', '2026-11-30T09:00'],
  ['Please remind me in 20 minutes to stretch.', 'stretch', '2026-11-29T14:25'],
  ['Remind me at 7:30 to leave', 'leave', '2026-11-30T07:30'],
])('%s', async (words, text, when) => {
  expect((await say(words, [...TRAVEL_TOOLS, REMINDER])).calls).toMatchObject([
    { name: 'phone_set_reminder', args: { text, when } },
  ]);
});

test('a tool is used by its name with what the user spells out', async () => {
  const echo: ToolSpec = {
    name: 'unruly_echo',
    description: 'Echo.',
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string' }, n: { type: 'integer' } },
      required: ['message'],
    },
  };
  expect(
    (await say('Use the tool echo with message="hi there", n=3.', [echo])).calls,
  ).toMatchObject([{ name: 'unruly_echo', args: { message: 'hi there', n: 3 } }]);
  expect((await say('Use echo with {"message": "x"}', [echo])).calls[0]!.args).toEqual({
    message: 'x',
  });
});

test('plain talk needs no tool', async () => {
  expect((await say('What is 12 * 7?', TRAVEL_TOOLS)).text).toBe('12 * 7 = 84.');
  expect((await say('Hello', TRAVEL_TOOLS)).text).toBe('Hello. How can I help?');
});

test('a long answer has everything that Markdown has', async () => {
  const { text } = await say('Give me a long answer in Markdown with 30 paragraphs.');
  for (const mark of ['# ', '| --:', '```ts', '](https://', '- [x]', '> '])
    expect(text).toContain(mark);
  expect(text).toContain('30. *Stage 30.*');
});

test('the repeating model never stops by itself', async () => {
  const brain = await brainAt(`${server.url}/v1`, 'openai', 'repeat');
  const { steps } = await runTurn(brain, ask(TRAVEL, { tools: TRAVEL_TOOLS }), { sky: 'sunny' }, 5);
  expect(steps).toHaveLength(5);
  const [first] = steps[0]!;
  for (const calls of steps.slice(1))
    expect(calls).toMatchObject([{ name: first!.name, args: first!.args }]);
});

test('records what it was sent, for tests and over HTTP', async () => {
  await say('Say hello.');
  const listed = (await (await fetch(`${server.url}/__requests`)).json()) as unknown[];
  expect(listed).toEqual(JSON.parse(JSON.stringify(server.requests)));
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${KEY}` },
  });
});

test('a pause between chunks is kept', async () => {
  const slow = await startCloud({ chunkDelayMs: 15 });
  const started = performance.now();
  await collect(await brainAt(`${slow.url}/v1`, 'openai', 'strong'), ask('Count to 10.'));
  expect(performance.now() - started).toBeGreaterThan(150);
  await slow.close();
});
