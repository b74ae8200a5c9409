"""What the packed weights say by torch, in f32: the reference that library.mjs compares with.

python reference.py MODEL_FOLDER > reference.json: continues each prompt of prompts.json greedily.
MODEL_FOLDER is models/gemma-tools/webllm.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

HIDDEN, LAYERS, HEADS, HEAD_DIM, WINDOW, EPS = 640, 18, 4, 256, 512, 1e-6
BOS = 2
TOKENS = 12
MATRICES = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")
VECTORS = (
    "q_norm",
    "k_norm",
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
)


class Weights:
    """The parameters of a folder with tensor-cache.json and its shards."""

    def __init__(self, folder):
        self.arrays = {}
        for shard in json.loads((folder / "tensor-cache.json").read_text())["records"]:
            raw = np.fromfile(folder / shard["dataPath"], np.uint8)
            for record in shard["records"]:
                end = record["byteOffset"] + record["nbytes"]
                array = raw[record["byteOffset"] : end].view(record["dtype"])
                self.arrays[record["name"]] = array.reshape(record["shape"])

    def vector(self, name):
        return torch.from_numpy(self.arrays[name + ".weight"].copy())

    def matrix(self, name):
        """Takes the tiles of 64 outputs apart (layer_kernels.py says how they are laid out)."""
        words, scales = self.arrays[name + ".q"], self.arrays[name + ".s"]
        tiles, per_row, _ = words.shape
        q = np.ascontiguousarray(words).view(np.int8).reshape(tiles, per_row, 64, 4)
        q = q.transpose(0, 2, 1, 3).reshape(tiles * 64, per_row, 4).copy()
        q[:, :, :3] ^= -128  # The first three bytes of a word are stored with 128 added.
        groups = q.reshape(tiles * 64, per_row // 8, 32)
        scales = scales.transpose(0, 2, 1).reshape(tiles * 64, per_row // 8, 1)
        return torch.from_numpy((groups * scales).reshape(tiles * 64, per_row * 4))


def rms(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, EPS)


def rotate(x, positions, base):
    step = base ** (-torch.arange(0, HEAD_DIM, 2).double() / HEAD_DIM)
    angle = positions.double()[:, None] * step
    cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
    low, high = x.chunk(2, -1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


class Gemma:
    """The network with a cache of keys and values, for one sequence."""

    def __init__(self, weights):
        self.embedding = torch.cat([weights.matrix(f"embed_tokens.{i}") for i in range(2)])
        self.norm = weights.vector("norm")
        self.layers = []
        for i in range(LAYERS):
            layer = {name: weights.matrix(f"layers.{i}.{name}") for name in MATRICES}
            layer |= {name: weights.vector(f"layers.{i}.{name}") for name in VECTORS}
            self.layers.append(layer)
        self.cache = [None] * LAYERS

    def step(self, ids, start):
        """Logits after `ids`, which stand from position `start` on."""
        x = self.embedding[torch.tensor(ids)] * HIDDEN**0.5
        positions = torch.arange(start, start + len(ids))
        for i, layer in enumerate(self.layers):
            is_global = i % 6 == 5
            base = 1e6 if is_global else 1e4
            qkv = F.linear(rms(x, layer["input_layernorm"]), layer["qkv_proj"])
            q, k, v = qkv.split([HEADS * HEAD_DIM, HEAD_DIM, HEAD_DIM], -1)
            q = rotate(rms(q.view(-1, HEADS, HEAD_DIM), layer["q_norm"]), positions, base)
            k = rotate(rms(k.view(-1, 1, HEAD_DIM), layer["k_norm"]), positions, base)[:, 0]
            if start:
                old_k, old_v = self.cache[i]
                k, v = torch.cat([old_k, k]), torch.cat([old_v, v])
            self.cache[i] = (k, v)
            distance = positions[:, None] - torch.arange(len(k))[None]
            seen = (distance >= 0) & (is_global | (distance < WINDOW))
            scores = torch.einsum("qhd,kd->hqk", q * HEAD_DIM**-0.5, k).masked_fill(~seen, -1e9)
            mixed = torch.einsum("hqk,kd->qhd", scores.softmax(-1), v)
            out = F.linear(mixed.reshape(-1, HEADS * HEAD_DIM), layer["o_proj"])
            x = x + rms(out, layer["post_attention_layernorm"])
            inner = F.linear(rms(x, layer["pre_feedforward_layernorm"]), layer["gate_up_proj"])
            gate, up = inner.chunk(2, -1)
            out = F.linear(F.gelu(gate, approximate="tanh") * up, layer["down_proj"])
            x = x + rms(out, layer["post_feedforward_layernorm"])
        return F.linear(rms(x[-1:], self.norm), self.embedding)[0]


def continue_greedily(model, ids):
    """The next tokens, each the likeliest, and the logarithms of their probabilities."""
    tokens, logprobs = [], []
    logits = model.step(ids, 0)
    while True:
        token = int(logits.argmax())
        tokens.append(token)
        logprobs.append(round(float(logits[token] - logits.logsumexp(0)), 6))
        if len(tokens) == TOKENS:
            return tokens, logprobs
        logits = model.step([token], len(ids) + len(tokens) - 1)


@torch.no_grad()
def main(folder):
    torch.set_num_threads(1)
    folder = Path(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = Gemma(Weights(folder))
    prompts = json.loads((Path(__file__).parent / "prompts.json").read_text())
    cases = []
    for prompt in prompts:
        ids = [BOS] + tokenizer.encode(prompt, add_special_tokens=False).ids
        tokens, logprobs = continue_greedily(model, ids)
        text = tokenizer.decode(tokens, skip_special_tokens=False)
        cases.append({"promptTokens": len(ids), "text": text, "logprobs": logprobs})
    json.dump(cases, sys.stdout, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
