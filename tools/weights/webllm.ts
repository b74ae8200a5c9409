/**
 * Packs a Gemma 3 file of Q8_0 matrices for the WebGPU library (tools/gemma-webgpu): the same
 * integers and scales, laid out in tiles of 64 outputs as its kernels read them, in the shards and
 * the index that WebLLM loads. Nothing is rounded: the scales only go from 16 to 32 bits.
 */
import { createHash } from 'node:crypto';
import { open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { elements, GgufError, readHeader, readTensor, type StoredTensor } from './gguf.ts';
import { decode, fromHalf } from './quants.ts';
import { ropeTable } from './rope.ts';

/** What the library was compiled for; the same as tools/gemma-webgpu/config.py. */
const CONTEXT = 2048;
/** Rope bases of local and global layers, as powers of ten. */
const ROPE_EXPONENTS = [4, 6];
/** The embedding is cut into this many blocks of rows, so that each fits Android's GPU bindings. */
const VOCAB_BLOCKS = 2;
/** Outputs in a tile. */
const TILE = 64;
/** Inputs that share a scale. */
const GROUP = 32;
/** A shard ends before it would reach this size; a larger tensor is a shard of its own. */
const SHARD_BYTES = 32 << 20;

const Q8_BLOCK_BYTES = 34;

interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: 'float32' | 'int32';
  readonly bytes: Buffer;
}

const bytesOf = (array: Float32Array) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/**
 * Rows of Q8_0 blocks as two parameters: `q`, words of four inputs each in the order [tile][word]
 * [output], the first three bytes of a word with 128 added, and `s`, scales in the order [tile]
 * [group][output].
 */
function packTiles(name: string, rows: Buffer, inputs: number): [Parameter, Parameter] {
  const groups = inputs / GROUP;
  const outputs = rows.length / (groups * Q8_BLOCK_BYTES);
  const words = new Int32Array((outputs * inputs) / 4);
  const scales = new Float32Array(outputs * groups);
  for (let output = 0; output < outputs; output++) {
    const tile = Math.floor(output / TILE);
    const column = output % TILE;
    for (let group = 0; group < groups; group++) {
      const at = (output * groups + group) * Q8_BLOCK_BYTES;
      scales[(tile * groups + group) * TILE + column] = fromHalf(rows.readUInt16LE(at));
      for (let word = 0; word < GROUP / 4; word++) {
        const value = rows.readInt32LE(at + 2 + word * 4) ^ 0x00808080;
        words[(tile * (inputs / 4) + group * (GROUP / 4) + word) * TILE + column] = value;
      }
    }
  }
  const tiles = outputs / TILE;
  const q = Buffer.from(words.buffer);
  return [
    { name: `${name}.q`, shape: [tiles, inputs / 4, TILE], dtype: 'int32', bytes: q },
    { name: `${name}.s`, shape: [tiles, groups, TILE], dtype: 'float32', bytes: bytesOf(scales) },
  ];
}

