/**
 * The three wire formats from the server's side: each reads a request as strictly as its provider
 * does, and writes a reply as the provider streams it. A request that breaks the rules is a
 * `Rejected`, with the status and the body that the provider would send.
 */
import { readImage } from './images.ts';
import {
  array,
  isObject,
  object,
  parseJson,
  text,
  type Json,
  type Reply,
  type Seen,
  type SeenCall,
  type SeenImage,
  type SeenTool,
  type SeenTurn,
} from './talk.ts';

export class Rejected extends Error {
  readonly status: number;
  readonly body: Json;
  constructor(status: number, body: Json) {
    super(`rejected with ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** How a reply ends. */
export type Finish = 'stop' | 'length' | 'refused' | 'none';

export interface WireSide {
  /** The key that came with the request, or null. */
  key(headers: Readonly<Record<string, string | undefined>>): string | null;
  read(body: unknown, model: string): Seen;
  /** Server-sent events, each with its blank line. */
  frames(reply: Reply, finish: Finish, context: FrameContext): string[];
  /** An error in the provider's own form; `code` is a word such as `rate_limit`. */
  error(status: number, message: string, code: string): Json;
  /** The same as an event inside a stream. */
  errorFrame(message: string): string;
}

export interface FrameContext {
  readonly model: string;
  readonly promptTokens: number;
  /** Whether the host bills by the answer, as OpenRouter does. */
  readonly bills: boolean;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function pieces(source: string): string[] {
  return source.match(/\s*\S+\s*$|\s*\S+/g) ?? (source ? [source] : []);
}

/** A call's arguments as a model writes them: in bits that break anywhere. */
function bits(source: string): string[] {
  return source.match(/[\s\S]{1,9}/g) ?? [];
}

function rawOf(call: Reply['calls'][number]): string {
  return call.raw ?? JSON.stringify(call.args);
}

function tokensOf(reply: Reply): number {
  const written =
    reply.text + reply.thinking + reply.calls.map((call) => call.name + rawOf(call)).join('');
  return Math.max(1, Math.ceil(written.length / 4));
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const openai: WireSide = {
  key: (headers) => /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null,

  read(body, model) {
    const reject = (message: string, param: string | null = null): never => {
      throw new Rejected(400, {
        error: { message, type: 'invalid_request_error', param, code: null },
      });
    };
    if (!isObject(body)) return reject('The body is not a JSON object.');
    const known = [
      'model',
      'messages',
      'stream',
      'stream_options',
      'max_tokens',
      'max_completion_tokens',
      'temperature',
      'seed',
      'tools',
      'tool_choice',
      'reasoning_effort',
    ];
    for (const name of Object.keys(body))
      if (!known.includes(name)) reject(`Unrecognized request argument supplied: ${name}`, name);
    if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined)
      reject('Setting both max_tokens and max_completion_tokens is not supported.');
    const messages = array(body.messages).map(object);
    if (messages.length === 0) reject('messages is empty', 'messages');

    const system: string[] = [];
    const turns: SeenTurn[] = [];
    const image = (part: Json): SeenImage => {
      const url = text(object(part.image_url).url);
      const found = /^data:([^;,]+);base64,(.*)$/s.exec(url);
      const read = found ? readImage(found[1]!, found[2]!) : 'Invalid image URL';
      return typeof read === 'string' ? reject(read, 'messages') : read;
    };
    let open = new Map<string, string>();
    let before: unknown;
    for (const message of messages) {
      if (/mistral/.test(model) && message.role === 'user' && before === 'tool')
        reject("Unexpected role 'user' after role 'tool'");
      before = message.role;
      if (message.role !== 'tool' && open.size > 0)
        reject(
          `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${[...open.keys()].join(', ')}`,
        );
      const parts = array(message.content).map(object);
      if (parts.length > 0 && message.role !== 'user')
        reject(`Content parts are not supported in a message of the role ${text(message.role)}.`);
      const content = text(message.content) || parts.map((part) => text(part.text)).join('');
      if (message.role === 'system') system.push(content);
      else if (message.role === 'user') {
        const images = parts.filter(({ type }) => type === 'image_url').map(image);
        if (parts.some(({ type }) => type !== 'text' && type !== 'image_url'))
          reject('Invalid content part');
        turns.push({ role: 'user', text: content, images });
      } else if (message.role === 'assistant') {
        const calls: SeenCall[] = array(message.tool_calls).map((entry) => {
          const call = object(entry);
          const fn = object(call.function);
          const args = parseJson(text(fn.arguments));
          if (!/^[a-zA-Z0-9]{9}$/.test(text(call.id)))
            reject(
              `Tool call id was ${text(call.id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
            );
          if (!NAME.test(text(fn.name))) reject(`Invalid function name: ${text(fn.name)}`);
          if (!isObject(args)) return reject('function.arguments is not a JSON object');
          return { id: text(call.id), name: text(fn.name), args };
        });
        open = new Map(calls.map((call) => [call.id, call.name]));
        turns.push({ role: 'assistant', text: content, calls });
      } else if (message.role === 'tool') {
        const id = text(message.tool_call_id);
        const name = open.get(id);
        if (name === undefined) return reject(`No tool call with the id ${id}`);
        open.delete(id);
        turns.push({ role: 'tool', name, text: content, isError: /^error:/i.test(content) });
      } else reject(`Invalid role: ${String(message.role)}`);
    }
    if (open.size > 0) reject('The last tool calls have no results.');

    const tools: SeenTool[] = array(body.tools).map((entry) => {
      const fn = object(object(entry).function);
      const schema = object(fn.parameters);
      if (!NAME.test(text(fn.name))) reject(`Invalid 'tools[0].function.name': ${text(fn.name)}`);
      if (text(fn.description).length > 1024)
        reject("Invalid 'tools[0].function.description': string too long.");
      if (schema.type !== 'object' || !isObject(schema.properties))
        reject(`Invalid schema for function '${text(fn.name)}': object schema missing properties.`);
      for (const key of ['oneOf', 'anyOf', 'allOf', 'enum', 'not'])
        if (schema[key] !== undefined)
          reject(`Invalid schema for function '${text(fn.name)}': '${key}' at the top level.`);
      return { name: text(fn.name), description: text(fn.description), schema };
    });
    const choice = body.tool_choice;
    return {
      model,
      system: system.join('\n'),
      turns,
      tools,
      toolChoice: choice === 'none' || choice === 'required' ? choice : 'auto',
    };
  },

  frames(reply, finish, { model, promptTokens, bills }) {
    const chunk = (delta: Json, finishReason: string | null = null) =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        model,
        choices: [{ index: 0, delta, finish_reason: finishReason }],
      });
    const frames = [': OPENROUTER PROCESSING\n\n', chunk({ role: 'assistant', content: '' })];
    for (const piece of pieces(reply.thinking))
      frames.push(
        chunk({
          reasoning: piece,
          ...(bills
            ? { reasoning_details: [{ type: 'reasoning.text', index: 0, text: piece }] }
            : {}),
        }),
      );
    for (const piece of pieces(reply.text)) frames.push(chunk({ content: piece }));
    reply.calls.forEach((call, index) =>
      frames.push(
        chunk({
          tool_calls: [
            {
              index,
              id: `call_${index}`,
              type: 'function',
              function: { name: call.name, arguments: '' },
            },
          ],
        }),
      ),
    );
    // Parallel calls grow side by side, told apart by their index alone.
    const rows = reply.calls.map((call) => bits(rawOf(call)));
    for (let at = 0; rows.some((row) => at < row.length); at++)
      rows.forEach((row, index) => {
        if (row[at] !== undefined)
          frames.push(chunk({ tool_calls: [{ index, function: { arguments: row[at] } }] }));
      });
    const reasons = { stop: 'stop', length: 'length', refused: 'content_filter' } as const;
    if (finish !== 'none') {
      const reason = finish === 'stop' && reply.calls.length > 0 ? 'tool_calls' : reasons[finish];
      frames.push(chunk({}, reason));
      frames.push(
        data({
          id: 'chatcmpl-1',
          object: 'chat.completion.chunk',
          model,
          choices: [],
          usage: {
            prompt_tokens: promptTokens,
            completion_tokens: tokensOf(reply),
            total_tokens: promptTokens + tokensOf(reply),
            prompt_tokens_details: { cached_tokens: Math.floor(promptTokens / 2) },
            ...(bills ? { cost: promptTokens / 1e6 } : {}),
          },
        }),
      );
      frames.push('data: [DONE]\n\n');
    }
    return frames;
  },

  error: (_status, message, code) => ({
    error: { message, type: code, param: null, code },
  }),

  errorFrame: (message) =>
    data({
      error: { code: 502, message },
      choices: [{ delta: { content: '' }, finish_reason: 'error' }],
    }),
};

