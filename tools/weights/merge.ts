/**
 * Merges a LoRA adapter into a base model: every matrix becomes base + (alpha / rank) · B · A, and
 * everything is stored as Q8_0 but the vectors, which stay as they are. Engines that know no
 * adapters can then run it. Sums run in double precision in a fixed order: the same bytes anywhere.
 */
import { open, type FileHandle } from 'node:fs/promises';
import {
  encodeHeader,
  elements,
  GgufError,
  padding,
  readHeader,
  readTensor,
  tensorBytes,
  type GgufValue,
  type StoredTensor,
  type TensorInfo,
} from './gguf.ts';
import { decode, encodeQ8 } from './quants.ts';

/** `general.file_type` of a file whose matrices are mostly Q8_0. */
const MOSTLY_Q8_0 = 7;

interface LowRank {
  /** rank rows of inputs, as stored: row r is `a.subarray(r * inputs, …)`. */
  readonly a: Float32Array;
  /** outputs rows of rank. */
  readonly b: Float32Array;
  readonly rank: number;
  readonly scale: number;
}

/** Adds `scale · b · a` to a matrix of `inputs` columns, in place. */
function addLowRank(matrix: Float32Array, inputs: number, low: LowRank): void {
  const { a, b, rank, scale } = low;
  const row = new Float64Array(inputs);
  for (let at = 0, output = 0; at < matrix.length; at += inputs, output++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = b[output * rank + r]!;
      const from = r * inputs;
      for (let i = 0; i < inputs; i++) row[i]! += factor * a[from + i]!;
    }
    for (let i = 0; i < inputs; i++) matrix[at + i] = matrix[at + i]! + scale * row[i]!;
  }
}

async function readAdapter(file: FileHandle): Promise<Map<string, () => Promise<LowRank>>> {
  const { values, tensors } = await readHeader(file);
  if (values.get('adapter.type')?.value !== 'lora') throw new GgufError('not a LoRA adapter');
  const alpha = Number(values.get('adapter.lora.alpha')?.value);
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const load = async (tensor: StoredTensor) => decode(await readTensor(file, tensor), tensor.type);
  const pairs = new Map<string, () => Promise<LowRank>>();
  for (const a of tensors) {
    if (!a.name.endsWith('.lora_a')) continue;
    const target = a.name.slice(0, -'.lora_a'.length);
    const b = byName.get(`${target}.lora_b`);
    const rank = a.dims[1];
    if (!b || !rank || b.dims[0] !== rank) throw new GgufError(`${target} lacks its other half`);
    pairs.set(target, async () => ({
      a: await load(a),
      b: await load(b),
      rank,
      scale: alpha / rank,
    }));
  }
  return pairs;
}

/**
 * Writes the merged model to `outPath`. `onProgress` hears a fraction from 0 to 1. Throws GgufError
 * where a file is not what it should be or the adapter names a tensor that the base lacks.
 */
export async function mergeAdapter(
  basePath: string,
  adapterPath: string,
  outPath: string,
  onProgress: (fraction: number) => void,
): Promise<void> {
  await using base = await open(basePath);
  await using adapterFile = await open(adapterPath);
  const { values, tensors } = await readHeader(base);
  const adapter = await readAdapter(adapterFile);
  const unknown = [...adapter.keys()].find((name) => !tensors.some((t) => t.name === name));
  if (unknown) throw new GgufError(`the adapter changes ${unknown}, which the base does not have`);

  const merged = tensors.map((tensor): TensorInfo & { source: StoredTensor } => ({
    name: tensor.name,
    dims: tensor.dims,
    type: tensor.type === 'F32' ? 'F32' : 'Q8_0',
    source: tensor,
  }));
  const outValues = new Map<string, GgufValue>(values);
  outValues.set('general.file_type', { type: 'u32', value: MOSTLY_Q8_0 });

  await using out = await open(outPath, 'w');
  await out.write(encodeHeader(outValues, merged));
  const total = merged.reduce((sum, tensor) => sum + elements(tensor), 0);
  let done = 0;
  for (const tensor of merged) {
    let bytes = await readTensor(base, tensor.source);
    const low = adapter.get(tensor.name);
    if (low || tensor.type !== tensor.source.type) {
      const matrix = decode(bytes, tensor.source.type);
      const inputs = tensor.dims[0];
      if (low && inputs) addLowRank(matrix, inputs, await low());
      bytes = encodeQ8(matrix);
    }
    await out.write(bytes);
    await out.write(padding(tensorBytes(tensor)));
    onProgress((done += elements(tensor)) / total);
  }
}
