"""Gemma 3 270M, written with relax.frontend.nn.

Sandwich RMSNorm (the GGUF's weights already have the 1 added), q/k norm, grouped query
attention, GeGLU, embeddings scaled by sqrt(hidden), output head tied to the embedding.
Two things differ per layer: the rope base (1e6 on global layers, 1e4 on local ones) and
the sliding window of the local layers. TVM's paged cache has one of each, so rope is
applied before the cache (RopeMode.NONE), with the positions that the cache reports, and
a layer's kind travels to the attention kernels as the sign of the softmax scale.
"""

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache as kvc

import layer_kernels as lk
from config import Config

PAGE = 16  # fixed by WebLLM


class Cache(kvc.PagedKVCache):
    """Paged KV cache of TVM's runtime with the kernels of layer_kernels.py.

    WebLLM runs one sequence without a sliding window, so the tree attention,
    sliding window and MLA slots stay empty.
    """

    def __init__(self, c, max_batch, max_total, prefill_chunk, page_size, sliding):
        bb = relax.BlockBuilder.current()
        target = tvm.target.Target.current()
        num = relax.prim_value

        def tirx(kernel, name):
            return relax.Tuple([tvm.ir.StringImm("tirx"), bb.add_func(kernel, name)])

        none = relax.Tuple([])
        args = [
            relax.ShapeExpr([max_batch, max_total, prefill_chunk, page_size, sliding, 1024]),
            relax.ShapeExpr([0, c.layers]),
            num(c.heads),
            num(c.kv_heads),
            num(c.head_dim),
            num(c.head_dim),
            relax.ShapeExpr([int(kvc.AttnKind.MHA)] * c.layers),
            num(False),
            num(kvc.RopeMode.NONE),
            num(1),
            num(10000),
            num(0),  # no rope extension factors
            relax.op.zeros((), "float32"),
            bb.add_func(
                kvc._kv_cache_transpose_append(c.kv_heads, c.head_dim, "float32"), "kv_append"
            ),
            bb.add_func(kvc._kv_cache_transpose_append_mla(c.head_dim, "float32"), "kv_append_mla"),
            tirx(lk.ragged_attention(c.heads, c.kv_heads, c.head_dim), "attention_ragged"),
            tirx(
                lk.prefill_attention(c.heads, c.kv_heads, c.head_dim, PAGE, c.window),
                "attention_prefill",
            ),
            tirx(
                lk.decode_attention(c.heads, c.kv_heads, c.head_dim, PAGE, c.window),
                "attention_decode",
            ),
            none,  # prefill, sliding window
            none,  # decode, sliding window
            none,  # tree mask with paged cache
            none,  # tree mask
            none,  # MLA prefill
            relax.Tuple([bb.add_func(lk.merge_state(c.heads, c.head_dim), "attention_merge")]),
            bb.add_func(lk.split_qkv(c.heads, c.kv_heads, c.head_dim), "split_qkv"),
            bb.add_func(
                kvc._copy_single_page(c.kv_heads, page_size, c.head_dim, "float32", target),
                "kv_copy_page",
            ),
            bb.add_func(
                kvc._kv_cache_debug_get_kv(c.layers, c.kv_heads, c.head_dim, "float32"), "kv_debug"
            ),
            bb.add_func(
                kvc._compact_kv_copy(c.kv_heads, c.head_dim, "float32", target), "kv_compact"
            ),
        ]
        super().__init__(
            _expr=relax.call_pure_packed(
                "vm.builtin.paged_attention_kv_cache_create", *args, ty_args=relax.AnyType()
            ),
            _name="paged_kv_cache",
        )


def run(kernel, name, args, *shapes):
    """Emit one kernel call; rows of the outputs are those of the first argument."""
    outs = [Tensor.placeholder(list(s), "float32") for s in shapes]
    return op.tensor_ir_op(kernel, name, args, outs if len(outs) > 1 else outs[0])


class Weight(nn.Module):
    def __init__(self, *shape):
        self.weight = nn.Parameter(shape, "float32")


