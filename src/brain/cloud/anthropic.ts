/**
 * Anthropic's Messages API, straight from the browser
 * (platform.claude.com/docs/en/api/messages, …/build-with-claude/streaming).
 */
import type { BrainImage } from '../brain.ts';
import { historyOf, systemText, wireNames, type Turn } from './history.ts';
import { isRecord, list, number, parse, record, string, type Json } from './json.ts';
import { anthropicSchema } from './schema.ts';
import {
  HostFault,
  THINKING_ROOM,
  Unreadable,
  type Delta,
  type Echoes,
  type Reader,
  type Result,
  type Target,
  type Wire,
} from './wire.ts';

const VERSION = '2023-06-01';
/** Marks where a prefix ends that the host may keep for the next step. */
const CACHE = { cache_control: { type: 'ephemeral' } };

export function anthropicWire(target: Target, echoes: Echoes): Wire {
  return {
    negotiable: ['temperature', 'tool_choice', 'max_tokens', 'cache_control'],

    write(request, changed) {
      const names = wireNames(request.tools);
      const cache = changed.has('cache_control') ? {} : CACHE;
      const turns = historyOf(request.messages, names).turns;
      const body: Record<string, unknown> = {
        model: target.model,
        max_tokens: request.maxTokens + (changed.has('max_tokens') ? 0 : THINKING_ROOM),
        system: [{ type: 'text', text: systemText(request), ...cache }],
        messages: turns.map((turn, at) => ({
          role: turn.role === 'assistant' ? 'assistant' : 'user',
          content: blocksOf(turn, echoes, at === turns.length - 1 ? cache : {}),
        })),
        stream: true,
      };
      if (request.temperature !== undefined && !changed.has('temperature'))
        body.temperature = request.temperature;
      if (request.tools.length > 0) {
        body.tools = request.tools.map((tool) => ({
          name: names.toWire(tool.name),
          description: tool.description,
          input_schema: anthropicSchema(tool.inputSchema),
        }));
        if (request.toolChoice !== 'auto' && !changed.has('tool_choice'))
          body.tool_choice = { type: request.toolChoice === 'none' ? 'none' : 'any' };
      }
      return {
        url: `${target.baseUrl}/messages`,
        headers: {
          'x-api-key': target.key,
          'anthropic-version': VERSION,
          'anthropic-dangerous-direct-browser-access': 'true',
        },
        body,
      };
    },

    read: anthropicReader,
  };
}

function blocksOf(turn: Turn, echoes: Echoes, cache: Json): Json[] {
  const blocks: Json[] = [];
  switch (turn.role) {
    case 'user':
      // Pictures before the words about them (…/build-with-claude/vision).
      blocks.push(...turn.images.map(imageBlock));
      if (turn.text.trim()) blocks.push({ type: 'text', text: turn.text });
      break;
    case 'assistant': {
      if (turn.calls.length > 0) blocks.push(...list(echoes.get(turn.after)).map(record));
      if (turn.text.trim()) blocks.push({ type: 'text', text: turn.text });
      for (const call of turn.calls)
        blocks.push({ type: 'tool_use', id: call.id, name: call.name, input: call.args });
      break;
    }
    case 'results':
      for (const result of turn.results)
        blocks.push({
          type: 'tool_result',
          tool_use_id: result.id,
          content:
            result.images.length > 0
              ? [
                  ...(result.text.trim() ? [{ type: 'text', text: result.text }] : []),
                  ...result.images.map(imageBlock),
                ]
              : result.text,
          ...(result.isError ? { is_error: true } : {}),
        });
  }
  return blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...cache } : block));
}

function imageBlock({ mime, data }: BrainImage): Json {
  return { type: 'image', source: { type: 'base64', media_type: mime, data } };
}

interface Block {
  readonly type: string;
  readonly start: Json;
  /** Text, thinking, or the JSON of a call's arguments, as it grows. */
  text: string;
  signature: string;
}

/** Arguments that came at once, not in pieces; mostly an empty object that the pieces then fill. */
function whole(input: unknown): string {
  return Object.keys(record(input)).length > 0 ? JSON.stringify(input) : '';
}

function anthropicReader(): Reader {
  const blocks = new Map<number, Block>();
  let finish: Result['finish'] = null;
  let refusal = '';
  let usage: Json = {};
  let ended = false;

  return {
    push(data) {
      const event = parse(data);
      if (!isRecord(event)) throw new Unreadable(`not JSON: ${data.slice(0, 200)}`);
      const index = number(event.index) ?? -1;
      const deltas: Delta[] = [];
      switch (event.type) {
        case 'error':
          throw new HostFault(event);
        case 'message_start':
          usage = record(record(event.message).usage);
          break;
        case 'content_block_start': {
          const start = record(event.content_block);
          const block = { type: string(start.type), start, text: '', signature: '' };
          blocks.set(index, block);
          const text = block.type === 'text' ? string(start.text) : '';
          if (text) deltas.push({ type: 'text', text });
          break;
        }
        case 'content_block_delta': {
          const block = blocks.get(index);
          const delta = record(event.delta);
          if (!block) throw new Unreadable('a delta of a block that was not opened');
          const text = string(delta.text) || string(delta.thinking) || string(delta.partial_json);
          block.text += text;
          block.signature += string(delta.signature);
          if (text && delta.type === 'text_delta') deltas.push({ type: 'text', text });
          if (text && delta.type === 'thinking_delta') deltas.push({ type: 'thinking', text });
          break;
        }
        case 'message_delta': {
          usage = { ...usage, ...record(event.usage) };
          const reason = string(record(event.delta).stop_reason);
          if (reason === 'refusal') {
            finish = 'refused';
            refusal = reason;
          } else if (reason)
            finish =
              reason === 'max_tokens' || reason === 'model_context_window_exceeded'
                ? 'length'
                : 'stop';
          break;
        }
        case 'message_stop':
          ended = true;
          break;
        case 'content_block_stop':
        case 'ping':
          break;
        default:
          // New kinds of events may come at any time (the versioning policy says so); one without
          // a type is no event of this interface.
          if (typeof event.type !== 'string' || event.type === 'message')
            throw new Unreadable(`no event: ${data.slice(0, 200)}`);
      }
      return deltas;
    },

    ended: () => ended,

    result() {
      const all = [...blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
      const sealed = all.flatMap((block) =>
        block.type === 'thinking'
          ? [{ type: 'thinking', thinking: block.text, signature: block.signature }]
          : block.type === 'redacted_thinking'
            ? [block.start]
            : [],
      );
      const cached = number(usage.cache_read_input_tokens);
      const input = number(usage.input_tokens);
      return {
        calls: all
          .filter((block) => block.type === 'tool_use')
          .map((block) => ({
            id: string(block.start.id),
            name: string(block.start.name),
            raw: block.text || whole(block.start.input),
          })),
        finish: ended ? finish : null,
        refusal,
        promptTokens:
          input === undefined
            ? undefined
            : input + (cached ?? 0) + (number(usage.cache_creation_input_tokens) ?? 0),
        cachedTokens: cached,
        outputTokens: number(usage.output_tokens),
        echo: sealed.length > 0 ? sealed : undefined,
      };
    },
  };
}
