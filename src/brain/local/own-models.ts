/**
 * Models that a person adds: what the parts of a stranger's file or folder amount to as a row, or why
 * it cannot run. Pure; inspect.ts fetches what is judged here.
 */
import { isRecord } from './catalogue.ts';
import { kvBytesPerToken } from './catalogue-rows.ts';
import { inWords } from './download-faults.ts';
import type { GgufHeader } from './gguf-header.ts';
import { OWN } from './own-list.ts';
import { CONFIG, PACKAGE } from './resolve.ts';
import type { CatalogueRow, Family } from './types.ts';

/** A model that cannot be added, in sentences for the person. */
export class OwnModelError extends Error {
  override readonly name = 'OwnModelError';
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

export interface Judged {
  readonly row: CatalogueRow;
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly notes: readonly string[];
}

const OTHER = 'Choose another model, for example one of the list.';

/** Architectures that llama.cpp, as wllama 3.13.0 has it, writes text with: `general.architecture`. */
const ARCHITECTURES: ReadonlySet<string> = new Set(
  (
    'llama llama4 deci falcon grok gpt2 gptneox mpt baichuan starcoder starcoder2 refact bloom ' +
    'stablelm qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 ' +
    'qwen35moe phi2 phi3 phimoe plamo plamo2 plamo3 codeshell orion internlm2 minicpm minicpm3 ' +
    'gemma gemma2 gemma3 gemma3n gemma4 mamba mamba2 jamba falcon-h1 xverse command-r cohere2 dbrx ' +
    'olmo olmo2 olmoe openelm arctic deepseek deepseek2 chatglm glm4 glm4moe bitnet jais nemotron ' +
    'nemotron_h exaone exaone4 rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid ' +
    'chameleon plm bailingmoe bailingmoe2 dots1 arcee ernie4_5 ernie4_5-moe hunyuan-moe ' +
    'hunyuan-dense smollm3 gpt-oss lfm2 lfm2moe smallthinker seed_oss grovemoe apertus mistral3'
  ).split(' '),
);

/** Whose language a template speaks, by the control tokens in it; the first that fits. */
const MARKERS: readonly (readonly [RegExp, Family])[] = [
  [/<start_function_declaration>/, 'functiongemma'],
  [/<\|turn>|<\|tool_call>/, 'gemma4'],
  [/<start_of_turn>/, 'gemma3'],
  [/<\|start_header_id\|>/, 'llama3'],
  [/<\|im_start\|>[\s\S]*enable_thinking|enable_thinking[\s\S]*<\|im_start\|>/, 'qwen3'],
  [/<\|im_start\|>/, 'chatml'],
];

/** The family of a model; a note where it is a guess. */
export function familyOf(
  architecture: string,
  template: string | null,
): { readonly family: Family; readonly note?: string } {
  const found = template === null ? undefined : MARKERS.find(([marker]) => marker.test(template));
  if (found) return { family: found[1] };
  if (template === null && /^gemma[23]?$/.test(architecture))
    return {
      family: 'gemma3',
      note: 'It has no chat template, so it may be a base model that only goes on writing. It is spoken to as Gemma.',
    };
  return {
    family: 'chatml',
    note: `Its chat template is ${template === null ? 'missing' : 'of no family that Deft knows'}. It is spoken to in ChatML, which it may understand badly.`,
  };
}

/** What is known of a family: these think, and of these the weights know nothing of this app. */
function waysOf(family: Family): Partial<Pick<CatalogueRow, 'thinking' | 'untaught'>> {
  if (family === 'qwen3' || family === 'gemma4') return { thinking: true };
  return family === 'gemma3' ? { untaught: true } : {};
}

/** Whether an address may be fetched from: https, or this device. Throws an OwnModelError where not. */
export function checkAddress(text: string): URL {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed))
    throw new OwnModelError(
      'This is not an address.',
      'Copy the whole address, from https:// to its end.',
    );
  const url = new URL(trimmed);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local))
    throw new OwnModelError(
      'Models are fetched over https only, or from this device.',
      'Look for an address that begins with https://.',
    );
  if (url.username || url.password)
    throw new OwnModelError(
      'This address holds a name or a password.',
      'Choose a model that needs no sign-in: the address is kept as it is.',
    );
  url.hash = '';
  return url;
}

const HUB = /(^|\.)huggingface\.co$/;

