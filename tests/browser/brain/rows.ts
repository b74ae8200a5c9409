/** Catalogue rows of the test models, and what the tests do with engines over and over. */
import type {
  CatalogueRow,
  EngineEvent,
  GenerateRequest,
  LocalEngine,
} from '../../../src/brain/local/types.ts';

/** Bytes and SHA-256 of the file at an address. */
async function measure(url: string): Promise<{ bytes: number; sha256: string }> {
  const data = await (await fetch(url)).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return {
    bytes: data.byteLength,
    sha256: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  };
}

async function row(
  base: string,
  paths: readonly string[],
  rest: Pick<CatalogueRow, 'id' | 'engine'>,
): Promise<CatalogueRow> {
  const files = await Promise.all(
    paths.map(async (path) => ({ path, ...(await measure(new URL(path, base).href)) })),
  );
  return {
    ...rest,
    label: rest.id,
    family: 'gemma3',
    note: 'for tests',
    files,
    base,
    licence: { name: 'test', url: 'https://example.org/' },
    contextTokens: 1024,
    maxTools: 5,
    memory: 100e6,
    beside: false,
  };
}

/** tiny-gemma on WebLLM; `server` is the file server's address. */
export const tinyGemma = (server: string): Promise<CatalogueRow> =>
  row(
    `${server}models/tiny-gemma/webllm/`,
    [
      'mlc-chat-config.json',
      'tiny-gemma3-q0f32-webgpu.wasm',
      'tokenizer.json',
      'tensor-cache.json',
      'params_shard_0.bin',
    ],
    { id: 'tiny-gemma.webllm', engine: 'webllm' },
  );

/** The same weights on wllama. */
export const tinyGguf = (server: string): Promise<CatalogueRow> =>
  row(`${server}models/tiny-gemma/gguf/`, ['tiny-gemma-f16.gguf'], {
    id: 'tiny-gemma.wllama',
    engine: 'wllama',
  });

/** Random weights on wllama. */
export const randomGguf = (server: string): Promise<CatalogueRow> =>
  row(`${server}made/`, ['random.gguf'], { id: 'random.wllama', engine: 'wllama' });

/** A row for the puppet worker: its id says how the worker behaves. */
export const puppetRow = (id: string): CatalogueRow => ({
  id,
  label: id,
  engine: 'wllama',
  family: 'gemma3',
  note: 'for tests',
  files: [],
  base: 'http://127.0.0.1/',
  licence: { name: 'test', url: 'https://example.org/' },
  contextTokens: 100,
  maxTools: 1,
  memory: 1,
  beside: false,
});

/** The same row, fetched with a fault in one file; see tests/servers/files.ts. */
export function faulty(good: CatalogueRow, fault: string, file: string): CatalogueRow {
  const { origin, pathname } = new URL(good.base);
  return { ...good, base: `${origin}/fault/${fault}/${file}${pathname}` };
}

/** Prompt pieces in Gemma's chat format: turns of the user, and what the model answered to each. */
export function chat(users: readonly string[], replies: readonly string[] = []): string[] {
  return users.flatMap((text, at) => {
    const before = at === 0 ? '' : '<end_of_turn>\n';
    const piece = `${before}<start_of_turn>user\n${text}<end_of_turn>\n<start_of_turn>model\n`;
    const reply = replies[at];
    return reply === undefined ? [piece] : [piece, reply];
  });
}

export const ask = (
  prompt: readonly string[],
  more: Partial<GenerateRequest> = {},
): GenerateRequest => ({
  prompt,
  grammar: null,
  stop: [],
  maxTokens: 300,
  sampling: { temperature: 0 },
  ...more,
});

export interface Reply {
  readonly text: string;
  readonly tokens: number;
  readonly done: Extract<EngineEvent, { type: 'done' }>;
  readonly prefill: readonly (number | null)[];
}

/** Reads a generation to its end. */
export async function read(
  engine: LocalEngine,
  request: GenerateRequest,
  signal: AbortSignal = new AbortController().signal,
  onText: (text: string) => void = () => undefined,
  onOdds: (odds: number) => void = () => undefined,
): Promise<Reply> {
  let text = '';
  let tokens = 0;
  let done: Reply['done'] | undefined;
  const prefill: (number | null)[] = [];
  for await (const event of engine.generate(request, signal)) {
    if (event.type === 'prefill') prefill.push(event.fraction);
    else if (event.type === 'done') done = event;
    else if (event.type === 'odds') onOdds(event.odds);
    else {
      text += event.text;
      tokens += 1;
      onText(text);
    }
  }
  if (!done) throw new Error('The generation ended without a done.');
  return { text, tokens, done, prefill };
}

export const never = (): AbortSignal => new AbortController().signal;
