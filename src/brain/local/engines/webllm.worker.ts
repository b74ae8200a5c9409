/**
 * The worker of WebLLM (@mlc-ai/web-llm 0.2.86, unmodified): a model on WebGPU.
 *
 * Promises: it reads only the files that the downloader verified and put into WebLLM's caches, and
 * fetches nothing; the prompt reaches the model exactly as the dialect rendered it, for the library's
 * own templates are taken out; what is in the model's cache is not computed again.
 */
import {
  type ChatCompletionChunk,
  type ChatOptions,
  type LogitProcessor,
  MLCEngine,
} from '@mlc-ai/web-llm';
import { EngineError } from '../errors.ts';
import { fileUrl, webllmEntry, webllmModelUrl } from '../files.ts';
import { lastPart, PACKAGE } from '../resolve.ts';
import type { CatalogueRow, EngineEvent, Fork, GenerateRequest } from '../types.ts';
import { engineFault } from './faults.ts';
import type { WorkerEngine } from './protocol.ts';
import { lnSum } from './odds.ts';
import { nonsense, SELF_TEST_PROMPT, SELF_TEST_TOKENS } from './self-test.ts';
import { serve } from './serve.ts';
import { StopStrings } from './stops.ts';

/**
 * Takes the library's templates out, so that messages are joined as they are. A sliding window and a
 * context window exclude each other in WebLLM; Gemma 3's own config names both.
 */
const BARE_TEMPLATE: ChatOptions = {
  sliding_window_size: -1,
  conv_config: {
    system_template: '{system_message}',
    system_message: '',
    roles: { user: '', assistant: '', tool: '' },
    role_templates: {},
    seps: [''],
    role_content_sep: '',
    role_empty_sep: '',
  },
};

/** Share of the load that goes into the weights; the rest is the compiling of shaders. */
const WEIGHTS = 0.8;

/** What the model's cache holds after a reply that ended by itself. */
interface Cached {
  readonly prompt: readonly string[];
  readonly tokens: number;
}

/** The library fetches what its caches lack, and verifies nothing: here a gap is an error. */
function closeNetwork(): void {
  const absent = (url: string): EngineError =>
    new EngineError('absent', `not stored: ${new URL(url).pathname}`);
  Cache.prototype.add = (request) =>
    Promise.reject(absent(request instanceof Request ? request.url : String(request)));
  // WebLLM goes past its cache for a library on localhost.
  self.fetch = async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    const found = await (await caches.open('webllm/wasm')).match(url);
    if (!found) throw absent(url);
    return found;
  };
}

/**
 * WebLLM asks for less than some models need, and tells neither of a lost device nor of one that is
 * out of memory. Resolves when one was lost and that was reported.
 */
function watchDevice(broken: (error: EngineError) => void): Promise<void> {
  let reported!: () => void;
  const lost = new Promise<void>((resolve) => {
    reported = resolve;
  });
  if (!('GPUAdapter' in self)) return lost;
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.limits;
    const device = await requestDevice.call(this, {
      ...descriptor,
      requiredLimits: {
        ...descriptor?.requiredLimits,
        maxBufferSize,
        maxStorageBufferBindingSize,
      },
    });
    void device.lost.then((info) => {
      broken(engineFault(new Error(`The GPU device was lost (${info.reason}): ${info.message}`)));
      reported();
    });
    device.addEventListener('uncapturederror', ({ error }) => {
      if (error instanceof GPUOutOfMemoryError)
        broken(new EngineError('memory', `GPU out of memory: ${error.message}`));
    });
    return device;
  };
  return lost;
}

/** Bytes of the GPU buffers that are allocated: weights, cache and what lies between them. */
let gpuBytes = 0;

/** Counts them: neither WebGPU nor the library tells their sum. */
function countBuffers(): void {
  if (!('GPUDevice' in self)) return;
  const alive = new WeakSet<GPUBuffer>();
  const createBuffer = GPUDevice.prototype.createBuffer;
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const buffer = createBuffer.call(this, descriptor);
    alive.add(buffer);
    gpuBytes += buffer.size;
    return buffer;
  };
  const destroy = GPUBuffer.prototype.destroy;
  GPUBuffer.prototype.destroy = function () {
    if (alive.delete(this)) gpuBytes -= this.size;
    return destroy.call(this);
  };
}

