/** Conversations that the tests of the dialects render, and the same in the form of the templates. */
import type { BrainMessage, ModelCall } from '../../../../src/brain/brain.ts';
import type { Dialect, DialectRequest } from '../../../../src/brain/local/dialect/dialect.ts';
import { declared } from '../../../../src/brain/local/dialect/declared.ts';
import { DIALECTS, dialectOf } from '../../../../src/brain/local/dialect/families.ts';
import { CLOCK, getWeather, searchFlights, setReminder } from '../local/tools.ts';

/** Every dialect: one a family, and that of Gemma 3 with weights that know nothing of this app. */
export const ALL = {
  ...DIALECTS,
  'gemma3 as published': dialectOf({ family: 'gemma3', untaught: true }),
} satisfies Record<string, Dialect>;
export type Name = keyof typeof ALL;
export const NAMES = Object.keys(ALL) as Name[];

export const SYSTEM = 'You are Deft. Be short and kind.';
export const user = (text: string): BrainMessage => ({ role: 'user', text });
export const said = (text: string): BrainMessage => ({ role: 'assistant', text, calls: [] });
export const call = (
  name: string,
  args: Record<string, unknown> | null,
  id = `${name}-1`,
): ModelCall => ({ id, name, args, raw: '' });
export const called = (...calls: ModelCall[]): BrainMessage => ({
  role: 'assistant',
  text: '',
  calls,
});
export const result = (name: string, text: string, callId = `${name}-1`): BrainMessage => ({
  role: 'tool',
  callId,
  name,
  text,
  isError: false,
});

export const request = (
  messages: readonly BrainMessage[],
  more: Partial<DialectRequest> = {},
): DialectRequest => ({
  system: SYSTEM,
  now: CLOCK,
  messages,
  tools: [getWeather, searchFlights, setReminder],
  toolChoice: 'auto',
  ...more,
});

const GOA = call('get_weather', { city: 'Goa', date: '2026-12-04' });

/** Small talk, a call with its answer, and a turn of two steps that waits for the third. */
export const CONVERSATIONS: Readonly<Record<string, readonly BrainMessage[]>> = {
  'one question': [user('What can you do?')],
  'small talk': [user('Hi!'), said('Hello! How can I help?'), user('Say “grüß dich” in French.')],
  'a call and its result': [
    user('Will it rain in Goa on Friday?'),
    called(GOA),
    result('get_weather', '{"city": "Goa", "high_c": 29, "rain": true, "sky": "light rain"}'),
  ],
  'a turn after a turn with a call': [
    user('Will it rain in Goa on Friday?'),
    called(GOA),
    result('get_weather', '{"city": "Goa", "rain": true}'),
    said('Yes, light rain.'),
    user('Then remind me of my raincoat at 18:00.'),
    called(call('set_reminder', { text: 'take the raincoat', time: '18:00' })),
    result('set_reminder', '{"at": "2026-12-04 18:00", "set": true}'),
  ],
};

/** A turn of two calls at once, with results in the same order. */
export const PARALLEL: readonly BrainMessage[] = [
  user('Goa and Pune on Friday?'),
  called(
    call('get_weather', { city: 'Goa', date: '2026-12-04' }, 'a'),
    call('get_weather', { city: 'Pune', date: '2026-12-04' }, 'b'),
  ),
  result('get_weather', '{"rain": true}', 'a'),
  result('get_weather', 'no such city', 'b'),
];

/** A request as the templates take it. */
export function templateInput({
  system,
  now,
  messages,
  tools,
}: DialectRequest): Record<string, unknown> {
  return {
    messages: [
      { role: 'system', content: `${system}\n\nNow: ${now}` },
      ...messages.map((message) => {
        if (message.role === 'user') return { role: 'user', content: message.text };
        if (message.role === 'tool')
          return {
            role: 'tool',
            name: message.name,
            tool_call_id: message.callId,
            content: message.text,
          };
        const { text, calls } = message;
        if (calls.length === 0) return { role: 'assistant', content: text };
        return {
          role: 'assistant',
          content: text,
          tool_calls: calls.map(({ id, name, args }) => ({
            id,
            type: 'function',
            function: { name, arguments: args },
          })),
        };
      }),
    ],
    tools: tools.length > 0 ? tools.map(declared) : null,
    add_generation_prompt: true,
    bos_token: '',
  };
}
