/**
 * The public models that are known to run in one of the two engines, best first. A module of its own,
 * loaded when a list is drawn: no first screen needs it.
 *
 * Sizes and hashes that only the host knows are left out: `approxBytes` is an estimate for the person
 * and for the room, and the downloader verifies by structure. What a row says of memory is reckoned:
 *
 * - KV cache: 2 (key and value) × layers × key-value heads × head dimension × bytes of a number, for
 *   each token of the window. Layers with a sliding window are counted in full, because both engines
 *   are told to keep the whole window (else no prefix could be used again).
 * - WebLLM: what `prebuiltAppConfig` of @mlc-ai/web-llm 0.2.86 says of the GPU's memory at a window
 *   of 4096 tokens, and PAGE_BYTES for the page.
 * - wllama: the file, the KV cache and what llama.cpp needs beside (`beside`), as measured in Chromium.
 * - A q4 model's largest GPU buffer is its embedding: vocabulary × hidden size ÷ 2.
 */
import { CONFIG, PACKAGE } from './resolve.ts';
import type { CatalogueRow, Family, Sampling } from './types.ts';

const GEMMA = { name: 'Gemma Terms of Use', url: 'https://ai.google.dev/gemma/terms' };
const APACHE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };
const LLAMA = {
  name: 'Llama 3.2 Community License',
  url: 'https://www.llama.com/llama3_2/license/',
};

const HUB = 'https://huggingface.co/';
/** Libraries for web-llm 0.2.86: `modelLibURLPrefix` and `modelVersion` of the package. */
const LIBRARIES =
  'https://raw.githubusercontent.com/mlc-ai/binary-mlc-llm-libs/main/web-llm-models/v0_2_86/base/';
const MIB = 1 << 20;
/** The page, its worker and a tokenizer beside what the GPU holds. */
const PAGE_BYTES = 250e6;

/** What the reckoning needs to know of an architecture. */
interface Shape {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly vocabulary: number;
  readonly hidden: number;
}

/** Bytes that one token of the window takes; `bytes` of a number: 2 for f16, 4 for f32. */
export const kvBytesPerToken = (
  { layers, kvHeads, headDim }: Pick<Shape, 'layers' | 'kvHeads' | 'headDim'>,
  bytes: 2 | 4,
): number => 2 * layers * kvHeads * headDim * bytes;

const GEMMA_3_270M: Shape = {
  layers: 18,
  kvHeads: 1,
  headDim: 256,
  vocabulary: 262_144,
  hidden: 640,
};
const GEMMA_3_1B: Shape = { ...GEMMA_3_270M, layers: 26, hidden: 1152 };
/**
 * 15 of its 35 layers have a KV cache of their own, 12 with heads of 256 and 3 with heads of 512
 * numbers: 4608 numbers in all, which is 18 heads of 256.
 */
const GEMMA_4_E2B: Shape = { ...GEMMA_3_270M, layers: 18, hidden: 1536 };
const GEMMA_2_2B: Shape = {
  layers: 26,
  kvHeads: 4,
  headDim: 256,
  vocabulary: 256_000,
  hidden: 2304,
};
const QWEN_3_06B: Shape = {
  layers: 28,
  kvHeads: 8,
  headDim: 128,
  vocabulary: 151_936,
  hidden: 1024,
};
const QWEN_3_17B: Shape = { ...QWEN_3_06B, hidden: 2048 };
const LLAMA_32_1B: Shape = {
  layers: 16,
  kvHeads: 8,
  headDim: 64,
  vocabulary: 128_256,
  hidden: 2048,
};
const SMOLLM2_360M: Shape = {
  layers: 32,
  kvHeads: 5,
  headDim: 64,
  vocabulary: 49_152,
  hidden: 960,
};
const SMOLLM2_135M: Shape = { ...SMOLLM2_360M, layers: 30, kvHeads: 3, hidden: 576 };

const GEMMA_SAMPLING: Sampling = { temperature: 1, topP: 0.95, topK: 64 };
/** A call has one right form: what is good for words makes a call wrong by chance. */
const GEMMA_TOOL_SAMPLING: Sampling = { ...GEMMA_SAMPLING, temperature: 0.2 };
const QWEN_SAMPLING: Sampling = { temperature: 0.6, topP: 0.95, topK: 20 };
const LLAMA_SAMPLING: Sampling = { temperature: 0.6, topP: 0.9 };
const SMOLLM_SAMPLING: Sampling = { temperature: 0.2, topP: 0.9 };

type Said = Pick<CatalogueRow, 'label' | 'note' | 'licence' | 'maxTools'> &
  Partial<
    Pick<
      CatalogueRow,
      'overrides' | 'thinking' | 'untaught' | 'images' | 'sampling' | 'toolSampling'
    >
  >;

