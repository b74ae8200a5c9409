"""A tiny decoder with Gemma 3's architecture, written with relax.frontend.nn.

Kept from Gemma 3: sandwich RMSNorm with (1 + w) (the 1 is added when the weights
are packed), q/k norm, grouped query attention, rope, GeGLU, embeddings scaled by
sqrt(hidden), output head tied to the embedding. Left out: sliding-window layers.
"""
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm import kv_cache as kvc

from config import Config

from . import layer_kernels as lk

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
        tirx = lambda f, name: relax.Tuple([tvm.ir.StringImm("tirx"), bb.add_func(f, name)])  # noqa: E731
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
            num(kvc.RopeMode.NORMAL),
            num(1),
            num(int(c.rope_theta)),
            num(0),  # no rope extension factors
            relax.op.zeros((), "float32"),
            bb.add_func(kvc._kv_cache_transpose_append(c.kv_heads, c.head_dim, "float32"), "kv_append"),
            bb.add_func(kvc._kv_cache_transpose_append_mla(c.head_dim, "float32"), "kv_append_mla"),
            tirx(lk.ragged_attention(c.heads, c.kv_heads, c.head_dim), "attention_ragged"),
            tirx(lk.prefill_attention(c.heads, c.kv_heads, c.head_dim, PAGE), "attention_prefill"),
            tirx(lk.decode_attention(c.heads, c.kv_heads, c.head_dim, PAGE), "attention_decode"),
            none,  # prefill, sliding window
            none,  # decode, sliding window
            none,  # tree mask with paged cache
            none,  # tree mask
            none,  # MLA prefill
            relax.Tuple([bb.add_func(lk.merge_state(c.heads, c.head_dim), "attention_merge")]),
            bb.add_func(kvc.llama_rope_with_position_map(
                c.rope_theta, 1.0, c.head_dim, c.heads, c.kv_heads, "float32", {}, c.head_dim), "split_rotary"),
            bb.add_func(kvc._copy_single_page(c.kv_heads, page_size, c.head_dim, "float32", target), "kv_copy_page"),
            bb.add_func(kvc._kv_cache_debug_get_kv(c.layers, c.kv_heads, c.head_dim, "float32"), "kv_debug"),
            bb.add_func(kvc._compact_kv_copy(c.kv_heads, c.head_dim, "float32", target), "kv_compact"),
        ]  # fmt: skip
        super().__init__(
            _expr=relax.call_pure_packed("vm.builtin.paged_attention_kv_cache_create", *args, ty_args=relax.AnyType()),
            _name="paged_kv_cache",
        )


def run(kernel, name, args, *shapes):
    """Emit one kernel call; rows of the outputs are those of the first argument."""
    outs = [Tensor.placeholder(list(s), "float32") for s in shapes]
    return op.tensor_ir_op(kernel, name, args, outs if len(outs) > 1 else outs[0])


class Weight(nn.Module):
    def __init__(self, *shape):
        self.weight = nn.Parameter(shape, "float32")


