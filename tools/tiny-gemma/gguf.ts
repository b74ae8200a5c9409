/**
 * The packed weights (weights/pack.py) as a GGUF file for wllama: the same numbers, matrices as F16.
 *
 *   npx tsx tools/tiny-gemma/gguf.ts FOLDER OUT.gguf
 *
 * llama.cpp takes the tokenizer for one of sentencepiece's kind: it merges by score, so scores follow the
 * order of the tokens; lines that are one token each are user-defined ones, which are found first.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeHeader, padding, type GgufValue, type TensorInfo } from '../weights/gguf.ts';
import { toHalf } from '../weights/quants.ts';

interface Cache {
  readonly records: readonly [
    {
      readonly dataPath: string;
      readonly records: readonly {
        readonly name: string;
        readonly shape: readonly number[];
        readonly format: string;
        readonly nbytes: number;
        readonly byteOffset: number;
      }[];
    },
  ];
}

interface Tokenizer {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { id: number; content: string; special: boolean }[];
}

/** Rows of numbers; vectors have one row. */
interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** Kinds of tokens, as llama.cpp numbers them. */
const KIND = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;

const HEAD_DIM = 32;
const WINDOW = 4096;

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

async function readWeights(folder: string): Promise<Map<string, Matrix>> {
  const { records } = await readJson<Cache>(join(folder, 'tensor-cache.json'));
  const [shard] = records;
  const data = await readFile(join(folder, shard.dataPath));
  return new Map(
    shard.records.map(({ name, shape, format, nbytes, byteOffset }) => {
      const size = format === 'f32-to-bf16' ? 2 : 4;
      const values = new Float32Array(nbytes / size);
      const bits = new Uint32Array(values.buffer);
      for (let at = 0; at < values.length; at += 1)
        if (size === 2) bits[at] = data.readUInt16LE(byteOffset + 2 * at) << 16;
        else values[at] = data.readFloatLE(byteOffset + 4 * at);
      const columns = shape.at(-1) ?? 1;
      return [name, { rows: values.length / columns, columns, values }];
    }),
  );
}

function part({ columns, values }: Matrix, from: number, rows: number): Matrix {
  return { rows, columns, values: values.subarray(from * columns, (from + rows) * columns) };
}

function vocabularyOf({ model, added_tokens: added }: Tokenizer): Map<string, GgufValue> {
  const texts: string[] = [];
  for (const [text, id] of Object.entries(model.vocab)) texts[id] = text;
  const kinds = texts.map((text): number =>
    /^<0x[0-9A-F]{2}>$/.test(text) ? KIND.byte : KIND.normal,
  );
  for (const { id, content, special } of added) {
    texts[id] = content;
    kinds[id] = content === '<unk>' ? KIND.unknown : special ? KIND.control : KIND.userDefined;
  }
  const id = (text: string): GgufValue => ({ type: 'u32', value: texts.indexOf(text) });
  return new Map<string, GgufValue>([
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'default' }],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: texts }],
    [
      'tokenizer.ggml.scores',
      {
        type: 'array',
        of: 'f32',
        value: kinds.map((kind, at) => (kind === KIND.normal ? -at : 0)),
      },
    ],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: kinds }],
    ['tokenizer.ggml.bos_token_id', id('<bos>')],
    ['tokenizer.ggml.eos_token_id', id('<eos>')],
    ['tokenizer.ggml.unknown_token_id', id('<unk>')],
    ['tokenizer.ggml.padding_token_id', id('<pad>')],
    ['tokenizer.ggml.eot_token_id', id('<end_of_turn>')],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
  ]);
}