interface Webllm extends Said {
  readonly family: Family;
  /** Name of the repository under mlc-ai, without `-MLC`. */
  readonly name: string;
  /** Its library reads a manifest beside the configuration. */
  readonly packaged?: true;
  /** What the library's file is called behind that. */
  readonly library: string;
  readonly shape: Shape;
  readonly approxBytes: number;
  /** `vram_required_MB` of the package, which counts in MiB. */
  readonly vram: number;
  /** Windows, largest first; the first is the one that `vram` is for. */
  readonly contexts: readonly [number, ...number[]];
}

function webllm({ name, packaged, library, shape, vram, contexts, ...said }: Webllm): CatalogueRow {
  const quantisation = name.slice(name.lastIndexOf('-') + 1);
  const f16 = quantisation.includes('f16');
  return {
    ...said,
    id: `${name}.webllm`,
    engine: 'webllm',
    base: `${HUB}mlc-ai/${name}-MLC/resolve/main/`,
    files: [{ path: CONFIG }, ...(packaged ? [{ path: PACKAGE }] : [])],
    library: `${LIBRARIES}${name}_${library}-webgpu.wasm`,
    contextTokens: contexts[0],
    contexts: contexts.slice(1),
    memory: Math.round(vram * MIB) + PAGE_BYTES,
    quantisation,
    kvBytesPerToken: kvBytesPerToken(shape, f16 ? 2 : 4),
    largestBuffer: (shape.vocabulary * shape.hidden) / 2,
    features: f16 ? ['shader-f16'] : [],
    beside: false,
  };
}

interface Wllama extends Said {
  readonly family: Family;
  /** Repository and file on the hub. */
  readonly repository: string;
  readonly file: string;
  readonly quantisation: string;
  readonly shape: Shape;
  readonly approxBytes: number;
  /** Bytes of memory beside the file and the KV cache. */
  readonly beside: number;
}

/** A phone's CPU reads about 15 tokens a second: a longer prompt would take minutes. */
const CPU_CONTEXT = 2048;

function wllama({ repository, file, shape, beside, ...said }: Wllama): CatalogueRow {
  const perToken = kvBytesPerToken(shape, 2);
  return {
    ...said,
    id: `${file.slice(0, -'.gguf'.length)}.wllama`,
    engine: 'wllama',
    base: `${HUB}${repository}/resolve/main/`,
    files: [{ path: file }],
    contextTokens: CPU_CONTEXT,
    contexts: [1024],
    memory: said.approxBytes + perToken * CPU_CONTEXT + beside,
    kvBytesPerToken: perToken,
    beside: false,
  };
}

/** Buffers for Gemma's vocabulary of 262,144 tokens: 780 MB measured at 292 MB of weights. */
const GEMMA_BESIDE = 450e6;

