/**
 * The worker of wllama (@wllama/wllama 3.13.0): llama.cpp on the CPU, for phones without a usable GPU.
 *
 * Promises: nothing comes from a CDN or a blob: address; a file that is no model fails to load, with
 * a typed error; the prompt's part that the engine has computed before is not computed again.
 *
 * What was computed is lost with the worker: 3.13.0 has no call to save or restore a session. Its messages
 * (`src/glue/messages.ts`) are load, completion, result, cancel, embedding, rerank, realtime, speech and a
 * test of the backend; none reaches llama.cpp's `llama_state_*`, and no action takes one by name.
 */
import { type RawCompletionChunk, type RawCompletionParams, Wllama } from '@wllama/wllama';
import { EngineError } from '../errors.ts';
import { fileIn, fileName, folder } from '../files.ts';
import type { CatalogueRow, EngineEvent, GenerateRequest } from '../types.ts';
import { engineFault } from './faults.ts';
import { LIKELIEST, oddsOf, type TokenOdds } from './odds.ts';
import type { WorkerEngine } from './protocol.ts';
import { serve } from './serve.ts';
import { workerUrl } from './spawn.ts';
import { wllamaBuild, type WllamaBuild } from './wllama-build.ts';

/**
 * Tokens computed at a stretch. A stop waits for the stretch to end: 32 make that 0.3 to 1.5 s
 * where the default of 512 took up to 11, at no loss of speed.
 */
const BATCH = 32;

/** The library's threads need cross-origin isolation, which would cut off sign-in windows. */
const THREADS = 1;

/**
 * The library starts its inner worker from a blob: address; the same code is a file of this app
 * (tools/vite-wllama.ts), which gets its options in its name.
 */
function startFromFile({ core, wasm, compat }: WllamaBuild): void {
  const NativeWorker = self.Worker;
  self.Worker = class extends NativeWorker {
    constructor(blobUrl: string | URL) {
      URL.revokeObjectURL(String(blobUrl));
      const pathConfig = { 'wllama.wasm': new URL(wasm, self.location.href).href };
      const name = JSON.stringify({ pathConfig, nbThread: 0, compat });
      super(workerUrl(core), { type: 'module', name });
    }
  };
}

/** The model's file; each read of the engine is a step of the load. */
async function modelFile(
  row: CatalogueRow,
  path: string,
  onProgress: (fraction: number) => void,
): Promise<File> {
  const at = await folder(row.id);
  const file = at && (await fileIn(at, fileName(path)));
  if (!file) throw new EngineError('absent', `not stored: ${path}`);
  const slice = file.slice.bind(file);
  let furthest = 0;
  file.slice = (start, end, type) => {
    furthest = Math.max(furthest, Math.min(end ?? 0, file.size));
    onProgress(furthest / file.size);
    return slice(start, end, type);
  };
  return file;
}

const build = wllamaBuild();

