"""The model in torch, for training and for the test: Gemma 3's architecture without sliding windows."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from config import Config

C = Config()
END = 106
NORMS = (
    "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm",
)  # fmt: skip


def rope_tables(length):
    angles = torch.arange(length)[:, None] * C.rope_theta ** (-torch.arange(0, C.head_dim, 2) / C.head_dim)
    angles = torch.cat([angles, angles], 1)
    return angles.cos(), angles.sin()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()

        def matrix(rows, columns):
            return torch.nn.Parameter(torch.randn(rows, columns) * columns**-0.5)

        def vector(length):
            return torch.nn.Parameter(torch.zeros(length))

        weights = {"embed_tokens": matrix(C.vocab, C.hidden), "norm": vector(C.hidden)}
        for i in range(C.layers):
            layer = f"layers.{i}."
            weights |= {layer + name: vector(C.hidden) for name in NORMS}
            weights[layer + "q_norm"] = vector(C.head_dim)
            weights[layer + "k_norm"] = vector(C.head_dim)
            weights[layer + "qkv_proj"] = matrix((C.heads + 2 * C.kv_heads) * C.head_dim, C.hidden)
            weights[layer + "o_proj"] = matrix(C.hidden, C.heads * C.head_dim)
            weights[layer + "gate_up_proj"] = matrix(2 * C.ffn, C.hidden)
            weights[layer + "down_proj"] = matrix(C.hidden, C.ffn)
        self.weights = torch.nn.ParameterDict({name.replace(".", "/"): value for name, value in weights.items()})
        self.cos, self.sin = rope_tables(C.context)

    def weight(self, name):
        return self.weights[name.replace(".", "/")]

    def normed(self, x, name):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + C.eps) * (1 + self.weight(name))

    def forward(self, ids, cache=None):
        """Hidden states; with a cache (a list) the ids go on where it ends."""
        batch, length = ids.shape
        before = cache[0][0].shape[2] if cache else 0
        cos, sin = self.cos[before : before + length], self.sin[before : before + length]

        def rope(x):
            a, b = x.chunk(2, -1)
            return x * cos + torch.cat([-b, a], -1) * sin

        x = F.embedding(ids, self.weight("embed_tokens")) * math.sqrt(C.hidden)
        for i in range(C.layers):
            layer = f"layers.{i}."
            qkv = F.linear(self.normed(x, layer + "input_layernorm"), self.weight(layer + "qkv_proj"))
            qkv = qkv.view(batch, length, -1, C.head_dim).transpose(1, 2)
            q, k, v = qkv.split([C.heads, C.kv_heads, C.kv_heads], 1)
            q, k = rope(self.normed(q, layer + "q_norm")), rope(self.normed(k, layer + "k_norm"))
            if cache is not None:
                if len(cache) > i:
                    k, v = torch.cat([cache[i][0], k], 2), torch.cat([cache[i][1], v], 2)
                    cache[i] = (k, v)
                else:
                    cache.append((k, v))
            group = C.heads // C.kv_heads
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            mask = None
            if before:
                mask = torch.ones(length, before + length, dtype=torch.bool).tril(before)
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
            a = F.linear(a.transpose(1, 2).reshape(batch, length, -1), self.weight(layer + "o_proj"))
            x = x + self.normed(a, layer + "post_attention_layernorm")
            h = F.linear(self.normed(x, layer + "pre_feedforward_layernorm"), self.weight(layer + "gate_up_proj"))
            gate, up = h.chunk(2, -1)
            h = F.linear(F.gelu(gate, approximate="tanh") * up, self.weight(layer + "down_proj"))
            x = x + self.normed(h, layer + "post_feedforward_layernorm")
        return self.normed(x, "norm")

    def logits(self, hidden):
        return F.linear(hidden, self.weight("embed_tokens"))

    def save(self, path):
        """As both engines hold them: bfloat16 matrices, and norms with their one added."""
        arrays = {}
        for name, value in self.weights.items():
            value = value.detach() + (1 if value.ndim == 1 else 0)
            if value.ndim > 1:
                value = value.bfloat16().float()
            arrays[name.replace("/", ".") + ".weight"] = value.numpy()
        np.savez(path, **arrays)

    def load(self, arrays):
        with torch.no_grad():
            for name, value in self.weights.items():
                array = torch.from_numpy(np.array(arrays[name.replace("/", ".") + ".weight"]))
                value.copy_(array - (1 if value.ndim == 1 else 0))