export const anthropic: WireSide = {
  key: (headers) => headers['x-api-key'] || null,

  read(body, model) {
    const reject = (message: string): never => {
      throw new Rejected(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message },
      });
    };
    if (!isObject(body)) return reject('The body is not a JSON object.');
    if (!Number.isInteger(body.max_tokens)) reject('max_tokens: Field required');
    const turns: SeenTurn[] = [];
    let open = new Map<string, string>();
    for (const message of array(body.messages).map(object)) {
      const blocks =
        typeof message.content === 'string'
          ? [{ type: 'text', text: message.content }]
          : array(message.content).map(object);
      if (blocks.length === 0) reject('messages: content is empty');
      if (turns.length === 0 && message.role !== 'user')
        reject('messages: first message must use the "user" role');
      const calls: SeenCall[] = [];
      const images: SeenImage[] = [];
      const image = (block: Json): SeenImage => {
        const source = object(block.source);
        if (source.type !== 'base64') reject('image.source.type: Input should be "base64"');
        const read = readImage(text(source.media_type), text(source.data));
        return typeof read === 'string' ? reject(read) : read;
      };
      let words = '';
      for (const block of blocks) {
        if (block.type === 'image') {
          if (message.role !== 'user') reject('messages: image blocks are for the "user" role');
          images.push(image(block));
        } else if (block.type === 'text') {
          if (!text(block.text).trim()) reject('messages: text content blocks must be non-empty');
          words += text(block.text);
        } else if (block.type === 'tool_use') {
          if (!isObject(block.input)) reject('tool_use.input: Input should be a valid dictionary');
          calls.push({ id: text(block.id), name: text(block.name), args: object(block.input) });
        } else if (block.type === 'tool_result') {
          const name = open.get(text(block.tool_use_id));
          if (name === undefined)
            return reject(
              `unexpected tool_use_id found in tool_result blocks: ${text(block.tool_use_id)}`,
            );
          open.delete(text(block.tool_use_id));
          const inner = array(block.content).map(object);
          if (inner.some(({ type }) => type !== 'text' && type !== 'image'))
            reject('tool_result.content: unknown block');
          turns.push({
            role: 'tool',
            name,
            text: text(block.content) || inner.map((piece) => text(piece.text)).join(''),
            isError: block.is_error === true,
            images: inner.filter(({ type }) => type === 'image').map(image),
          });
        } else if (block.type === 'thinking') {
          if (!text(block.signature).startsWith('sealed:'))
            reject('messages: Invalid `signature` in `thinking` block');
        } else reject(`messages: unknown block ${text(block.type)}`);
      }
      if (open.size > 0)
        reject(
          `tool_use ids were found without tool_result blocks: ${[...open.keys()].join(', ')}`,
        );
      if (message.role === 'assistant') {
        turns.push({ role: 'assistant', text: words, calls });
        open = new Map(calls.map((call) => [call.id, call.name]));
      } else if (words || images.length > 0) turns.push({ role: 'user', text: words, images });
    }
    if (turns.at(-1)?.role === 'assistant')
      reject('This model does not support assistant message prefill.');
    const tools: SeenTool[] = array(body.tools).map((entry) => {
      const tool = object(entry);
      const schema = object(tool.input_schema);
      if (!NAME.test(text(tool.name))) reject(`tools.0.name: String should match pattern`);
      if (schema.type !== 'object') reject('tools.0.input_schema.type: Input should be "object"');
      for (const key of ['oneOf', 'anyOf', 'allOf'])
        if (schema[key] !== undefined)
          reject('tools.0.input_schema: does not support oneOf, allOf, or anyOf at the top level');
      for (const key of Object.keys(object(schema.properties)))
        if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
          reject('tools.0.input_schema.properties: Property keys should match pattern');
      return { name: text(tool.name), description: text(tool.description), schema };
    });
    const choice = object(body.tool_choice).type;
    return {
      model,
      system:
        typeof body.system === 'string'
          ? body.system
          : array(body.system)
              .map((block) => text(object(block).text))
              .join('\n'),
      turns,
      tools,
      toolChoice: choice === 'none' ? 'none' : choice === 'any' ? 'required' : 'auto',
    };
  },

  frames(reply, finish, { model, promptTokens }) {
    const event = (value: Json) => `event: ${text(value.type)}\n${data(value)}`;
    const cached = Math.floor(promptTokens / 2);
    const frames = [
      event({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          usage: {
            input_tokens: promptTokens - cached,
            cache_read_input_tokens: cached,
            cache_creation_input_tokens: 0,
            output_tokens: 1,
          },
        },
      }),
      event({ type: 'ping' }),
    ];
    let index = 0;
    const block = (start: Json, deltas: readonly Json[]) => {
      frames.push(event({ type: 'content_block_start', index, content_block: start }));
      for (const delta of deltas) frames.push(event({ type: 'content_block_delta', index, delta }));
      frames.push(event({ type: 'content_block_stop', index }));
      index++;
    };
    if (reply.thinking)
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...pieces(reply.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: `sealed:${reply.thinking.length}` },
      ]);
    if (reply.text)
      block(
        { type: 'text', text: '' },
        pieces(reply.text).map((piece) => ({ type: 'text_delta', text: piece })),
      );
    reply.calls.forEach((call, at) =>
      block({ type: 'tool_use', id: `toolu_${at}`, name: call.name, input: {} }, [
        { type: 'input_json_delta', partial_json: '' },
        ...bits(rawOf(call)).map((bit) => ({ type: 'input_json_delta', partial_json: bit })),
      ]),
    );
    if (finish !== 'none') {
      const reasons = { stop: 'end_turn', length: 'max_tokens', refused: 'refusal' } as const;
      frames.push(
        event({
          type: 'message_delta',
          delta: {
            stop_reason: finish === 'stop' && reply.calls.length > 0 ? 'tool_use' : reasons[finish],
          },
          usage: { output_tokens: tokensOf(reply) },
        }),
        event({ type: 'message_stop' }),
      );
    }
    return frames;
  },

  error: (_status, message, code) => ({ type: 'error', error: { type: code, message } }),

  errorFrame: (message) =>
    `event: error\n${data({ type: 'error', error: { type: 'overloaded_error', message } })}`,
};

