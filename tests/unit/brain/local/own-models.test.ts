import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { encodeHeader, type GgufValue } from '../../../../tools/weights/gguf.ts';
import { randomGemma3 } from '../../../models/gguf.ts';
import { startFiles, type FilesServer } from '../../../servers/files.ts';
import type { Phone } from '../../../../src/brain/local/fit.ts';
import { readGgufHeader } from '../../../../src/brain/local/gguf-header.ts';
import { inspect } from '../../../../src/brain/local/inspect.ts';
import {
  familyOf,
  ggufAddress,
  judgeGguf,
  OwnModelError,
  webllmFolders,
} from '../../../../src/brain/local/own-models.ts';
import type { CatalogueRow, Inspection, OwnSource } from '../../../../src/brain/local/types.ts';

const PHONE: Phone = {
  gpu: {
    usable: true,
    software: false,
    f16: true,
    device: 'test',
    features: new Set(['shader-f16']),
    largestBuffer: 2 ** 30,
  },
  memory: 4 * 2 ** 30,
  free: 10e9,
};
const real = fetch;
const never = new AbortController().signal;
const look = (source: OwnSource, phone = PHONE): Promise<Inspection> =>
  inspect(source, phone, never);

const text = (value: string): GgufValue => ({ type: 'string', value });
const u32 = (value: number): GgufValue => ({ type: 'u32', value });
const LLAMA: Record<string, GgufValue> = {
  'general.architecture': text('llama'),
  'general.name': text('Tiny Llama'),
  'general.license': text('apache-2.0'),
  'llama.context_length': u32(8192),
  'llama.block_count': u32(2),
  'llama.embedding_length': u32(64),
  'llama.attention.head_count': u32(4),
  'llama.attention.head_count_kv': u32(2),
  'tokenizer.ggml.tokens': { type: 'array', of: 'string', value: ['a', 'b', 'c'] },
  'tokenizer.chat_template': text('<|start_header_id|>user<|end_header_id|>'),
};

/** A file with this metadata and one tensor. */
function gguf(change: Record<string, GgufValue> = {}, weights = 4096): Buffer {
  const values = new Map(Object.entries({ ...LLAMA, ...change }));
  const header = encodeHeader(values, [{ name: 'w', dims: [weights], type: 'F32' }]);
  return Buffer.concat([header, Buffer.alloc(weights * 4)]);
}
const asFile = (bytes: Uint8Array<ArrayBuffer>, name = 'my model.gguf'): OwnSource => ({
  kind: 'file',
  file: new File([bytes], name),
});

const made = new Map<string, Uint8Array>();
let server: FilesServer;
beforeAll(async () => {
  server = await startFiles({ folders: { models: 'models' }, made });
  made.set('/made/random.gguf', randomGemma3());
  made.set('/made/llama.gguf', gguf());
});
afterAll(() => server.close());
const at = (path: string): string => new URL(path, server.url).href;

/** What was refused, as one text. */
const refusal = async (source: OwnSource, phone = PHONE): Promise<string> => {
  const found = await look(source, phone);
  expect(found.ok).toBe(false);
  return found.ok ? '' : `${found.message} ${found.advice}`;
};

