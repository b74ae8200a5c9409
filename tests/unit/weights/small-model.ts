/** A small model of our adapter's kind, with the packages that it is fetched from. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BasePin, PackagePart } from '../../../tools/weights/base.ts';
import {
  encodeHeader,
  padding,
  type GgufValue,
  type TensorInfo,
} from '../../../tools/weights/gguf.ts';
import type { Recipe } from '../../../tools/weights/prepare.ts';
import { toHalf } from '../../../tools/weights/quants.ts';
import type { ServedRow } from '../../../tools/weights/rows.ts';
import { randomGemma3, TINY } from '../../models/gguf.ts';

export const SHAPE = { ...TINY, layers: 2 };
export const ALPHA = 8;
export const RANK = 4;

const run = promisify(execFile);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A matrix of an adapter: `rows` of `columns`, each entry by a rule. */
function half(rows: number, columns: number, entry: (row: number, column: number) => number) {
  const bytes = Buffer.alloc(rows * columns * 2);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      bytes.writeUInt16LE(toHalf(entry(row, column)), (row * columns + column) * 2);
  return bytes;
}

export const entryA = (row: number, column: number) => ((row + 2 * column) % 7) / 64;
export const entryB = (row: number, column: number) => ((3 * row + column) % 5) / 32;

/** An adapter for one matrix of a model. */
export function adapterFor(target: string, inputs: number, outputs: number): Buffer {
  const tensors: TensorInfo[] = [
    { name: `${target}.lora_a`, dims: [inputs, RANK], type: 'F16' },
    { name: `${target}.lora_b`, dims: [RANK, outputs], type: 'F16' },
  ];
  const values = new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'gemma3' }],
    ['adapter.type', { type: 'string', value: 'lora' }],
    ['adapter.lora.alpha', { type: 'f32', value: ALPHA }],
  ]);
  const a = half(RANK, inputs, entryA);
  const b = half(outputs, RANK, entryB);
  return Buffer.concat([encodeHeader(values, tensors), a, padding(a.length), b, padding(b.length)]);
}

/** Writes a wheel that holds `bytes`, and gives its pin. */
async function writeWheel(folder: string, number: number, bytes: Buffer): Promise<PackagePart> {
  const name = `small-model-part${number}`;
  const module = name.replaceAll('-', '_');
  const wheel = join(folder, `${module}-1.0.0-py3-none-any.whl`);
  const info = `${module}-1.0.0.dist-info`;
  const root = join(folder, `${name}.contents`);
  await mkdir(join(root, module), { recursive: true });
  await mkdir(join(root, info), { recursive: true });
  await writeFile(join(root, module, 'part.bin'), bytes);
  await writeFile(
    join(root, info, 'METADATA'),
    `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0.0\n`,
  );
  await writeFile(
    join(root, info, 'WHEEL'),
    'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  await writeFile(join(root, info, 'RECORD'), '');
  await run('python3', ['-m', 'zipfile', '-c', wheel, module, info], { cwd: root });
  const whole = await readFile(wheel);
  return {
    name,
    version: '1.0.0',
    sha256: hash(whole),
    bytes: whole.length,
    inside: `${module}/part.bin`,
  };
}

/** Writes the wheels of a small base model into `packages`, and gives the base's pin. */
export async function writePackages(packages: string): Promise<BasePin> {
  await mkdir(packages, { recursive: true });
  const base = randomGemma3(SHAPE);
  const middle = Math.floor(base.length / 2);
  return {
    bytes: base.length,
    sha256: hash(base),
    parts: [
      await writeWheel(packages, 1, base.subarray(0, middle)),
      await writeWheel(packages, 2, base.subarray(middle)),
    ],
  };
}

const unpinned = (path: string) => ({ path, bytes: 0, sha256: '' });

function row(engine: ServedRow['engine'], folder: string, paths: readonly string[]): ServedRow {
  return {
    id: `small.${engine}`,
    label: 'Small',
    engine,
    family: 'gemma3',
    note: 'for tests',
    folder,
    files: paths.map(unpinned),
    licence: { name: 'none', url: 'https://example.com/' },
    contextTokens: 2048,
    maxTools: 5,
    memory: 1e8,
  };
}

/** Makes a `models/` folder with the small model's adapter in it, and gives its recipe. */
export async function writeModels(models: string, base: BasePin): Promise<Recipe> {
  const folder = join(models, 'small');
  const webllm = join(folder, 'webllm');
  await mkdir(webllm, { recursive: true });
  const target = 'blk.0.attn_q.weight';
  await writeFile(
    join(folder, 'adapter.gguf'),
    adapterFor(target, SHAPE.hidden, SHAPE.heads * SHAPE.headDim),
  );
  await writeFile(join(webllm, 'library.wasm'), 'a library');
  const tokenizer = join(models, 'tokenizer.json');
  await writeFile(tokenizer, JSON.stringify({ model: {}, post_processor: { type: 'adds <bos>' } }));
  const rows = [
    row('webllm', 'small/webllm/', [
      'library.wasm',
      'tokenizer.json',
      'tensor-cache.json',
      'params_shard_0.bin',
    ]),
    row('wllama', 'small/gguf/', ['small.gguf']),
  ];
  await writeFile(join(folder, 'rows.json'), JSON.stringify(rows));
  return { folder: 'small', base, tokenizer };
}