/** The address of a GGUF file, made plain: a page of a model hub becomes the file behind it. */
export function ggufAddress(text: string): URL {
  const url = checkAddress(text);
  if (HUB.test(url.hostname)) url.pathname = url.pathname.replace('/blob/', '/resolve/');
  url.searchParams.delete('download');
  if (url.search)
    throw new OwnModelError(
      'This address has a query behind it, perhaps a key that goes stale.',
      'Use the plain address of the file, which ends in .gguf.',
    );
  if (!/\.gguf$/i.test(url.pathname))
    throw new OwnModelError(
      'This address is not one of a GGUF file.',
      'It has to end in .gguf. On a model hub, open the list of files and copy the address of one.',
    );
  return url;
}

/** Folders in which a WebLLM model may lie behind an address, the likeliest first. */
export function webllmFolders(text: string): readonly URL[] {
  const url = checkAddress(text);
  url.search = '';
  const plain = url.pathname
    .replace(/\/(?:mlc-chat-config\.json)?$/, '')
    .replace('/tree/', '/resolve/');
  const at = (pathname: string): URL => new URL(`${pathname}/`, url.origin);
  if (/\/resolve\/[^/]+/.test(plain)) return [at(plain)];
  const hub = at(`${plain}/resolve/main`);
  return HUB.test(url.hostname) ? [hub] : [at(plain), hub];
}