describe('a GGUF file by its address', () => {
  test('becomes a row, from its first bytes alone', async () => {
    const found = await look({ kind: 'gguf', url: at('/made/random.gguf?download=true') });
    expect(found).toMatchObject({
      ok: true,
      row: {
        engine: 'wllama',
        family: 'gemma3',
        label: 'Random weights',
        base: at('/made/'),
        files: [{ path: 'random.gguf', bytes: made.get('/made/random.gguf')!.length }],
        contextTokens: 2048,
        contexts: [1024],
        quantisation: 'Q8_0',
        own: 'url',
        beside: false,
      },
      fit: { verdict: 'well' },
    });
    expect(found.ok && found.notes.join()).toMatch(/no chat template/);
  });

  test('keeps its id, so that adding it twice is adding it once', async () => {
    const source: OwnSource = { kind: 'gguf', url: at('/made/llama.gguf') };
    const [a, b] = [await look(source), await look(source)];
    expect(a.ok && b.ok && a.row.id === b.row.id).toBe(true);
    expect(a.ok && a.row.id).toMatch(/^own-Tiny-Llama-[0-9a-f]{8}\.wllama$/);
    expect(a).toMatchObject({ row: { family: 'llama3', licence: { name: 'apache-2.0' } } });
  });

  test('is read from a host that knows no ranges too, and left where its header ends', async () => {
    const bytes = Buffer.concat([gguf({}, 64 << 18), randomBytes(1024)]);
    let sent = 0;
    const plain = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      const write = (): void => {
        if (response.destroyed || sent >= bytes.length) return void response.end();
        const piece = bytes.subarray(sent, sent + (64 << 10));
        sent += piece.length;
        response.write(piece, () => setImmediate(write));
      };
      write();
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as { port: number };
    const found = await look({ kind: 'gguf', url: `http://127.0.0.1:${port}/big.gguf` });
    expect(found).toMatchObject({ ok: true, row: { files: [{ bytes: bytes.length }] } });
    expect(sent).toBeLessThan(bytes.length / 2);
    plain.closeAllConnections();
    plain.close();
  });

  test('may be longer than its header says, where the host does not tell its size', async () => {
    const header = readGgufHeader(gguf());
    const { row } = await judgeGguf(header, { kind: 'url', url: new URL(at('/made/llama.gguf')) });
    expect(row.files).toEqual([{ path: 'llama.gguf' }]);
    expect(row.approxBytes).toBe(header.bytes);
  });

  test('is refused with a sentence where the host has none, or has a page', async () => {
    expect(await refusal({ kind: 'gguf', url: at('/made/none.gguf') })).toMatch(
      /does not have the file none\.gguf\. Check the address/,
    );
    expect(
      await refusal({ kind: 'gguf', url: at('/fault/html/llama.gguf/made/llama.gguf') }),
    ).toMatch(/web page in place of the file/);
    expect(
      await refusal({ kind: 'gguf', url: at('/fault/refused/llama.gguf/made/llama.gguf') }),
    ).toMatch(/does not hand out/);
  });

  test.each([
    ['ftp://host.example/a.gguf', /over https only/],
    ['http://host.example/a.gguf', /over https only/],
    ['not an address', /not an address/],
    ['https://me:secret@host.example/a.gguf', /name or a password/],
    ['https://host.example/a.gguf?token=abc', /query/],
    ['https://host.example/a.safetensors', /not one of a GGUF file/],
  ])('is not even asked for at %s', async (url, sentence) => {
    expect(await refusal({ kind: 'gguf', url })).toMatch(sentence);
  });

  test('may be given by the page that a hub shows for it', () => {
    expect(ggufAddress('https://huggingface.co/a/b/blob/main/c.gguf?download=true').href).toBe(
      'https://huggingface.co/a/b/resolve/main/c.gguf',
    );
  });
});

describe('a GGUF file on this phone', () => {
  test('becomes a row that nothing is fetched for', async () => {
    const found = await look(asFile(Buffer.from(gguf())));
    expect(found).toMatchObject({
      ok: true,
      row: {
        base: 'own-file://this-phone/',
        files: [{ path: 'my%20model.gguf' }],
        own: 'file',
        family: 'llama3',
        // 2 × 2 layers × 2 heads × 16 numbers × 2 bytes.
        kvBytesPerToken: 256,
      },
    });
  });

  test('is known as one to the engine, whatever its name was', async () => {
    for (const name of ['a.GGUF', 'a'])
      expect(await look(asFile(Buffer.from(gguf()), name))).toMatchObject({
        row: { files: [{ path: 'a.gguf' }] },
      });
  });

  test.each<[string, Uint8Array<ArrayBuffer>, RegExp]>([
    ['of another kind', Buffer.from('PK\u0003\u0004 a zip file, and no model'), /not a GGUF file/],
    ['that is empty', Buffer.from(''), /cut off, or no model/],
    ['cut within its header', Buffer.from(gguf().subarray(0, 200)), /cut off, or no model/],
    ['cut within its weights', Buffer.from(gguf().subarray(0, -5000)), /is cut off: it has/],
    [
      'of an unknown architecture',
      Buffer.from(gguf({ 'general.architecture': text('whisper') })),
      /does not write text with the architecture "whisper"/,
    ],
    ['in parts', Buffer.from(gguf({ 'split.count': u32(4) })), /one of 4 parts/],
    [
      'without a vocabulary',
      Buffer.from(gguf({ 'tokenizer.ggml.tokens': u32(0) })),
      /vocabulary or its weights/,
    ],
  ])('is refused where it is one %s', async (_name, bytes, sentence) => {
    expect(await refusal(asFile(bytes))).toMatch(sentence);
  });

  test('is refused where it is larger than the memory or than the room', async () => {
    const source = asFile(Buffer.from(gguf()));
    expect(await refusal(source, { ...PHONE, memory: 64 << 20 })).toMatch(
      /does not fit this phone\. It needs about .* of memory/,
    );
    expect(await refusal(source, { ...PHONE, free: 1000 })).toMatch(/of storage/);
  });
});