/** Collects parameters into shard files, in the format of WebLLM's tensor cache. */
class Shards {
  readonly #folder: string;
  readonly #records: object[] = [];
  #pending: Parameter[] = [];
  #pendingBytes = 0;
  #parameters = 0;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(parameter: Parameter): Promise<void> {
    this.#parameters++;
    this.#bytes += parameter.bytes.length;
    if (this.#pendingBytes + parameter.bytes.length >= SHARD_BYTES) {
      if (parameter.bytes.length * 2 >= SHARD_BYTES) return this.#write([parameter]);
      await this.#flush();
    }
    this.#pending.push(parameter);
    this.#pendingBytes += parameter.bytes.length;
  }

  async #flush(): Promise<void> {
    if (this.#pending.length > 0) await this.#write(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  async #write(parameters: readonly Parameter[]): Promise<void> {
    const dataPath = `params_shard_${this.#records.length}.bin`;
    const bytes = Buffer.concat(parameters.map((parameter) => parameter.bytes));
    await writeFile(join(this.#folder, dataPath), bytes);
    let byteOffset = 0;
    const records = parameters.map(({ name, shape, dtype, bytes: { length: nbytes } }) => {
      const record = { name, shape, dtype, format: 'raw', nbytes, byteOffset };
      byteOffset += nbytes;
      return record;
    });
    const md5sum = createHash('md5').update(bytes).digest('hex');
    this.#records.push({ dataPath, format: 'raw-shard', nbytes: bytes.length, records, md5sum });
  }

  async finish(): Promise<void> {
    await this.#flush();
    const metadata = { ParamSize: this.#parameters, ParamBytes: this.#bytes, BitsPerParam: 9 };
    const index = JSON.stringify({ metadata, records: this.#records });
    await writeFile(join(this.#folder, 'tensor-cache.json'), index);
  }
}

/** Names of a layer's vectors: the library's, the file's. */
const VECTORS = [
  ['q_norm', 'attn_q_norm'],
  ['k_norm', 'attn_k_norm'],
  ['input_layernorm', 'attn_norm'],
  ['post_attention_layernorm', 'post_attention_norm'],
  ['pre_feedforward_layernorm', 'ffn_norm'],
  ['post_feedforward_layernorm', 'post_ffw_norm'],
] as const;

/** Names of a layer's matrices: the library's, and the file's that are stacked into it. */
const MATRICES = [
  ['qkv_proj', ['attn_q', 'attn_k', 'attn_v']],
  ['o_proj', ['attn_output']],
  ['gate_up_proj', ['ffn_gate', 'ffn_up']],
  ['down_proj', ['ffn_down']],
] as const;

async function* parameters(file: FileHandle): AsyncGenerator<Parameter> {
  const { values, tensors } = await readHeader(file);
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const find = (name: string, type: StoredTensor['type']) => {
    const tensor = named.get(`${name}.weight`);
    if (!tensor || tensor.type !== type) throw new GgufError(`${name} is not there as ${type}`);
    return tensor;
  };
  const vector = async (name: string, source: string): Promise<Parameter> => {
    const tensor = find(source, 'F32');
    const bytes = bytesOf(decode(await readTensor(file, tensor), 'F32'));
    return { name: `${name}.weight`, shape: [elements(tensor)], dtype: 'float32', bytes };
  };
  const headDim = Number(values.get('gemma3.attention.key_length')?.value);
  const layers = Number(values.get('gemma3.block_count')?.value);
  if (!headDim || !layers) throw new GgufError('not a Gemma 3 model');

  yield {
    name: 'rope.weight',
    shape: [ROPE_EXPONENTS.length, CONTEXT, headDim / 2, 2],
    dtype: 'float32',
    bytes: bytesOf(ropeTable(ROPE_EXPONENTS, CONTEXT, headDim)),
  };
  const embedding = find('token_embd', 'Q8_0');
  const rows = await readTensor(file, embedding);
  for (let block = 0; block < VOCAB_BLOCKS; block++) {
    const size = rows.length / VOCAB_BLOCKS;
    const part = rows.subarray(block * size, (block + 1) * size);
    yield* packTiles(`embed_tokens.${block}`, part, embedding.dims[0] ?? 0);
  }
  for (let layer = 0; layer < layers; layer++) {
    for (const [name, sources] of MATRICES) {
      const stacked = sources.map((source) => find(`blk.${layer}.${source}`, 'Q8_0'));
      const parts = await Promise.all(stacked.map((tensor) => readTensor(file, tensor)));
      const inputs = stacked[0]?.dims[0] ?? 0;
      yield* packTiles(`layers.${layer}.${name}`, Buffer.concat(parts), inputs);
    }
    for (const [name, source] of VECTORS) {
      yield await vector(`layers.${layer}.${name}`, `blk.${layer}.${source}`);
    }
  }
  yield await vector('norm', 'output_norm');
}

/**
 * Writes params_shard_*.bin and tensor-cache.json into `folder`. `onProgress` hears a fraction from
 * 0 to 1. Throws GgufError where the file is not a Gemma 3 model of Q8_0 matrices.
 */
export async function packForWebllm(
  ggufPath: string,
  folder: string,
  onProgress: (fraction: number) => void,
): Promise<void> {
  await using file = await open(ggufPath);
  const { size } = await file.stat();
  const shards = new Shards(folder);
  let done = 0;
  for await (const parameter of parameters(file)) {
    await shards.add(parameter);
    // Scales and the rope table make the result a little larger than the source.
    onProgress(Math.min(1, (done += parameter.bytes.length) / size));
  }
  await shards.finish();
}

/**
 * Writes tokenizer.json for WebLLM: the package's, without its post-processor, since WebLLM begins a
 * prompt with `<bos>` itself (`system_prefix_token_ids`).
 */
export async function writeTokenizer(source: string, outPath: string): Promise<void> {
  const tokenizer = JSON.parse(source) as Record<string, unknown>;
  tokenizer.post_processor = null;
  await writeFile(outPath, JSON.stringify(tokenizer));
}
