"""Gemma 3 270M read from a GGUF file, with a LoRA on all seven matrices of every layer.

The frozen weights are bf16 (bf16 products are two to three times as fast as f32 where the CPU has
them); the residual stream, the norms and softmax are f32. One head of keys and values is shared by
four of queries, so attention is plain products of matrices.
"""

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from gguf.quants import dequantize

HIDDEN, LAYERS, HEADS, HEAD_DIM, FFN, WINDOW, EPS = 640, 18, 4, 256, 2048, 512, 1e-6
QUERIES = HEADS * HEAD_DIM
# Name in the GGUF, inputs, outputs.
MATRICES = {
    "attn_q": (HIDDEN, QUERIES),
    "attn_k": (HIDDEN, HEAD_DIM),
    "attn_v": (HIDDEN, HEAD_DIM),
    "attn_output": (QUERIES, HIDDEN),
    "ffn_gate": (HIDDEN, FFN),
    "ffn_up": (HIDDEN, FFN),
    "ffn_down": (FFN, HIDDEN),
}


def read_gguf(path):
    return {
        tensor.name: torch.from_numpy(
            np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type))
        ).float()
        for tensor in gguf.GGUFReader(path).tensors
    }


def rope_tables(positions, base):
    steps = base ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
    angles = torch.arange(positions).float()[:, None] * steps
    return angles.cos(), angles.sin()


def rms(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, EPS)


class Gemma(torch.nn.Module):
    """`lora` holds the trained parameters: A as (rank, inputs), B as (outputs, rank)."""

    def __init__(self, path, rank=16, alpha=32, dtype=torch.bfloat16, positions=2048):
        super().__init__()
        weights = read_gguf(path)
        self.dtype, self.rank, self.scale = dtype, rank, alpha / rank
        self.embedding = weights["token_embd.weight"].to(dtype)
        self.norm = weights["output_norm.weight"]
        self.layers = [self._layer(weights, i) for i in range(LAYERS)]
        self.rope = {False: rope_tables(positions, 1e4), True: rope_tables(positions, 1e6)}
        self.lora = torch.nn.ParameterDict()
        for i in range(LAYERS):
            for name, (inputs, outputs) in MATRICES.items():
                a = torch.randn(rank, inputs) / inputs**0.5
                self.lora[f"{i}_{name}_a"] = torch.nn.Parameter(a)
                self.lora[f"{i}_{name}_b"] = torch.nn.Parameter(torch.zeros(outputs, rank))

    def _layer(self, weights, number):
        start, end = f"blk.{number}.", ".weight"
        layer = {
            name.removeprefix(start).removesuffix(end): weight
            for name, weight in weights.items()
            if name.startswith(start)
        }
        layer["qkv"] = torch.cat([layer.pop(f"attn_{part}") for part in "qkv"])
        layer["gate_up"] = torch.cat([layer.pop("ffn_gate"), layer.pop("ffn_up")])
        for name in ("qkv", "gate_up", "attn_output", "ffn_down"):
            layer[name] = layer[name].to(self.dtype)
        return layer

    def _linear(self, number, x, weight, *names):
        """x · weight, with the LoRA of the matrices that are stacked in it."""
        a = torch.cat([self.lora[f"{number}_{name}_a"] for name in names]).to(self.dtype)
        inner = (F.linear(x, a) * self.scale).split(self.rank, -1)
        added = [
            F.linear(part, self.lora[f"{number}_{name}_b"].to(self.dtype))
            for name, part in zip(names, inner, strict=True)
        ]
        return F.linear(x, weight) + torch.cat(added, -1)

    def _rotate(self, x, positions, is_global):
        cos, sin = (table[positions][:, None] for table in self.rope[is_global])
        low, high = x.chunk(2, -1)
        return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)

    def forward(self, ids, positions, masks):
        """Hidden states after the last norm. `masks`: (global, local), added to the scores."""
        x = self.embedding[ids].float() * HIDDEN**0.5
        for i, layer in enumerate(self.layers):
            is_global = i % 6 == 5
            mask = masks[0] if is_global else masks[1]
            normed = rms(x, layer["attn_norm"]).to(self.dtype)
            qkv = self._linear(i, normed, layer["qkv"], "attn_q", "attn_k", "attn_v").float()
            q, k, v = qkv.split([QUERIES, HEAD_DIM, HEAD_DIM], -1)
            q = rms(q.view(-1, HEADS, HEAD_DIM), layer["attn_q_norm"])
            k = rms(k.view(-1, 1, HEAD_DIM), layer["attn_k_norm"])
            q = (self._rotate(q, positions, is_global) * HEAD_DIM**-0.5).to(self.dtype)
            k = self._rotate(k, positions, is_global)[:, 0].to(self.dtype)
            mixed = self._attend(q, k, v.to(self.dtype), mask)
            out = self._linear(i, mixed, layer["attn_output"], "attn_output")
            x = x + rms(out.float(), layer["post_attention_norm"])
            normed = rms(x, layer["ffn_norm"]).to(self.dtype)
            inner = self._linear(i, normed, layer["gate_up"], "ffn_gate", "ffn_up")
            gate, up = inner.chunk(2, -1)
            out = self._linear(
                i, F.gelu(gate, approximate="tanh") * up, layer["ffn_down"], "ffn_down"
            )
            x = x + rms(out.float(), layer["post_ffw_norm"])
        return rms(x, self.norm)

    def _attend(self, q, k, v, mask):
        n = len(k)
        rows = q.transpose(0, 1).reshape(HEADS * n, HEAD_DIM)
        scores = (rows @ k.T).float().view(HEADS, n, n)
        weights = torch.softmax(scores + mask, -1).to(self.dtype).view(HEADS * n, n)
        return (weights @ v).view(HEADS, n, HEAD_DIM).transpose(0, 1).reshape(n, QUERIES)


def flatten(prefix, branches):
    """A tree as one sequence: ids, positions, masks, and (index, next token) of each target.

    The branches see the prefix and themselves, not one another, and their positions go on from the
    prefix: each is exactly what it would be alone. `branches` are lists of (ids, targets).
    """
    ids, positions, owner, targets = list(prefix), list(range(len(prefix))), [0] * len(prefix), []
    for number, (branch, is_target) in enumerate(branches, start=1):
        start = len(ids)
        ids += branch
        positions += range(len(prefix), len(prefix) + len(branch))
        owner += [number] * len(branch)
        for i, token in enumerate(branch):
            if is_target[i]:
                targets.append((start + i - 1 if i else len(prefix) - 1, token))
    n = len(ids)
    owner, positions = torch.tensor(owner), torch.tensor(positions)
    seen = torch.ones(n, n, dtype=torch.bool).tril()
    seen &= (owner[None] == 0) | (owner[None] == owner[:, None])
    near = positions[:, None] - positions[None] < WINDOW
    zeros = torch.zeros(n, n)
    masks = zeros.masked_fill(~seen, -1e9), zeros.masked_fill(~(seen & near), -1e9)
    return torch.tensor(ids), positions, masks, targets