class WllamaEngine implements WorkerEngine {
  readonly #wllama = new Wllama(
    { default: build.wasm },
    { suppressNativeLog: true, logger: { debug() {}, log() {}, warn() {}, error() {} } },
  );

  async load(row: CatalogueRow, onProgress: (fraction: number | null) => void): Promise<void> {
    const files = await Promise.all(
      row.files
        .filter((file) => /\.gguf$/i.test(file.path))
        .map((file) => modelFile(row, file.path, onProgress)),
    );
    // The code is in the app's own file; the library only wants to see that there is some.
    this.#wllama.setCompat({ worker: { code: ' ' }, wasm: build.wasm });
    try {
      await this.#wllama.loadModel(files, {
        n_ctx: row.contextTokens,
        n_batch: BATCH,
        n_ubatch: BATCH,
        n_parallel: 1,
        n_gpu_layers: 0,
        n_threads: THREADS,
        // Gemma's layers with a sliding window would forget the prefix that is to be reused.
        swa_full: true,
      });
      await this.#selfTest();
    } catch (thrown) {
      throw engineFault(thrown);
    }
  }

  /** A file that is no model loads without an error in this library, and fails at its first use. */
  async #selfTest(): Promise<void> {
    const { nVocab } = this.#wllama.getModelMetadata().hparams;
    if (!(nVocab > 0))
      throw new EngineError('internal', 'the file is no model: it has no vocabulary');
    const { choices } = await this.#wllama.createCompletion({
      prompt: '1',
      max_tokens: 1,
      temperature: 0,
      logprobs: 1,
    });
    // The library's type says otherwise; this is what its server part answers.
    const { content } = choices[0]?.logprobs as unknown as {
      content?: readonly { readonly logprob?: number | null }[];
    };
    const logprob = content?.[0]?.logprob;
    if (typeof logprob !== 'number' || !Number.isFinite(logprob))
      throw new EngineError('internal', `the self-test gave a log-probability of ${logprob}`);
  }

  /** What the model would begin with if no grammar held it. */
  async *#firstToken(params: RawCompletionParams): AsyncGenerator<EngineEvent, FirstToken> {
    const stream = await this.#wllama.createCompletion({
      ...params,
      stream: true,
      max_tokens: 1,
      temperature: 0,
      logprobs: LIKELIEST,
    });
    let likeliest: readonly TokenOdds[] = [];
    let timings: RawCompletionChunk['timings'];
    for await (const chunk of stream) {
      timings = chunk.timings ?? timings;
      const progress = chunk.prompt_progress;
      if (progress) yield { type: 'prefill', fraction: progress.processed / progress.total };
      // The library's type says otherwise; this is what its server part answers.
      const { content } = (chunk.choices[0]?.logprobs ?? {}) as unknown as {
        content?: readonly { readonly top_logprobs?: readonly TokenOdds[] }[];
      };
      likeliest = content?.[0]?.top_logprobs ?? likeliest;
    }
    return { likeliest, timings };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const { sampling } = request;
    const params: RawCompletionParams & {
      readonly cache_prompt: boolean;
      readonly preserved_tokens: readonly string[];
    } = {
      prompt: request.prompt.join(''),
      stream: true,
      return_progress: true,
      cache_prompt: true,
      preserved_tokens: request.markers ?? [],
      max_tokens: request.maxTokens,
      stop: [...request.stop],
      temperature: sampling.temperature,
      top_p: sampling.topP ?? 1,
      top_k: sampling.topK ?? 0,
      min_p: 0,
      ...(sampling.seed === undefined ? {} : { seed: sampling.seed }),
      abortSignal: signal,
    };
    const { fork } = request;
    let { grammar } = request;
    let finish: string | null = null;
    let outputTokens = 0;
    let read: RawCompletionChunk['prompt_progress'];
    let timings: RawCompletionChunk['timings'];
    /** Tokens that were read for the odds; they stay in the cache, all but the last one. */
    let weighed = 0;
    try {
      if (fork) {
        const first = yield* this.#firstToken(params);
        weighed = Math.max(0, (first.timings?.prompt_n ?? 0) - 1);
        const odds = oddsOf(first.likeliest, fork.opening);
        yield { type: 'odds', odds };
        grammar = odds > fork.above ? fork.first : fork.second;
      }
      const stream = await this.#wllama.createCompletion({
        ...params,
        ...(grammar === null ? {} : { grammar }),
        stream: true,
      });
      for await (const chunk of stream) {
        timings = chunk.timings ?? timings;
        const progress = chunk.prompt_progress;
        if (progress && !fork) {
          read = progress;
          yield { type: 'prefill', fraction: progress.processed / progress.total };
        }
        const choice = chunk.choices[0];
        finish = choice?.finish_reason ?? finish;
        if (choice?.text) {
          outputTokens += 1;
          yield { type: 'token', text: choice.text };
        }
      }
    } catch (thrown) {
      if (!signal.aborted) throw engineFault(thrown);
    }
    const memory = signal.aborted ? null : await this.#memory();
    // The engine's own figures come with its last chunk; after a stop there is none.
    yield {
      type: 'done',
      reason: signal.aborted ? 'aborted' : finish === 'length' ? 'length' : 'stop',
      promptTokens: timings ? timings.cache_n + timings.prompt_n : (read?.total ?? 0),
      cachedTokens: timings ? Math.max(0, timings.cache_n - weighed) : (read?.cache ?? 0),
      outputTokens: timings?.predicted_n ?? outputTokens,
      ...(memory === null ? {} : { memory }),
    };
  }

  /** Bytes of its linear memory, which never shrinks; its worker tells them (tools/vite-wllama.ts). */
  async #memory(): Promise<number | null> {
    const told: unknown = await this.#wllama._getDebugInfo();
    return typeof told === 'number' && told > 0 ? told : null;
  }
}

/** The likeliest first tokens, with their log-probabilities; the prompt stays in the cache. */
interface FirstToken {
  readonly likeliest: readonly TokenOdds[];
  readonly timings: RawCompletionChunk['timings'];
}

startFromFile(build);
serve(() => new WllamaEngine());
