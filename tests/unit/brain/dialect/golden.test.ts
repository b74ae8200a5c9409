/**
 * Golden texts of the two families whose templates are not in `templates/`. Llama 3's was compared,
 * character for character, with what the template of Llama-3.2-3B-Instruct writes
 * (`tools_in_user_message: false`). FunctionGemma's is written by hand from its documentation,
 * "FunctionGemma formatting and best practices", in the order of its example; its clock line is that
 * of its makers' Mobile Actions data.
 */
import { describe, expect, test } from 'vitest';
import type { BrainMessage, ToolSpec } from '../../../../src/brain/brain.ts';
import { dialectOf } from '../../../../src/brain/local/dialect/families.ts';
import { functiongemma } from '../../../../src/brain/local/dialect/functiongemma.ts';
import { llama3 } from '../../../../src/brain/local/dialect/llama3.ts';
import { getWeather } from '../local/tools.ts';
import {
  call,
  called,
  CONVERSATIONS,
  PARALLEL,
  request,
  result,
  said,
  user,
} from './conversations.ts';

const asked: readonly BrainMessage[] = CONVERSATIONS['a call and its result'] ?? [];

describe('Llama 3', () => {
  const SYSTEM = `<|start_header_id|>system<|end_header_id|>

Environment: ipython
Cutting Knowledge Date: December 2023
Today Date: 29 Nov 2026

You have access to the following functions. To call a function, please respond with JSON for a function call.Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.Do not use variables.

{
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather forecast of a city for a day.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {
                    "type": "string",
                    "description": "Name of the city."
                },
                "date": {
                    "type": "string",
                    "description": "Day, as YYYY-MM-DD."
                }
            },
            "required": [
                "city",
                "date"
            ]
        }
    }
}

You are Deft. Be short and kind.

Now: Sunday 2026-11-29 14:05, Asia/Kolkata<|eot_id|>`;
  const GOA = '{"name": "get_weather", "parameters": {"city": "Goa", "date": "2026-12-04"}}';
  const MODEL = '<|start_header_id|>assistant<|end_header_id|>\n\n';

  test('a call and its result', () => {
    expect(llama3.render(request(asked, { tools: [getWeather] }))).toEqual([
      `${SYSTEM}<|start_header_id|>user<|end_header_id|>\n\nWill it rain in Goa on Friday?<|eot_id|>${MODEL}`,
      GOA,
      `<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{"city": "Goa", "high_c": 29, "rain": true, "sky": "light rain"}<|eot_id|>${MODEL}`,
    ]);
  });

  test('two calls of one step are shown one after the other, for it knows one at a time', () => {
    const pieces = llama3.render(request(PARALLEL, { tools: [getWeather] }));
    expect(pieces.slice(1)).toEqual([
      GOA,
      `<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{"rain": true}<|eot_id|>${MODEL}`,
      GOA.replace('Goa', 'Pune'),
      `<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n"no such city"<|eot_id|>${MODEL}`,
    ]);
  });

  test('without tools', () => {
    expect(
      llama3.render(request([user('Hi!'), said('Hello!'), user('Bye')], { tools: [] })),
    ).toEqual([
      `<|start_header_id|>system<|end_header_id|>

Cutting Knowledge Date: December 2023
Today Date: 29 Nov 2026

You are Deft. Be short and kind.

Now: Sunday 2026-11-29 14:05, Asia/Kolkata<|eot_id|><|start_header_id|>user<|end_header_id|>

Hi!<|eot_id|><|start_header_id|>assistant<|end_header_id|>

`,
      'Hello!',
      `<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>${MODEL}`,
    ]);
  });
});

