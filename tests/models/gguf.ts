/**
 * Makes small models for tests: files of Gemma 3's shape with random weights and a small vocabulary
 * that has Gemma's control tokens, every byte and common pieces of text. llama.cpp loads them as any
 * other model; what they say is noise, the same for the same shape and seed.
 */
import {
  elements,
  encodeHeader,
  padding,
  tensorBytes,
  type GgufValue,
  type TensorInfo,
} from '../../tools/weights/gguf.ts';
import { toHalf } from '../../tools/weights/quants.ts';

export interface Shape {
  /** Tokens; at least 512. */
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly seed: number;
}

/** About 2.5 MB. */
export const TINY: Shape = {
  vocabulary: 4096,
  hidden: 128,
  layers: 6,
  heads: 4,
  kvHeads: 1,
  headDim: 64,
  ffn: 512,
  seed: 1,
};

/** Kinds of tokens, as llama.cpp numbers them. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

interface Token {
  readonly text: string;
  readonly score: number;
  readonly kind: number;
}

const CONTROLS = ['<pad>', '<eos>', '<bos>', '<unk>', '<start_of_turn>', '<end_of_turn>'];
const END_OF_TURN = CONTROLS.indexOf('<end_of_turn>');
const SPACE = '\u2581';
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function vocabulary(size: number): Token[] {
  const tokens: Token[] = CONTROLS.map((text) => ({
    text,
    score: 0,
    kind: text === '<unk>' ? UNKNOWN : CONTROL,
  }));
  for (let byte = 0; byte < 256; byte++) {
    const hex = byte.toString(16).toUpperCase().padStart(2, '0');
    tokens.push({ text: `<0x${hex}>`, score: 0, kind: BYTE });
  }
  const known = new Set<string>();
  const add = (text: string, score: number) => {
    if (known.has(text) || tokens.length >= size) return;
    known.add(text);
    tokens.push({ text, score, kind: NORMAL });
  };
  for (let code = 33; code < 127; code++) add(String.fromCharCode(code), -2000 - code);
  for (const text of [SPACE, '\n', '\n\n']) add(text, -1000 - text.length);
  for (const text of ['the', 'er', 'in', 'on', 'an', '="', '")', '", ', '```']) {
    add(text, -10 - text.length);
    add(SPACE + text, -20 - text.length);
  }
  // Two, three and more letters, with and without a space before them, until the size is reached.
  for (let n = 0; tokens.length < size; n++) {
    let text = LETTERS[n % 26]!;
    for (let rest = Math.floor(n / 26); ; rest = Math.floor(rest / 26)) {
      text += LETTERS[rest % 26];
      if (rest < 26) break;
    }
    add(text, -100 - n * 0.01);
    add(SPACE + text, -100 - n * 0.01);
  }
  return tokens;
}

function metadata(shape: Shape): Map<string, GgufValue> {
  const tokens = vocabulary(shape.vocabulary);
  const u32 = (value: number): GgufValue => ({ type: 'u32', value });
  const f32 = (value: number): GgufValue => ({ type: 'f32', value });
  const bool = (value: boolean): GgufValue => ({ type: 'bool', value });
  const string = (value: string): GgufValue => ({ type: 'string', value });
  return new Map<string, GgufValue>([
    ['general.architecture', string('gemma3')],
    ['general.name', string('Random weights')],
    ['general.file_type', u32(7)],
    ['general.quantization_version', u32(2)],
    ['gemma3.context_length', u32(32768)],
    ['gemma3.embedding_length', u32(shape.hidden)],
    ['gemma3.block_count', u32(shape.layers)],
    ['gemma3.feed_forward_length', u32(shape.ffn)],
    ['gemma3.attention.head_count', u32(shape.heads)],
    ['gemma3.attention.head_count_kv', u32(shape.kvHeads)],
    ['gemma3.attention.key_length', u32(shape.headDim)],
    ['gemma3.attention.value_length', u32(shape.headDim)],
    ['gemma3.attention.layer_norm_rms_epsilon', f32(1e-6)],
    ['gemma3.attention.sliding_window', u32(512)],
    ['gemma3.rope.freq_base', f32(1e6)],
    ['tokenizer.ggml.model', string('llama')],
    ['tokenizer.ggml.pre', string('default')],
    ['tokenizer.ggml.tokens', { type: 'array', of: 'string', value: tokens.map((t) => t.text) }],
    ['tokenizer.ggml.scores', { type: 'array', of: 'f32', value: tokens.map((t) => t.score) }],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: tokens.map((t) => t.kind) }],
    ['tokenizer.ggml.bos_token_id', u32(CONTROLS.indexOf('<bos>'))],
    ['tokenizer.ggml.eos_token_id', u32(CONTROLS.indexOf('<eos>'))],
    ['tokenizer.ggml.unknown_token_id', u32(CONTROLS.indexOf('<unk>'))],
    ['tokenizer.ggml.padding_token_id', u32(CONTROLS.indexOf('<pad>'))],
    ['tokenizer.ggml.eot_token_id', u32(END_OF_TURN)],
    ['tokenizer.ggml.add_bos_token', bool(true)],
    ['tokenizer.ggml.add_eos_token', bool(false)],
    ['tokenizer.ggml.add_space_prefix', bool(false)],
  ]);
}

function tensorsOf(shape: Shape): TensorInfo[] {
  const { hidden, headDim, ffn } = shape;
  const vector = (name: string, length: number): TensorInfo => ({
    name: `${name}.weight`,
    dims: [length],
    type: 'F32',
  });
  const matrix = (name: string, inputs: number, outputs: number): TensorInfo => ({
    name: `${name}.weight`,
    dims: [inputs, outputs],
    type: 'Q8_0',
  });
  const layers = Array.from({ length: shape.layers }, (_, layer) => {
    const at = `blk.${layer}`;
    return [
      vector(`${at}.attn_norm`, hidden),
      matrix(`${at}.attn_q`, hidden, shape.heads * headDim),
      matrix(`${at}.attn_k`, hidden, shape.kvHeads * headDim),
      matrix(`${at}.attn_v`, hidden, shape.kvHeads * headDim),
      matrix(`${at}.attn_output`, shape.heads * headDim, hidden),
      vector(`${at}.attn_q_norm`, headDim),
      vector(`${at}.attn_k_norm`, headDim),
      vector(`${at}.post_attention_norm`, hidden),
      vector(`${at}.ffn_norm`, hidden),
      matrix(`${at}.ffn_gate`, hidden, ffn),
      matrix(`${at}.ffn_up`, hidden, ffn),
      matrix(`${at}.ffn_down`, ffn, hidden),
      vector(`${at}.post_ffw_norm`, hidden),
    ];
  });
  return [
    matrix('token_embd', hidden, shape.vocabulary),
    vector('output_norm', hidden),
    ...layers.flat(),
  ];
}

/** 32 random bits at a time (xorshift; Marsaglia 2003). */
function randomWords(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  };
}

function fill(tensor: TensorInfo, random: () => number): Buffer {
  const bytes = Buffer.alloc(tensorBytes(tensor));
  if (tensor.type === 'F32') {
    for (let i = 0; i < elements(tensor); i++) bytes.writeFloatLE(1, i * 4);
    return bytes;
  }
  // Uniform bytes have a deviation of 74 steps; keep the output about as large as the input.
  const scale = toHalf(1 / Math.sqrt(tensor.dims[0]!) / 74);
  for (let at = 0; at < bytes.length; at += 34) {
    bytes.writeUInt16LE(scale, at);
    for (let i = 2; i < 34; i += 4) bytes.writeInt32LE(random(), at + i);
  }
  return bytes;
}

/** The bytes of a GGUF file of this shape. */
export function randomGemma3(shape: Shape = TINY): Buffer {
  const tensors = tensorsOf(shape);
  const random = randomWords(shape.seed);
  const parts: Buffer[] = [encodeHeader(metadata(shape), tensors)];
  for (const tensor of tensors) {
    const bytes = fill(tensor, random);
    parts.push(bytes, padding(bytes.length));
  }
  return Buffer.concat(parts);
}