/** Milliseconds in which a lost device makes itself known after an operation failed. */
const LOST_MS = 200;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * What this needs of the library's inside (0.2.86). It takes a logit processor only where a model is
 * loaded, and then reads every logit of every token back from the GPU; here one is in place for one
 * token.
 */
interface Pipeline {
  logitProcessor: LogitProcessor | undefined;
  readonly tokenizer: { encode(text: string): Int32Array };
}

/** Far below any logit, and still finite when divided by the smallest temperature. */
const NEVER = -1e30;

/** Weighs the first token by its logits, and leaves only the kind of reply that the odds are for. */
class ForkProcessor implements LogitProcessor {
  odds: number | null = null;
  readonly #fork: Fork;
  readonly #pipeline: Pipeline;
  /** Tokens that a reply of the first kind may begin with. */
  readonly #openers: ReadonlySet<number>;

  constructor(fork: Fork, pipeline: Pipeline) {
    this.#fork = fork;
    this.#pipeline = pipeline;
    const beginnings = [...fork.opening].map((_, at) => fork.opening.slice(0, at + 1));
    this.#openers = new Set(beginnings.map((text) => Number(pipeline.tokenizer.encode(text)[0])));
    pipeline.logitProcessor = this;
  }

  processLogits(logits: Float32Array): Float32Array {
    this.end();
    const opens = lnSum([...this.#openers].map((token) => logits[token] ?? NEVER));
    const others = logits.slice();
    for (const token of this.#openers) others[token] = NEVER;
    this.odds = opens - lnSum(others);
    if (this.odds <= this.#fork.above) return others;
    return logits.map((logit, token) => (this.#openers.has(token) ? logit : NEVER));
  }

  processSampledToken(): void {}

  resetState(): void {}

  end(): void {
    this.#pipeline.logitProcessor = undefined;
  }
}

const endsWith = (prompt: readonly string[], last: readonly string[]): boolean =>
  prompt.length === last.length + 1 && last.every((piece, at) => piece === prompt[at]);

class WebllmEngine implements WorkerEngine {
  readonly #lost: Promise<unknown>;
  readonly #engine = new MLCEngine({ logLevel: 'SILENT' });
  #bosTokens = 0;
  #cached: Cached | null = null;

  /** `lost` resolves when it has been reported that the GPU device is lost. */
  constructor(lost: Promise<unknown>) {
    this.#lost = lost;
  }

  async load(
    row: CatalogueRow,
    onProgress: (fraction: number | null) => void,
    selfTest: boolean,
  ): Promise<void> {
    const library = row.library ?? row.files.find((file) => file.path.endsWith('.wasm'))?.path;
    if (library === undefined)
      throw new EngineError('internal', `${row.id} names no WebGPU library`);
    this.#bosTokens = await bosTokens(row);
    this.#engine.setAppConfig({
      model_list: [
        {
          model_id: row.id,
          model: webllmModelUrl(row),
          model_lib: fileUrl(row, library),
          ...(row.files.some((file) => lastPart(file.path) === PACKAGE)
            ? { model_manifest: PACKAGE }
            : {}),
        },
      ],
    });
    this.#engine.setInitProgressCallback(({ progress, text }) => {
      if (text.startsWith('Loading model')) onProgress(progress * WEIGHTS);
      else if (text.startsWith('Loading GPU')) onProgress(WEIGHTS + progress * (1 - WEIGHTS));
    });
    try {
      await this.#engine.reload(row.id, {
        ...BARE_TEMPLATE,
        ...row.overrides,
        context_window_size: row.contextTokens,
      });
      if (selfTest) await this.#selfTest();
    } catch (thrown) {
      throw engineFault(thrown);
    }
  }

