/**
 * The OpenAI-compatible wire: chat completions over server-sent events, as OpenAI, OpenRouter,
 * Mistral, Ollama, LM Studio, llama.cpp, vLLM and many others speak it
 * (developers.openai.com/api/reference/chat).
 *
 * It sends the fewest parameters and headers, because each host refuses others of them.
 */
import type { BrainImage, ToolSpec } from '../brain.ts';
import { historyOf, picturesOf, systemText, wireNames, type Turn } from './history.ts';
import { isRecord, list, number, parse, record, string, type Json } from './json.ts';
import { objectSchema } from './schema.ts';
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

/** OpenAI refuses longer descriptions of a tool. */
const DESCRIPTION_LENGTH = 1_024;

export function openaiWire(target: Target, echoes: Echoes): Wire {
  const host = new URL(target.baseUrl).hostname;
  const isOpenAi = host === 'api.openai.com';
  const isMistral = host === 'api.mistral.ai';
  // Mistral's models refuse a user behind a tool ("Unexpected role"), whoever serves them.
  const bridged = isMistral || /(mis|minis|devs|mags|codes|pix)tral/i.test(target.model);
  const thinks = isOpenAi || host === 'openrouter.ai';

  return {
    negotiable: [
      'temperature',
      'seed',
      'stream_options',
      'tool_choice',
      'max_tokens',
      'max_completion_tokens',
      'reasoning_effort',
    ],

    write(request, changed) {
      const names = wireNames(request.tools);
      const most = request.maxTokens + (thinks ? THINKING_ROOM : 0);
      // The two names of one limit: a host that refuses one takes the other, or neither.
      const limit = (
        isOpenAi ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens', 'max_completion_tokens']
      ).find((name) => !changed.has(name));
      const body: Record<string, unknown> = {
        model: target.model,
        messages: [
          { role: 'system', content: systemText(request) },
          ...historyOf(request.messages, names).turns.flatMap((turn) =>
            messagesOf(turn, echoes, bridged),
          ),
        ],
        stream: true,
      };
      if (limit) body[limit] = most;
      if (!isMistral && !changed.has('stream_options'))
        body.stream_options = { include_usage: true };
      if (request.temperature !== undefined && !changed.has('temperature'))
        body.temperature = request.temperature;
      if (request.seed !== undefined && !changed.has('seed'))
        body[isMistral ? 'random_seed' : 'seed'] = request.seed;
      if (request.tools.length > 0) {
        body.tools = request.tools.map((tool) => toolOf(tool, names.toWire(tool.name)));
        if (request.toolChoice !== 'auto' && !changed.has('tool_choice'))
          body.tool_choice = request.toolChoice;
        // GPT-5.6 takes tools here only when told in so many words not to think.
        if (changed.has('reasoning_effort')) body.reasoning_effort = 'none';
      }
      const headers: Record<string, string> = target.key
        ? { authorization: `Bearer ${target.key}` }
        : {};
      return {
        url: `${target.baseUrl}/chat/completions`,
        headers,
        body,
      };
    },

    read: openaiReader,
  };
}

function toolOf(tool: ToolSpec, name: string): Json {
  return {
    type: 'function',
    function: {
      name,
      description: tool.description.slice(0, DESCRIPTION_LENGTH),
      parameters: objectSchema(tool.inputSchema),
    },
  };
}

/** `bridged`: between the results of tools and what a user says there must be an answer. */
function messagesOf(turn: Turn, echoes: Echoes, bridged: boolean): Json[] {
  switch (turn.role) {
    case 'user':
      return [
        {
          role: 'user',
          content: turn.images.length > 0 ? partsOf(turn.text, turn.images) : turn.text,
        },
      ];
    case 'assistant': {
      if (turn.calls.length === 0) return [{ role: 'assistant', content: turn.text }];
      return [
        {
          role: 'assistant',
          content: turn.text || null,
          ...record(echoes.get(turn.after)),
          tool_calls: turn.calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.args) },
          })),
        },
      ];
    }
    case 'results': {
      const answers = turn.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.id,
        content:
          result.isError && !/^\W{0,3}error/i.test(result.text)
            ? `Error: ${result.text}`
            : result.text,
      }));
      // A tool message holds text only, so that its pictures are a message of their own.
      const content = turn.results
        .filter(({ images }) => images.length > 0)
        .flatMap((result) => partsOf(picturesOf(result), result.images));
      if (content.length === 0) return answers;
      const between = bridged ? [{ role: 'assistant', content: 'The pictures come next.' }] : [];
      return [...answers, ...between, { role: 'user', content }];
    }
  }
}