describe('a model packed by MLC', () => {
  const source = (change: Partial<Extract<OwnSource, { kind: 'webllm' }>> = {}): OwnSource => ({
    kind: 'webllm',
    url: at('/models/tiny-gemma/webllm/'),
    library: at('/models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm'),
    ...change,
  });

  test('becomes a row with its library', async () => {
    const found = await look(source());
    expect(found).toMatchObject({
      ok: true,
      row: {
        engine: 'webllm',
        family: 'gemma3',
        label: 'webllm',
        base: at('/models/tiny-gemma/webllm/'),
        library: at('/models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm'),
        quantisation: 'q0f32',
        features: [],
        contextTokens: 2048,
      },
    });
    const { size } = readShard();
    expect(found.ok && (found.row as CatalogueRow).approxBytes).toBe(size);
  });

  test.each(['refused', 'html'])(
    'is found by its older list at a host that is %s',
    async (mode) => {
      const folder = `/${mode}`;
      for (const name of ['mlc-chat-config.json', 'tensor-cache.json'])
        made.set(
          `${folder}/${name.replace('tensor', 'ndarray')}`,
          readFileSync(`models/tiny-gemma/webllm/${name}`),
        );
      vi.stubGlobal('fetch', async (input: URL, init: RequestInit) => {
        const answer = await real(input, init);
        if (answer.status !== 404) return answer;
        return mode === 'html'
          ? new Response('<html>', { headers: { 'content-type': 'text/html' } })
          : new Response('', { status: 403 });
      });
      const found = await look(source({ url: at(`${folder}/`) }));
      vi.unstubAllGlobals();
      expect(found).toMatchObject({ ok: true, row: { files: [{ path: 'mlc-chat-config.json' }] } });
    },
  );

  test('is refused where there is none, or the library is none', async () => {
    expect(await refusal(source({ url: at('/made/') }))).toMatch(/no model packed by MLC/);
    expect(
      await refusal(source({ library: at('/models/tiny-gemma/webllm/tokenizer.json') })),
    ).toMatch(/not one of a WebAssembly file/);
    expect(await refusal(source({ library: 'http://host.example/x.wasm' }))).toMatch(/https only/);
    made.set('/odd/mlc-chat-config.json', Buffer.from('{"model_type":1}'));
    made.set(
      '/odd/tensor-cache.json',
      Buffer.from('{"records":[{"dataPath":"params_shard_0.bin","nbytes":5,"records":[]}]}'),
    );
    expect(await refusal(source({ url: at('/odd/') }))).toMatch(/not one of a model packed by MLC/);
    made.set('/odd/mlc-chat-config.json', Buffer.from('nothing'));
    expect(await refusal(source({ url: at('/odd/') }))).toMatch(/cannot be read/);
  });

  test('is looked for where a hub keeps files', () => {
    const folders = (url: string): string[] => webllmFolders(url).map(({ href }) => href);
    expect(folders('https://huggingface.co/mlc-ai/X-MLC')).toEqual([
      'https://huggingface.co/mlc-ai/X-MLC/resolve/main/',
    ]);
    expect(folders('https://huggingface.co/mlc-ai/X-MLC/tree/v2/')).toEqual([
      'https://huggingface.co/mlc-ai/X-MLC/resolve/v2/',
    ]);
    expect(folders('https://models.example/x/mlc-chat-config.json')).toEqual([
      'https://models.example/x/',
      'https://models.example/x/resolve/main/',
    ]);
  });
});

function readShard(): { size: number } {
  return { size: readFileSync('models/tiny-gemma/webllm/params_shard_0.bin').length };
}

describe('whose language a model speaks', () => {
  test.each([
    ['gemma3', '<start_of_turn>{{ role }}', 'gemma3'],
    ['gemma3', '<start_of_turn><start_function_declaration>', 'functiongemma'],
    ['gemma4', '<|turn>model', 'gemma4'],
    ['llama', '<|start_header_id|>', 'llama3'],
    ['qwen3', '<|im_start|>{% if enable_thinking %}', 'qwen3'],
    ['llama', '<|im_start|>user', 'chatml'],
    ['gemma2', null, 'gemma3'],
  ])('%s with %s is %s', (architecture, template, family) => {
    expect(familyOf(architecture, template).family).toBe(family);
  });

  test('is ChatML, with a note, where nobody knows', () => {
    const found = familyOf('phi3', '<|user|>{{ content }}<|end|>');
    expect(found).toEqual({ family: 'chatml', note: expect.stringMatching(/no family/) as string });
  });

  test('an address that is refused says so in its own error', () => {
    expect(() => ggufAddress('x')).toThrow(OwnModelError);
  });
});