/** Tensors under llama.cpp's names, in its order. */
function tensorsOf(weights: ReadonlyMap<string, Matrix>): Map<string, Matrix> {
  const weight = (name: string): Matrix => {
    const found = weights.get(`${name}.weight`);
    if (!found) throw new Error(`There are no weights ${name}.`);
    return found;
  };
  const tensors = new Map([
    ['token_embd', weight('embed_tokens')],
    ['output_norm', weight('norm')],
  ]);
  for (let layer = 0; weights.has(`layers.${layer}.o_proj.weight`); layer += 1) {
    const of = (name: string): Matrix => weight(`layers.${layer}.${name}`);
    const [qkv, output, gateUp] = [of('qkv_proj'), of('o_proj'), of('gate_up_proj')];
    const queries = output.columns;
    const keys = (qkv.rows - queries) / 2;
    const half = gateUp.rows / 2;
    for (const [name, matrix] of [
      ['attn_norm', of('input_layernorm')],
      ['attn_q', part(qkv, 0, queries)],
      ['attn_k', part(qkv, queries, keys)],
      ['attn_v', part(qkv, queries + keys, keys)],
      ['attn_output', output],
      ['attn_q_norm', of('q_norm')],
      ['attn_k_norm', of('k_norm')],
      ['post_attention_norm', of('post_attention_layernorm')],
      ['ffn_norm', of('pre_feedforward_layernorm')],
      ['ffn_gate', part(gateUp, 0, half)],
      ['ffn_up', part(gateUp, half, half)],
      ['ffn_down', of('down_proj')],
      ['post_ffw_norm', of('post_feedforward_layernorm')],
    ] as const)
      tensors.set(`blk.${layer}.${name}`, matrix);
  }
  return tensors;
}

function shapeOf(tensors: ReadonlyMap<string, Matrix>): Map<string, GgufValue> {
  const size = (name: string): Matrix => tensors.get(name) as Matrix;
  const u32 = (value: number): GgufValue => ({ type: 'u32', value });
  const f32 = (value: number): GgufValue => ({ type: 'f32', value });
  return new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'gemma3' }],
    ['general.name', { type: 'string', value: 'Demo model' }],
    ['general.license', { type: 'string', value: 'mit' }],
    ['general.file_type', u32(1)],
    ['general.quantization_version', u32(2)],
    ['gemma3.context_length', u32(2048)],
    ['gemma3.embedding_length', u32(size('token_embd').columns)],
    [
      'gemma3.block_count',
      u32([...tensors.keys()].filter((name) => name.endsWith('attn_q')).length),
    ],
    ['gemma3.feed_forward_length', u32(size('blk.0.ffn_up').rows)],
    ['gemma3.attention.head_count', u32(size('blk.0.attn_q').rows / HEAD_DIM)],
    ['gemma3.attention.head_count_kv', u32(size('blk.0.attn_k').rows / HEAD_DIM)],
    ['gemma3.attention.key_length', u32(HEAD_DIM)],
    ['gemma3.attention.value_length', u32(HEAD_DIM)],
    ['gemma3.attention.layer_norm_rms_epsilon', f32(1e-6)],
    // Wider than the context, and one rope base: all layers see everything.
    ['gemma3.attention.sliding_window', u32(WINDOW)],
    ['gemma3.rope.freq_base', f32(10_000)],
  ]);
}

function encode({ values }: Matrix, type: TensorInfo['type']): Buffer {
  const bytes = Buffer.alloc(values.length * (type === 'F16' ? 2 : 4));
  values.forEach((value, at) =>
    type === 'F16' ? bytes.writeUInt16LE(toHalf(value), 2 * at) : bytes.writeFloatLE(value, 4 * at),
  );
  return bytes;
}

async function main([folder, out]: readonly string[]): Promise<void> {
  if (folder === undefined || out === undefined) throw new Error('Usage: gguf.ts FOLDER OUT.gguf');
  const tensors = tensorsOf(await readWeights(folder));
  const tokenizer = await readJson<Tokenizer>(join(folder, 'tokenizer.json'));
  const infos = [...tensors].map(([name, { rows, columns }]): TensorInfo => {
    const dims = rows > 1 ? [columns, rows] : [columns];
    return { name: `${name}.weight`, dims, type: rows > 1 ? 'F16' : 'F32' };
  });
  const values = new Map([...shapeOf(tensors), ...vocabularyOf(tokenizer)]);
  const parts = [encodeHeader(values, infos)];
  [...tensors.values()].forEach((matrix, at) => {
    const bytes = encode(matrix, infos[at]?.type ?? 'F32');
    parts.push(bytes, padding(bytes.length));
  });
  await writeFile(out, Buffer.concat(parts));
}

await main(process.argv.slice(2));