function partsOf(text: string, images: readonly BrainImage[]): Json[] {
  return [
    ...(text ? [{ type: 'text', text }] : []),
    ...images.map(({ mime, data }) => ({
      type: 'image_url',
      image_url: { url: `data:${mime};base64,${data}` },
    })),
  ];
}

interface GrowingCall {
  index: number;
  id: string;
  name: string;
  raw: string;
}

function openaiReader(): Reader {
  const calls: GrowingCall[] = [];
  const details: Record<string, unknown>[] = [];
  let reasoning = '';
  let finish: Result['finish'] = null;
  let refusal = '';
  let usage: Json = {};
  let ended = false;

  /** Grows the call that a delta belongs to: by index, or by id where a host gives all the same. */
  function grow(delta: Json): void {
    const part = record(delta.function);
    const id = string(delta.id);
    const name = string(part.name);
    const index = number(delta.index) ?? (id || name ? calls.length : calls.length - 1);
    let call = calls.findLast((known) => known.index === index);
    if (!call || (id && call.id && id !== call.id && name)) {
      call = { index, id, name: '', raw: '' };
      calls.push(call);
    }
    call.id ||= id;
    call.name += name;
    call.raw += isRecord(part.arguments) ? JSON.stringify(part.arguments) : string(part.arguments);
  }

  /** OpenRouter's sealed reasoning comes in pieces; text of one index is one entry. */
  function keepDetail(detail: Json): void {
    const known = details.find(
      (other) =>
        other.index === detail.index && other.type === detail.type && detail.index !== undefined,
    );
    if (!known) {
      details.push({ ...detail });
      return;
    }
    for (const [key, value] of Object.entries(detail)) {
      const grows = key === 'text' || key === 'summary' || key === 'data';
      known[key] = grows ? string(known[key]) + string(value) : (value ?? known[key]);
    }
  }

  return {
    push(data) {
      if (data.trim() === '[DONE]') {
        ended = true;
        return [];
      }
      const event = parse(data);
      if (!isRecord(event)) throw new Unreadable(`not JSON: ${data.slice(0, 200)}`);
      if (event.error) throw new HostFault(event);
      if (isRecord(event.usage)) usage = event.usage;

      const choice = record(list(event.choices)[0]);
      if (isRecord(choice.error)) throw new HostFault(choice);
      // A host that does not stream sends one whole `message` instead of deltas.
      const delta = record(choice.delta ?? choice.message);
      const deltas: Delta[] = [];

      const thought = string(delta.reasoning_content) || string(delta.reasoning);
      if (delta.reasoning_content) reasoning += thought;
      if (thought) deltas.push({ type: 'thinking', text: thought });
      for (const detail of list(delta.reasoning_details)) keepDetail(record(detail));

      for (const part of Array.isArray(delta.content) ? delta.content : [delta.content]) {
        if (typeof part === 'string') {
          if (part) deltas.push({ type: 'text', text: part });
          continue;
        }
        // Mistral's thinking models send a list of parts.
        const { type, text, thinking } = record(part);
        if (type === 'text' && string(text)) deltas.push({ type: 'text', text: string(text) });
        for (const inner of list(thinking))
          if (string(record(inner).text))
            deltas.push({ type: 'thinking', text: string(record(inner).text) });
      }
      if (string(delta.refusal)) deltas.push({ type: 'text', text: string(delta.refusal) });
      for (const call of list(delta.tool_calls)) grow(record(call));

      const reason = string(choice.finish_reason);
      if (reason === 'error') throw new HostFault(event);
      if (reason === 'content_filter') {
        finish = 'refused';
        refusal = reason;
      } else if (reason) finish = reason === 'length' ? 'length' : 'stop';
      return deltas;
    },

    ended: () => ended,

    result() {
      const echo =
        details.length > 0
          ? { reasoning_details: details }
          : reasoning
            ? { reasoning_content: reasoning }
            : undefined;
      return {
        calls: calls.filter((call) => call.name || call.raw),
        finish,
        refusal,
        promptTokens: number(usage.prompt_tokens),
        cachedTokens: number(record(usage.prompt_tokens_details).cached_tokens),
        outputTokens: number(usage.completion_tokens),
        cost: number(usage.cost),
        echo,
      };
    },
  };
}