describe('FunctionGemma', () => {
  const weather: ToolSpec = {
    name: 'get_current_weather',
    description: 'Gets the current weather in a given location.',
    inputSchema: {
      type: 'object',
      properties: {
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'], description: 'The unit.' },
        location: { type: 'string', description: 'The city, e.g. "Tokyo, JP"' },
      },
      required: ['location'],
    },
  };
  const OPENING = `<start_of_turn>developer
Current date and time given in YYYY-MM-DDTHH:MM:SS format: 2026-11-29T14:05:00
Day of week is Sunday
You are a model that can do function calling with the following functions<start_function_declaration>declaration:get_current_weather{description:<escape>Gets the current weather in a given location.<escape>,parameters:{properties:{location:{description:<escape>The city, e.g. "Tokyo, JP"<escape>,type:<escape>STRING<escape>},unit:{description:<escape>The unit.<escape>,enum:[<escape>celsius<escape>,<escape>fahrenheit<escape>],type:<escape>STRING<escape>}},required:[<escape>location<escape>],type:<escape>OBJECT<escape>}}<end_function_declaration><end_of_turn>
<start_of_turn>user
What's the weather in Tokyo right now?<end_of_turn>
<start_of_turn>model
`;
  const question = user("What's the weather in Tokyo right now?");
  const TOKYO =
    '<start_function_call>call:get_current_weather{location:<escape>Tokyo, Japan<escape>}<end_function_call>';

  test('a call, its result in the same turn, an answer, and another question', () => {
    const messages = [
      question,
      called(call('get_current_weather', { location: 'Tokyo, Japan' })),
      result('get_current_weather', '{"weather":"sunny","temperature":15}'),
      said('It is sunny, 15 degrees.'),
      user('Thanks'),
    ];
    expect(functiongemma.render(request(messages, { tools: [weather] }))).toEqual([
      OPENING,
      TOKYO,
      '<start_function_response>response:get_current_weather{temperature:15,weather:<escape>sunny<escape>}<end_function_response>',
      'It is sunny, 15 degrees.',
      '<end_of_turn>\n<start_of_turn>user\nThanks<end_of_turn>\n<start_of_turn>model\n',
    ]);
  });

  test('several calls and their results stand side by side', () => {
    const pieces = functiongemma.render(request(PARALLEL, { tools: [getWeather] }));
    expect(pieces.slice(1)).toEqual([
      '<start_function_call>call:get_weather{city:<escape>Goa<escape>,date:<escape>2026-12-04<escape>}<end_function_call>' +
        '<start_function_call>call:get_weather{city:<escape>Pune<escape>,date:<escape>2026-12-04<escape>}<end_function_call>',
      '<start_function_response>response:get_weather{rain:true}<end_function_response>' +
        '<start_function_response>response:get_weather{value:<escape>no such city<escape>}<end_function_response>',
    ]);
  });

  test('without tools it is not told that it may call some', () => {
    const [prompt] = functiongemma.render(request([question], { tools: [] }));
    expect(prompt).not.toContain('function calling');
    expect(prompt).not.toContain('You are Deft');
  });
});

describe('Gemma 3 as published', () => {
  const HEAD = `You are Deft. Be short and kind.

Now: Sunday 2026-11-29 14:05, Asia/Kolkata

`;
  const plain = dialectOf({ family: 'gemma3', untaught: true });

  test('is told how a tool is called, in the first turn', () => {
    expect(plain.render(request(asked, { tools: [getWeather] }))).toEqual([
      `<start_of_turn>user
${HEAD}You can call these functions. To call one or more, write nothing but a block like this, a call on each line:
\`\`\`tool_code
function_name(argument="value", other=3)
\`\`\`
The results come back in a tool_output block; then answer from them in words. Call a function only where the answer needs it.

get_weather(city: str, date: str)
  Get the weather forecast of a city for a day.
  city: Name of the city.
  date: Day, as YYYY-MM-DD.

Will it rain in Goa on Friday?<end_of_turn>
<start_of_turn>model
`,
      '```tool_code\nget_weather(city="Goa", date="2026-12-04")\n```',
      `<end_of_turn>
<start_of_turn>user
\`\`\`tool_output
{"city": "Goa", "high_c": 29, "rain": true, "sky": "light rain"}
\`\`\`<end_of_turn>
<start_of_turn>model
`,
    ]);
  });

  test('without tools it is as the template has it', () => {
    expect(
      plain.render(request([user('Hi!'), said('Hello!'), user('Bye')], { tools: [] })),
    ).toEqual([
      `<start_of_turn>user\n${HEAD}Hi!<end_of_turn>\n<start_of_turn>model\n`,
      'Hello!',
      '<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n',
    ]);
  });
});