  /** Some drivers fail at the first real work, and a broken one calculates nonsense. */
  async #selfTest(): Promise<void> {
    const { choices } = await this.#engine.chat.completions.create({
      messages: [{ role: 'user', content: SELF_TEST_PROMPT }],
      max_tokens: SELF_TEST_TOKENS,
      temperature: 0,
      logprobs: true,
      top_logprobs: 1,
    });
    const [choice] = choices;
    const wrong = nonsense(choice?.message.content ?? '', choice?.logprobs?.content ?? []);
    if (wrong) throw new EngineError('gpu', `the self-test ${wrong}`);
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const { prompt, sampling, grammar } = request;
    if (prompt.length % 2 === 0)
      throw new EngineError('internal', 'the prompt does not end with prompt text');
    const interrupt = (): void => void this.#engine.interruptGenerate();
    signal.addEventListener('abort', interrupt);
    const before = this.#cached;
    this.#cached = null;
    const fork = request.fork ? new ForkProcessor(request.fork, this.#pipeline()) : null;
    try {
      const stream = await this.#engine.chat.completions.create({
        messages: prompt.map((content, at) =>
          at % 2 === 0 ? { role: 'user', content } : { role: 'assistant', content },
        ),
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: request.maxTokens,
        temperature: sampling.temperature,
        top_p: sampling.topP ?? 1,
        seed: sampling.seed ?? null,
        ...(grammar === null ? {} : { response_format: { type: 'grammar', grammar } }),
      });
      // WebLLM goes on in its cache where all but the last message are what it has in there.
      const reused = before && endsWith(prompt, before.prompt) ? before.tokens : 0;
      yield* this.#read(stream, request, signal, reused, fork);
    } catch (thrown) {
      const error = engineFault(thrown);
      if (error.kind === 'context') await this.#engine.resetChat();
      // A lost device shows first as some failed operation.
      else await Promise.race([this.#lost, pause(LOST_MS)]);
      throw error;
    } finally {
      fork?.end();
      signal.removeEventListener('abort', interrupt);
    }
  }

  #pipeline(): Pipeline {
    const { loadedModelIdToPipeline } = this.#engine as unknown as {
      readonly loadedModelIdToPipeline: ReadonlyMap<string, Pipeline>;
    };
    const [pipeline] = loadedModelIdToPipeline.values();
    if (!pipeline) throw new EngineError('internal', 'no model is loaded');
    return pipeline;
  }

  async *#read(
    stream: AsyncIterable<ChatCompletionChunk>,
    request: GenerateRequest,
    signal: AbortSignal,
    reused: number,
    fork: ForkProcessor | null,
  ): AsyncGenerator<EngineEvent> {
    const stops = new StopStrings(request.stop);
    let reply = '';
    let finish: string | null = null;
    let usage: ChatCompletionChunk['usage'];
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      if (fork && fork.odds !== null) {
        yield { type: 'odds', odds: fork.odds };
        fork = null;
      }
      const choice = chunk.choices[0];
      finish = choice?.finish_reason ?? finish;
      reply += choice?.delta.content ?? '';
      const text = stops.push(choice?.delta.content ?? '');
      if (text !== '') yield { type: 'token', text };
      if (stops.found) await this.#engine.interruptGenerate();
    }
    const rest = stops.rest();
    if (rest !== '') yield { type: 'token', text: rest };

    const prefilled = (usage?.prompt_tokens ?? 0) + (reused === 0 ? this.#bosTokens : 0);
    const outputTokens = usage?.completion_tokens ?? 0;
    const reason = doneReason(finish, signal.aborted, stops.found);
    // The last token of a reply was chosen but not yet computed into the cache.
    if (finish === 'stop')
      this.#cached = {
        prompt: [...request.prompt, reply],
        tokens: reused + prefilled + outputTokens - 1,
      };
    yield {
      type: 'done',
      reason,
      promptTokens: reused + prefilled,
      cachedTokens: reused,
      outputTokens,
      memory: gpuBytes,
    };
  }
}

function doneReason(
  finish: string | null,
  aborted: boolean,
  stopped: boolean,
): 'stop' | 'length' | 'aborted' {
  if (stopped || finish === 'stop') return 'stop';
  if (finish === 'length') return 'length';
  return aborted ? 'aborted' : 'stop';
}

/** How many tokens WebLLM puts before a conversation: it does not count them itself. */
async function bosTokens(row: CatalogueRow): Promise<number> {
  const config = row.files.find((file) => file.path.endsWith('mlc-chat-config.json'));
  const entry = config && webllmEntry(row, config.path);
  const found = entry && (await (await caches.open(entry.scope)).match(entry.url));
  if (!found) throw new EngineError('absent', `not stored: the configuration of ${row.id}`);
  const { conv_template } = (await found.json()) as {
    conv_template?: { system_prefix_token_ids?: readonly number[] };
  };
  return conv_template?.system_prefix_token_ids?.length ?? 0;
}

closeNetwork();
countBuffers();
serve((broken) => new WebllmEngine(watchDevice(broken)));