class Layer(nn.Module):
    def __init__(self, c: Config):
        self.c = c
        self.qkv_proj = Weight((c.heads + 2 * c.kv_heads) * c.head_dim, c.hidden)
        self.q_norm = Weight(c.head_dim)
        self.k_norm = Weight(c.head_dim)
        self.o_proj = Weight(c.hidden, c.heads * c.head_dim)
        self.gate_up_proj = Weight(2 * c.ffn, c.hidden)
        self.down_proj = Weight(c.hidden, c.ffn)
        self.input_layernorm = Weight(c.hidden)
        self.post_attention_layernorm = Weight(c.hidden)
        self.pre_feedforward_layernorm = Weight(c.hidden)
        self.post_feedforward_layernorm = Weight(c.hidden)

    def forward(self, x, normed, next_norm, cache, layer, tile):
        """x: residual stream; normed: its input norm. Returns both for the next layer."""
        c, rows = self.c, x.shape[0]
        heads = c.heads + 2 * c.kv_heads
        tm, tn = tile
        qkv = run(lk.linear(c.hidden, heads * c.head_dim, tm, tn), "qkv_proj", [normed, self.qkv_proj.weight],
                  (rows, heads * c.head_dim))  # fmt: skip
        qkv = run(lk.qk_norm(c.heads, c.kv_heads, c.head_dim, c.eps), "qk_norm",
                  [qkv, self.q_norm.weight, self.k_norm.weight], (1, rows, heads, c.head_dim))  # fmt: skip
        att = cache.attention_with_fused_qkv(layer, qkv, c.heads, sm_scale=c.head_dim**-0.5)
        att = op.reshape(att, (rows, c.heads * c.head_dim))
        att = run(lk.linear(c.heads * c.head_dim, c.hidden, tm, tn), "o_proj", [att, self.o_proj.weight],
                  (rows, c.hidden))  # fmt: skip
        x, normed = run(lk.norm_add_norm(c.hidden, c.eps), "norm_add_norm",
                        [att, x, self.post_attention_layernorm.weight, self.pre_feedforward_layernorm.weight],
                        (rows, c.hidden), (rows, c.hidden))  # fmt: skip
        mlp = run(lk.gate_up(c.hidden, c.ffn, tm), "gate_up", [normed, self.gate_up_proj.weight], (rows, c.ffn))
        mlp = run(lk.linear(c.ffn, c.hidden, tm, tn), "down_proj", [mlp, self.down_proj.weight], (rows, c.hidden))
        return run(lk.norm_add_norm(c.hidden, c.eps), "norm_add_norm",
                   [mlp, x, self.post_feedforward_layernorm.weight, next_norm.weight],
                   (rows, c.hidden), (rows, c.hidden))  # fmt: skip


class TinyGemma(nn.Module):
    def __init__(self, c: Config):
        self.c = c
        self.embed_tokens = Weight(c.vocab, c.hidden)
        self.layers = nn.ModuleList([Layer(c) for _ in range(c.layers)])
        self.norm = Weight(c.hidden)

    def embed(self, input_ids):
        c = self.c
        return run(lk.embed(c.vocab, c.hidden), "embed_lookup", [input_ids, self.embed_tokens.weight],
                   (input_ids.shape[0], c.hidden))  # fmt: skip

    def _body(self, x, cache, tile):
        """[1, rows, hidden] embeddings -> [rows, hidden] after the last norm."""
        c, rows = self.c, x.shape[1]
        x = op.reshape(x, (rows, c.hidden))
        norms = [layer.input_layernorm for layer in list(self.layers)[1:]] + [self.norm]
        normed = run(lk.norm(c.hidden, c.eps), "norm", [x, self.layers[0].input_layernorm.weight], (rows, c.hidden))
        for i, layer in enumerate(self.layers):
            x, normed = layer(x, normed, norms[i], cache, i, tile)
        return normed

    def _logits(self, x):
        c = self.c
        out = run(lk.linear(c.hidden, c.vocab, 1, 2), "lm_head", [x, self.embed_tokens.weight], (1, c.vocab))
        return op.reshape(out, (1, 1, c.vocab))

    def prefill(self, input_embed, paged_kv_cache):
        x = self._body(input_embed, paged_kv_cache, (4, 4))
        last = op.tensor_expr_op(
            lambda h: tvm.te.compute((1, h.shape[1]), lambda _, k: h[h.shape[0] - 1, k], name="last"),
            name_hint="last",
            args=[x],
        )
        return self._logits(last), paged_kv_cache

    def decode(self, input_embed, paged_kv_cache):
        return self._logits(self._body(input_embed, paged_kv_cache, (1, 2))), paged_kv_cache

    def create_tir_paged_kv_cache(
        self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window
    ):
        return Cache(self.c, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size, support_sliding_window)

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