/** A short, stable id out of a name and of where it comes from. */
async function ownId(name: string, from: string, engine: CatalogueRow['engine']): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(from));
  const hex = Array.from(new Uint8Array(digest).subarray(0, 4), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
  const slug = name
    .replace(/[^\w.]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${OWN}${slug || 'model'}-${hex}.${engine}`;
}

/** The page of a repository on a hub, or the folder. */
function pageOf(url: URL): string {
  const repository = HUB.test(url.hostname) && /^\/[^/]+\/[^/]+/.exec(url.pathname)?.[0];
  return repository ? new URL(repository, url.origin).href : new URL('./', url).href;
}

const millions = (count: number): string =>
  count >= 1e9 ? `${(count / 1e9).toFixed(1)} billion` : `${Math.round(count / 1e6)} million`;

/** A prompt longer than this takes minutes on a phone's CPU. */
const CPU_CONTEXT = 2048;
const SHORT_CONTEXT = 1024;
/** Bytes of memory that llama.cpp and the page take beside, and for each token of the vocabulary. */
const CPU_BESIDE = 110e6;
const CPU_PER_VOCABULARY = 1300;

const contextsBelow = (context: number): readonly number[] =>
  [2048, SHORT_CONTEXT].filter((smaller) => smaller < context);

/** Where a GGUF file lies. `bytes` of the whole file, where the host or the phone says it. */
export type GgufPlace =
  | { readonly kind: 'url'; readonly url: URL; readonly bytes?: number }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: number };

/** The base of rows whose file came from this phone: nothing can be fetched from there. */
export const FILE_BASE = 'own-file://this-phone/';

/** A GGUF file as a row. Throws an OwnModelError where it cannot run in this app. */
export async function judgeGguf(header: GgufHeader, place: GgufPlace): Promise<Judged> {
  const { architecture, template, parts, vocabulary } = header;
  if (parts > 1)
    throw new OwnModelError(
      `This file is one of ${parts} parts of a model.`,
      'Join them with `llama-gguf-split --merge`, or choose a model that comes as one file.',
    );
  if (!ARCHITECTURES.has(architecture))
    throw new OwnModelError(
      `The engine does not write text with the architecture "${architecture.slice(0, 40)}".`,
      'Choose a language model, for example of the Gemma, Llama, Qwen or SmolLM family.',
    );
  if (vocabulary === 0 || header.parameters === 0)
    throw new OwnModelError(
      'This file holds a part of a model only: its vocabulary or its weights are missing.',
      OTHER,
    );
  const said = place.bytes ?? header.bytes;
  if (said < header.bytes)
    throw new OwnModelError(
      `This file is cut off: it has ${inWords(said)}, and its content takes ${inWords(header.bytes)}.`,
      'Get the file again from where it comes from.',
    );
  const { family, note } = familyOf(architecture, template);
  const context = Math.min(header.contextTokens ?? CPU_CONTEXT, CPU_CONTEXT);
  const { layers, kvHeads, headDim } = header;
  const perToken =
    layers && kvHeads && headDim ? kvBytesPerToken({ layers, kvHeads, headDim }, 2) : 0;
  const file =
    place.kind === 'url'
      ? place.url.pathname.split('/').at(-1)!
      : encodeURIComponent(place.name.replace(/(\.gguf)?$/i, '.gguf'));
  const name = header.name?.trim() || decodeURIComponent(file).replace(/\.gguf$/i, '');
  const [type = 'F32'] = header.types[0] ?? [];
  const from = place.kind === 'url' ? place.url.href : `${place.name} ${place.bytes}`;
  return {
    row: {
      id: await ownId(name, from, 'wllama'),
      label: name.slice(0, 60),
      engine: 'wllama',
      family,
      ...waysOf(family),
      note:
        place.kind === 'url'
          ? `Added by you, from ${place.url.host}.`
          : 'Added by you, from a file.',
      base: place.kind === 'url' ? new URL('./', place.url).href : FILE_BASE,
      // Where nobody says the size, the file may be longer than what its header announces.
      ...(place.bytes === undefined
        ? { files: [{ path: file }], approxBytes: said }
        : { files: [{ path: file, bytes: said }] }),
      licence: {
        name: header.licence?.slice(0, 40) || 'see its maker',
        url: place.kind === 'url' ? pageOf(place.url) : '',
      },
      contextTokens: context,
      contexts: contextsBelow(context),
      maxTools: 5,
      memory: said + perToken * context + CPU_BESIDE + vocabulary * CPU_PER_VOCABULARY,
      quantisation: type,
      ...(perToken > 0 ? { kvBytesPerToken: perToken } : {}),
      own: place.kind,
      beside: false,
    },
    facts: [
      { name: 'Architecture', value: architecture },
      { name: 'Size', value: inWords(said) },
      { name: 'Weights', value: `${millions(header.parameters)}, ${type}` },
      {
        name: 'Context',
        value: `${context.toLocaleString('en')} tokens here${header.contextTokens ? `, trained for ${header.contextTokens.toLocaleString('en')}` : ''}`,
      },
      { name: 'Speaks as', value: family },
    ],
    notes: note === undefined ? [] : [note],
  };
}

/** What is read of a model that MLC packed. */
export interface Mlc {
  readonly folder: URL;
  readonly library: URL;
  /** The parsed `mlc-chat-config.json`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Bytes of its shards together. */
  readonly weights: number;
  /** There is a manifest beside the configuration. */
  readonly packaged?: boolean;
}

const GPU_CONTEXT = 4096;
const GPU_BESIDE = 250e6;

const count = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;

/** A model for WebLLM as a row. Throws an OwnModelError where it is none. */
export async function judgeMlc({
  folder,
  library,
  config,
  weights,
  packaged,
}: Mlc): Promise<Judged> {
  const { model_type, quantization, conv_template } = config;
  if (typeof model_type !== 'string' || typeof quantization !== 'string')
    throw new OwnModelError(
      'The configuration there is not one of a model packed by MLC.',
      'Look for a repository whose name ends in -MLC.',
    );
  const shape = isRecord(config['model_config']) ? config['model_config'] : {};
  const layers = count(shape['num_hidden_layers']);
  const kvHeads = count(shape['num_key_value_heads']) ?? count(shape['num_attention_heads']);
  const headDim = count(shape['head_dim']);
  const f16 = quantization.includes('f16');
  const perToken =
    layers && kvHeads && headDim ? kvBytesPerToken({ layers, kvHeads, headDim }, f16 ? 2 : 4) : 0;
  const context = Math.min(count(config['context_window_size']) ?? GPU_CONTEXT, GPU_CONTEXT);
  const { family, note } = familyOf(model_type, JSON.stringify(conv_template ?? null));
  const names = folder.pathname.replace(/\/resolve\/.*$/, '').split('/');
  const name = decodeURIComponent(names.findLast((part) => part !== '') ?? folder.host);
  return {
    row: {
      id: await ownId(name, `${folder.href} ${library.href}`, 'webllm'),
      label: name.slice(0, 60),
      engine: 'webllm',
      family,
      ...waysOf(family),
      note: `Added by you, from ${folder.host}.`,
      base: folder.href,
      files: [{ path: CONFIG }, ...(packaged ? [{ path: PACKAGE }] : [])],
      library: library.href,
      approxBytes: weights,
      licence: { name: 'see its maker', url: pageOf(folder) },
      contextTokens: context,
      contexts: contextsBelow(context),
      maxTools: 5,
      memory: Math.round(weights * 1.1) + perToken * context + GPU_BESIDE,
      quantisation: quantization,
      features: f16 ? ['shader-f16'] : [],
      ...(perToken > 0 ? { kvBytesPerToken: perToken } : {}),
      own: 'url',
      beside: false,
    },
    facts: [
      { name: 'Architecture', value: model_type },
      { name: 'Size', value: inWords(weights) },
      { name: 'Packed as', value: quantization },
      { name: 'Context', value: `${context.toLocaleString('en')} tokens` },
      { name: 'Speaks as', value: family },
    ],
    notes: note === undefined ? [] : [note],
  };
}
