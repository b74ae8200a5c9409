/**
 * Google's Gemini API, native REST (ai.google.dev/api/generate-content): its OpenAI-compatible
 * interface does not let browsers in. The key goes in a header, never in the address.
 */
import type { BrainImage } from '../brain.ts';
import { historyOf, picturesOf, systemText, wireNames, type Turn } from './history.ts';
import { isRecord, list, number, parse, record, string, type Json } from './json.ts';
import { geminiSchema } from './schema.ts';
import {
  HostFault,
  THINKING_ROOM,
  Unreadable,
  type Delta,
  type Echoes,
  type RawCall,
  type Reader,
  type Result,
  type Target,
  type Wire,
} from './wire.ts';

/**
 * Stands where the seal of a call's reasoning is not known any more, e.g. after a reload or where
 * another model made the call; without it Gemini 3 refuses the request
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SEAL = 'skip_thought_signature_validator';

const MODES = { none: 'NONE', required: 'ANY' } as const;

export function geminiWire(target: Target, echoes: Echoes): Wire {
  const model = encodeURIComponent(target.model.replace(/^models\//, ''));
  return {
    negotiable: ['temperature', 'seed', 'maxOutputTokens'],

    write(request, changed) {
      const names = wireNames(request.tools);
      const body: Record<string, unknown> = {
        systemInstruction: { parts: [{ text: systemText(request) }] },
        contents: historyOf(request.messages, names).turns.map((turn) => ({
          role: turn.role === 'assistant' ? 'model' : 'user',
          parts: partsOf(turn, echoes),
        })),
        generationConfig: {
          maxOutputTokens: request.maxTokens + (changed.has('maxOutputTokens') ? 0 : THINKING_ROOM),
          ...(request.temperature === undefined || changed.has('temperature')
            ? {}
            : { temperature: request.temperature }),
          ...(request.seed === undefined || changed.has('seed') ? {} : { seed: request.seed }),
        },
      };
      if (request.tools.length > 0) {
        body.tools = [
          {
            functionDeclarations: request.tools.map((tool) => {
              const parameters = geminiSchema(tool.inputSchema);
              return {
                name: names.toWire(tool.name),
                description: tool.description,
                ...(parameters ? { parameters } : {}),
              };
            }),
          },
        ];
        if (request.toolChoice !== 'auto')
          body.toolConfig = { functionCallingConfig: { mode: MODES[request.toolChoice] } };
      }
      return {
        url: `${target.baseUrl}/models/${model}:streamGenerateContent?alt=sse`,
        headers: { 'x-goog-api-key': target.key },
        body,
      };
    },

    read: geminiReader,
  };
}

function partsOf(turn: Turn, echoes: Echoes): Json[] {
  switch (turn.role) {
    case 'user':
      return [
        ...turn.images.map(imagePart),
        ...(turn.text || turn.images.length === 0 ? [{ text: turn.text }] : []),
      ];
    case 'assistant': {
      // The seals, in the order of the calls; of parallel calls only the first has one.
      const seals = list(echoes.get(turn.after));
      return [
        ...(turn.text ? [{ text: turn.text }] : []),
        ...turn.calls.map((call, at) => {
          const seal = string(seals[at]) || (at === 0 ? NO_SEAL : '');
          return {
            functionCall: { name: call.name, args: call.args },
            ...(seal ? { thoughtSignature: seal } : {}),
          };
        }),
      ];
    }
    case 'results':
      // Pictures stand beside the responses: inside of one only the newest models take them.
      return [
        ...turn.results.map((result) => ({
          functionResponse: {
            name: result.name,
            response: result.isError ? { error: result.text } : { output: result.text },
          },
        })),
        ...turn.results
          .filter(({ images }) => images.length > 0)
          .flatMap((result) => [{ text: picturesOf(result) }, ...result.images.map(imagePart)]),
      ];
  }
}

function imagePart({ mime, data }: BrainImage): Json {
  return { inlineData: { mimeType: mime, data } };
}

function geminiReader(): Reader {
  const calls: RawCall[] = [];
  const seals: string[] = [];
  let finish: Result['finish'] = null;
  let refusal = '';
  let usage: Json = {};

  return {
    push(data) {
      const event = parse(data);
      if (!isRecord(event)) throw new Unreadable(`not JSON: ${data.slice(0, 200)}`);
      if (event.error) throw new HostFault(event);
      if (isRecord(event.usageMetadata)) usage = event.usageMetadata;

      const blocked = string(record(event.promptFeedback).blockReason);
      if (blocked) {
        finish = 'refused';
        refusal = blocked;
      }
      const deltas: Delta[] = [];
      const candidate = record(list(event.candidates)[0]);
      for (const part of list(record(candidate.content).parts).map(record)) {
        const text = string(part.text);
        if (text) deltas.push({ type: part.thought === true ? 'thinking' : 'text', text });
        if (isRecord(part.functionCall)) {
          const { id, name, args } = part.functionCall;
          calls.push({
            id: string(id),
            name: string(name),
            raw: args === undefined ? '' : JSON.stringify(args),
          });
          seals.push(string(part.thoughtSignature));
        }
      }
      const reason = string(candidate.finishReason);
      if (reason === 'MALFORMED_FUNCTION_CALL') {
        // What the model wrote comes only inside this sentence.
        const raw = string(candidate.finishMessage);
        const name = /default_api\.(\w+)/.exec(raw)?.[1] ?? /(\w+)\(/.exec(raw)?.[1] ?? '';
        calls.push({ id: '', name, raw });
        finish = 'stop';
      } else if (reason === 'STOP') finish = 'stop';
      else if (reason === 'MAX_TOKENS') finish = 'length';
      else if (reason && reason !== 'FINISH_REASON_UNSPECIFIED') {
        finish = 'refused';
        refusal = [reason, string(candidate.finishMessage)].filter(Boolean).join(': ');
      }
      return deltas;
    },

    // It has no last event: the end of the stream is the end.
    ended: () => false,

    result() {
      const answer = number(usage.candidatesTokenCount);
      const thoughts = number(usage.thoughtsTokenCount);
      return {
        calls,
        finish,
        refusal,
        promptTokens: number(usage.promptTokenCount),
        cachedTokens: number(usage.cachedContentTokenCount),
        outputTokens:
          answer === undefined && thoughts === undefined
            ? undefined
            : (answer ?? 0) + (thoughts ?? 0),
        echo: seals.some(Boolean) ? seals : undefined,
      };
    },
  };
}