class Matrix(nn.Module):
    """[n, k] as int8 in groups of 32, in tiles of 64 outputs (see layer_kernels.py)."""

    def __init__(self, n, k):
        self.shape = n, k
        self.q = nn.Parameter((n // 64, k // 4, 64), "int32")
        self.s = nn.Parameter((n // 64, k // 32, 64), "float32")


def mul(x, matrix, name, many, tn_many, tn_one):
    """x @ matrix.T; tn: 64-column tiles a thread works on, for many rows and for one."""
    n, k = matrix.shape
    kernel = lk.linear(k, n, 4, tn_many) if many else lk.vec_linear(k, n, tn_one)
    return run(kernel, name, [x, matrix.q, matrix.s], (x.shape[0], n))


class Layer(nn.Module):
    def __init__(self, c: Config, number):
        self.c = c
        self.is_global = c.is_global(number)
        self.qkv_proj = Matrix((c.heads + 2 * c.kv_heads) * c.head_dim, c.hidden)
        self.q_norm = Weight(c.head_dim)
        self.k_norm = Weight(c.head_dim)
        self.o_proj = Matrix(c.hidden, c.heads * c.head_dim)
        self.gate_up_proj = Matrix(2 * c.ffn, c.hidden)
        self.down_proj = Matrix(c.hidden, c.ffn)
        self.input_layernorm = Weight(c.hidden)
        self.post_attention_layernorm = Weight(c.hidden)
        self.pre_feedforward_layernorm = Weight(c.hidden)
        self.post_feedforward_layernorm = Weight(c.hidden)

    def forward(self, x, normed, next_norm, cache, layer, many, positions, rope):
        """x: residual stream; normed: its input norm. Returns both for the next layer."""
        c, rows = self.c, x.shape[0]
        heads = c.heads + 2 * c.kv_heads
        kind = 1 if self.is_global else 0
        qkv = mul(normed, self.qkv_proj, "qkv_proj", many, c.tiles_many["qkv"], c.tiles_one["qkv"])
        qkv = run(
            lk.qk_norm_rope(c.heads, c.kv_heads, c.head_dim, c.eps, c.context, kind),
            "qk_norm_rope",
            [qkv, positions, rope, self.q_norm.weight, self.k_norm.weight],
            (1, rows, heads, c.head_dim),
        )
        scale = c.head_dim**-0.5
        att = cache.attention_with_fused_qkv(
            layer, qkv, c.heads, sm_scale=scale if self.is_global else -scale
        )
        att = op.reshape(att, (rows, c.heads * c.head_dim))
        att = mul(att, self.o_proj, "o_proj", many, c.tiles_many["o"], c.tiles_one["o"])
        x, normed = run(
            lk.norm_add_norm(c.hidden, c.eps),
            "norm_add_norm",
            [att, x, self.post_attention_layernorm.weight, self.pre_feedforward_layernorm.weight],
            (rows, c.hidden),
            (rows, c.hidden),
        )
        mlp = mul(
            normed,
            self.gate_up_proj,
            "gate_up_proj",
            many,
            c.tiles_many["gate_up"],
            c.tiles_one["gate_up"],
        )
        mlp = run(lk.geglu(c.ffn), "geglu", [mlp], (rows, c.ffn))
        mlp = mul(mlp, self.down_proj, "down_proj", many, c.tiles_many["down"], c.tiles_one["down"])
        return run(
            lk.norm_add_norm(c.hidden, c.eps),
            "norm_add_norm",
            [mlp, x, self.post_feedforward_layernorm.weight, next_norm.weight],
            (rows, c.hidden),
            (rows, c.hidden),
        )


class Gemma(nn.Module):
    def __init__(self, c: Config):
        self.c = c
        # the embedding in row blocks: every buffer stays under 128 MiB
        self.embed_tokens = nn.ModuleList(
            [Matrix(c.vocab // c.vocab_blocks, c.hidden) for _ in range(c.vocab_blocks)]
        )
        self.rope = Weight(2, c.context, c.head_dim // 2, 2)
        self.layers = nn.ModuleList([Layer(c, i) for i in range(c.layers)])
        self.norm = Weight(c.hidden)

    def _table(self):
        blocks = list(self.embed_tokens)
        return [b.q for b in blocks] + [b.s for b in blocks]

    def embed(self, input_ids):
        c = self.c
        return run(
            lk.embed(c.vocab, c.hidden, c.vocab_blocks),
            "embed_lookup",
            [input_ids, *self._table()],
            (input_ids.shape[0], c.hidden),
        )

    def _body(self, x, cache, many):
        """[1, rows, hidden] embeddings -> [rows, hidden] after the last norm."""
        c, rows = self.c, x.shape[1]
        x = op.reshape(x, (rows, c.hidden))
        positions = cache.get_query_positions(rows)
        norms = [layer.input_layernorm for layer in list(self.layers)[1:]] + [self.norm]
        normed = run(
            lk.norm(c.hidden, c.eps),
            "norm",
            [x, self.layers[0].input_layernorm.weight],
            (rows, c.hidden),
        )
        for i, layer in enumerate(self.layers):
            x, normed = layer(x, normed, norms[i], cache, i, many, positions, self.rope.weight)
        return normed

    def _logits(self, x):
        c = self.c
        out = run(
            lk.lm_head(c.vocab, c.hidden, c.vocab_blocks, c.tiles_one["lm_head"]),
            "lm_head",
            [x, *self._table()],
            (1, c.vocab),
        )
        return op.reshape(out, (1, 1, c.vocab))

    def prefill(self, input_embed, paged_kv_cache):
        x = self._body(input_embed, paged_kv_cache, True)
        last = op.tensor_expr_op(
            lambda h: tvm.te.compute(
                (1, h.shape[1]), lambda _, k: h[h.shape[0] - 1, k], name="last"
            ),
            name_hint="last",
            args=[x],
        )
        return self._logits(last), paged_kv_cache

    def decode(self, input_embed, paged_kv_cache):
        return self._logits(self._body(input_embed, paged_kv_cache, False)), paged_kv_cache

    def create_tir_paged_kv_cache(
        self,
        max_batch_size,
        max_total_seq_len,
        prefill_chunk_size,
        page_size,
        support_sliding_window,
    ):
        return Cache(
            self.c,
            max_batch_size,
            max_total_seq_len,
            prefill_chunk_size,
            page_size,
            support_sliding_window,
        )

    def spec(self):
        c = self.c
        state = {"param_mode": "packed", "effect_mode": "none"}
        cache = nn.spec.Object(object_type=kvc.PagedKVCache)
        return {
            "embed": {"input_ids": nn.spec.Tensor(["seq_len"], "int32"), "$": state},
            "prefill": {
                "input_embed": nn.spec.Tensor([1, "seq_len", c.hidden], "float32"),
                "paged_kv_cache": cache,
                "$": state,
            },
            "decode": {
                "input_embed": nn.spec.Tensor([1, 1, c.hidden], "float32"),
                "paged_kv_cache": cache,
                "$": state,
            },
            "create_tir_paged_kv_cache": {
                "max_batch_size": int,
                "max_total_seq_len": int,
                "prefill_chunk_size": int,
                "page_size": int,
                "support_sliding_window": int,
                "$": {"param_mode": "none", "effect_mode": "none"},
            },
        }