/** Keys of Gemini's Schema (ai.google.dev/api/caching#Schema); any other fails the request there. */
const GEMINI_KEYS = new Set(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  ),
);

const NO_SEAL = 'skip_thought_signature_validator';

export const gemini: WireSide = {
  key: (headers) => headers['x-goog-api-key'] || null,

  read(body, model) {
    const reject = (message: string): never => {
      throw new Rejected(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
    };
    const check = (schema: Json): void => {
      for (const key of Object.keys(schema))
        if (!GEMINI_KEYS.has(key)) reject(`Invalid JSON payload received. Unknown name "${key}"`);
      if (Array.isArray(schema.type)) reject('Proto field is not repeating, cannot start list.');
      if (schema.type === 'array' && !isObject(schema.items)) reject('items: missing field.');
      if (array(schema.enum).some((value) => typeof value !== 'string'))
        reject('Invalid value at enum (TYPE_STRING)');
      for (const property of Object.values(object(schema.properties))) check(object(property));
      if (schema.items !== undefined) check(object(schema.items));
      for (const option of array(schema.anyOf)) check(object(option));
    };
    if (!isObject(body)) return reject('The body is not a JSON object.');
    const turns: SeenTurn[] = [];
    let open: string[] = [];
    for (const content of array(body.contents).map(object)) {
      const calls: SeenCall[] = [];
      const answered: SeenTurn[] = [];
      const images: SeenImage[] = [];
      let words = '';
      for (const part of array(content.parts).map(object)) {
        if (isObject(part.inlineData)) {
          const { mimeType, data: bytes } = part.inlineData;
          const read = readImage(text(mimeType), text(bytes));
          images.push(typeof read === 'string' ? reject(read) : read);
        } else if (part.text !== undefined) words += text(part.text);
        else if (isObject(part.functionCall)) {
          const seal = text(part.thoughtSignature);
          if (calls.length === 0 && seal !== NO_SEAL && !seal.startsWith('sealed:'))
            reject('Function call is missing a thought_signature in functionCall parts.');
          calls.push({
            id: '',
            name: text(part.functionCall.name),
            args: object(part.functionCall.args),
          });
        } else if (isObject(part.functionResponse)) {
          const response = object(part.functionResponse.response);
          answered.push({
            role: 'tool',
            name: text(part.functionResponse.name),
            text: text(response.output) || text(response.error),
            isError: response.error !== undefined,
          });
        } else reject('contents.parts: data must be set');
      }
      if (open.length !== answered.length)
        reject(
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        );
      open = calls.map((call) => call.name);
      if (content.role === 'model') turns.push({ role: 'assistant', text: words, calls });
      else {
        turns.push(...answered);
        if (words || images.length > 0) turns.push({ role: 'user', text: words, images });
      }
    }
    const tools: SeenTool[] = array(body.tools)
      .flatMap((entry) => array(object(entry).functionDeclarations))
      .map((entry) => {
        const tool = object(entry);
        if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(text(tool.name)))
          reject(`Invalid function name: ${text(tool.name)}`);
        if (tool.parameters !== undefined) {
          const parameters = object(tool.parameters);
          check(parameters);
          if (Object.keys(object(parameters.properties)).length === 0)
            reject('parameters.properties: should be non-empty for OBJECT type');
        }
        return {
          name: text(tool.name),
          description: text(tool.description),
          schema: object(tool.parameters),
        };
      });
    const mode = text(object(object(body.toolConfig).functionCallingConfig).mode);
    return {
      model,
      system: array(object(body.systemInstruction).parts)
        .map((part) => text(object(part).text))
        .join('\n'),
      turns,
      tools,
      toolChoice: mode === 'NONE' ? 'none' : mode === 'ANY' ? 'required' : 'auto',
    };
  },

  frames(reply, finish, { model, promptTokens }) {
    const chunk = (parts: readonly Json[], finishReason?: string, extra: Json = {}) =>
      data({
        candidates: [
          {
            content: { role: 'model', parts },
            ...(finishReason ? { finishReason } : {}),
            ...extra,
          },
        ],
        usageMetadata: {
          promptTokenCount: promptTokens,
          cachedContentTokenCount: Math.floor(promptTokens / 2),
          candidatesTokenCount: Math.ceil(tokensOf(reply) / 2),
          thoughtsTokenCount: Math.floor(tokensOf(reply) / 2),
        },
        modelVersion: model,
      });
    const frames: string[] = [];
    for (const piece of pieces(reply.thinking))
      frames.push(chunk([{ text: piece, thought: true }]));
    for (const piece of pieces(reply.text)) frames.push(chunk([{ text: piece }]));
    const bad = reply.calls.find((call) => call.raw !== undefined);
    if (bad)
      return [
        ...frames,
        chunk([], 'MALFORMED_FUNCTION_CALL', {
          finishMessage: `Malformed function call: print(default_api.${bad.name}(${bad.raw}`,
        }),
      ];
    reply.calls.forEach((call, at) =>
      frames.push(
        chunk([
          {
            functionCall: { name: call.name, args: call.args },
            ...(at === 0 ? { thoughtSignature: `sealed:${call.name}` } : {}),
          },
        ]),
      ),
    );
    const reasons = { stop: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY' } as const;
    if (finish !== 'none') frames.push(chunk([{ text: '' }], reasons[finish]));
    return frames;
  },

  error: (status, message, code) => ({
    error: { code: status, message, status: code.toUpperCase() },
  }),

  errorFrame: (message) => data({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
};