export const PUBLIC_ROWS: readonly CatalogueRow[] = [
  webllm({
    name: 'Qwen3-1.7B-q4f16_1',
    library: 'cs1k',
    label: 'Qwen3 1.7B',
    note: 'Good with tools and with several steps; can think before it answers.',
    family: 'qwen3',
    shape: QWEN_3_17B,
    approxBytes: 984e6,
    vram: 2036.66,
    contexts: [4096, 2048, 1024],
    licence: APACHE,
    maxTools: 10,
    thinking: true,
    sampling: QWEN_SAMPLING,
  }),
  webllm({
    name: 'gemma3-1b-it-q4f16_1',
    library: 'cs1k',
    label: 'Gemma 3 1B',
    note: 'Writes well in many languages; simple tool calls.',
    family: 'gemma3',
    untaught: true,
    shape: GEMMA_3_1B,
    approxBytes: 602e6,
    vram: 711.07,
    contexts: [4096, 2048, 1024],
    licence: GEMMA,
    maxTools: 5,
    // Its own configuration names a sliding window and the library's a context window: one too many.
    overrides: { sliding_window_size: -1 },
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  webllm({
    name: 'Qwen3-0.6B-q4f16_1',
    library: 'cs1k',
    label: 'Qwen3 0.6B',
    note: 'Small and good with tools; can think before it answers.',
    family: 'qwen3',
    shape: QWEN_3_06B,
    approxBytes: 352e6,
    vram: 1403.34,
    contexts: [4096, 2048, 1024],
    licence: APACHE,
    maxTools: 8,
    thinking: true,
    sampling: QWEN_SAMPLING,
  }),
  webllm({
    name: 'Llama-3.2-1B-Instruct-q4f16_1',
    library: 'cs1k',
    label: 'Llama 3.2 1B',
    note: 'Summarises and rewrites well in English; simple tool calls.',
    family: 'llama3',
    shape: LLAMA_32_1B,
    approxBytes: 705e6,
    vram: 879.04,
    contexts: [4096, 2048, 1024],
    licence: LLAMA,
    maxTools: 5,
    sampling: LLAMA_SAMPLING,
  }),
  webllm({
    name: 'gemma-2-2b-it-q4f16_1',
    library: 'cs1k',
    label: 'Gemma 2 2B',
    note: 'Writes carefully and knows more than the small ones; not made for tools.',
    family: 'gemma3',
    untaught: true,
    shape: GEMMA_2_2B,
    approxBytes: 1.49e9,
    vram: 1895.3,
    contexts: [4096, 2048, 1024],
    licence: GEMMA,
    maxTools: 5,
    overrides: { sliding_window_size: -1 },
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  webllm({
    name: 'gemma-4-E2B-it-q4f16_1',
    packaged: true,
    library: 'cs512',
    label: 'Gemma 4 E2B',
    note: 'The most able one for a phone: tools, several steps, thinking. Large.',
    family: 'gemma4',
    shape: GEMMA_4_E2B,
    approxBytes: 2.8e9,
    vram: 3387.37,
    contexts: [4096, 2048, 1024],
    licence: APACHE,
    maxTools: 10,
    thinking: true,
    overrides: { sliding_window_size: -1 },
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  webllm({
    name: 'gemma-4-E2B-it-q4f32_1',
    packaged: true,
    library: 'cs512',
    label: 'Gemma 4 E2B, 32 bits',
    note: 'The same for graphics chips that do not calculate in 16 bits. Large.',
    family: 'gemma4',
    shape: GEMMA_4_E2B,
    approxBytes: 3.1e9,
    vram: 3862.72,
    contexts: [4096, 2048, 1024],
    licence: APACHE,
    maxTools: 10,
    thinking: true,
    overrides: { sliding_window_size: -1 },
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  wllama({
    repository: 'unsloth/gemma-3-1b-it-GGUF',
    file: 'gemma-3-1b-it-Q4_0.gguf',
    quantisation: 'Q4_0',
    label: 'Gemma 3 1B',
    note: 'Writes well in many languages; simple tool calls. Slow on the processor.',
    family: 'gemma3',
    untaught: true,
    shape: GEMMA_3_1B,
    approxBytes: 720e6,
    beside: GEMMA_BESIDE,
    licence: GEMMA,
    maxTools: 5,
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  wllama({
    repository: 'unsloth/functiongemma-270m-it-GGUF',
    file: 'functiongemma-270m-it-Q8_0.gguf',
    quantisation: 'Q8_0',
    label: 'FunctionGemma 270M',
    note: 'Made for single tool calls, and for little else.',
    family: 'functiongemma',
    shape: GEMMA_3_270M,
    approxBytes: 292e6,
    beside: GEMMA_BESIDE,
    licence: GEMMA,
    maxTools: 5,
  }),
  webllm({
    name: 'SmolLM2-360M-Instruct-q4f16_1',
    library: 'cs1k',
    label: 'SmolLM2 360M',
    note: 'Very small: short answers in English, no more than a tool or two.',
    family: 'chatml',
    shape: SMOLLM2_360M,
    approxBytes: 207e6,
    vram: 376.06,
    contexts: [4096, 2048, 1024],
    licence: APACHE,
    maxTools: 3,
    sampling: SMOLLM_SAMPLING,
  }),
  wllama({
    repository: 'unsloth/gemma-3-270m-it-GGUF',
    file: 'gemma-3-270m-it-Q4_0.gguf',
    quantisation: 'Q4_0',
    label: 'Gemma 3 270M',
    note: 'Short answers in many languages; not trained for tools.',
    family: 'gemma3',
    untaught: true,
    shape: GEMMA_3_270M,
    approxBytes: 242e6,
    beside: GEMMA_BESIDE,
    licence: GEMMA,
    maxTools: 3,
    sampling: GEMMA_SAMPLING,
    toolSampling: GEMMA_TOOL_SAMPLING,
  }),
  wllama({
    repository: 'unsloth/SmolLM2-135M-Instruct-GGUF',
    file: 'SmolLM2-135M-Instruct-Q8_0.gguf',
    quantisation: 'Q8_0',
    label: 'SmolLM2 135M',
    note: 'The smallest: quick, simple answers in English.',
    family: 'chatml',
    shape: SMOLLM2_135M,
    approxBytes: 145e6,
    beside: 180e6,
    licence: APACHE,
    maxTools: 3,
    sampling: SMOLLM_SAMPLING,
  }),
];
