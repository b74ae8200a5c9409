"""Sampling and logit kernels that WebLLM looks up by name.

One workgroup shape everywhere: 64 threads. The vocabulary is small (two
thousand entries), so the sort is a plain rank count and the sampler a scan.
"""
from tvm.script import tirx as T

TX = 64


def softmax_with_temperature(vocab):
    @T.prim_func(private=True, s_tir=True)
    def softmax_with_temperature_kernel(p_logits: T.handle, p_temp: T.handle, p_probs: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        logits = T.match_buffer(p_logits, (rows, 1, vocab), "float32")
        temp = T.match_buffer(p_temp, (rows,), "float32")
        probs = T.match_buffer(p_probs, (rows, 1, vocab), "float32")
        for b in T.thread_binding(rows, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("softmax"):
                    part = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    acc = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    acc[0] = T.float32(-3.0e38)
                    for i in T.serial((vocab + TX - 1) // TX):
                        if i * TX + t < vocab:
                            acc[0] = T.max(acc[0], logits[b, 0, i * TX + t])
                    part[t] = acc[0]
                    T.tvm_storage_sync("shared")
                    top[0] = part[0]
                    for i in T.serial(TX):
                        top[0] = T.max(top[0], part[i])
                    T.tvm_storage_sync("shared")
                    acc[0] = T.float32(0)
                    for i in T.serial((vocab + TX - 1) // TX):
                        if i * TX + t < vocab:
                            acc[0] = acc[0] + T.exp((logits[b, 0, i * TX + t] - top[0]) / temp[b])
                    part[t] = acc[0]
                    T.tvm_storage_sync("shared")
                    acc[0] = T.float32(0)
                    for i in T.serial(TX):
                        acc[0] = acc[0] + part[i]
                    for i in T.serial((vocab + TX - 1) // TX):
                        if i * TX + t < vocab:
                            probs[b, 0, i * TX + t] = T.exp((logits[b, 0, i * TX + t] - top[0]) / temp[b]) / acc[0]

    return softmax_with_temperature_kernel


def argsort_probs(vocab):
    """Descending sort: entry i goes to the place given by how many entries beat it.

    Each thread ranks PER entries at once, so that one load serves PER comparisons.
    """
    PER = 4
    threads = (vocab + PER - 1) // PER
    blocks = (threads + TX - 1) // TX

    @T.prim_func(private=True, s_tir=True)
    def argsort_probs_kernel(p_probs: T.handle, p_sorted: T.handle, p_index: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        probs = T.match_buffer(p_probs, (rows, vocab), "float32")
        out_probs = T.match_buffer(p_sorted, (rows, vocab), "float32")
        out_index = T.match_buffer(p_index, (rows, vocab), "int32")
        for b in T.thread_binding(rows * blocks, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("rank"):
                    rank = T.sblock_alloc_buffer((PER,), "int32", scope="local")
                    mine = T.sblock_alloc_buffer((PER,), "float32", scope="local")
                    other = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    row = T.meta_var(b // blocks)
                    first = T.meta_var(T.Cast("int32", b % blocks) * TX + t)
                    for u in T.unroll(PER):
                        rank[u] = 0
                        mine[u] = probs[row, T.min(first + u * threads, vocab - 1)]
                    for j in T.serial(vocab):
                        other[0] = probs[row, j]
                        for u in T.unroll(PER):
                            if other[0] > mine[u] or (other[0] == mine[u] and j < first + u * threads):
                                rank[u] = rank[u] + 1
                    for u in T.unroll(PER):
                        if first < threads and first + u * threads < vocab:
                            out_probs[row, rank[u]] = mine[u]
                            out_index[row, rank[u]] = first + u * threads

    return argsort_probs_kernel


def sample_with_top_p(vocab):
    """Walk down the sorted probabilities to the point uniform * (mass within top_p)."""

    @T.prim_func(private=True, s_tir=True)
    def sample_with_top_p_kernel(
        p_sorted: T.handle, p_index: T.handle, p_uniform: T.handle, p_rows: T.handle, p_top: T.handle, p_out: T.handle
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        n = T.int64()
        probs = T.match_buffer(p_sorted, (rows, vocab), "float32")
        index = T.match_buffer(p_index, (rows, vocab), "int32")
        uniform = T.match_buffer(p_uniform, (n,), "float32")
        row_of = T.match_buffer(p_rows, (n,), "int32")
        top_p = T.match_buffer(p_top, (rows,), "float32")
        out = T.match_buffer(p_out, (n,), "int32")
        for b in T.thread_binding(n, thread="blockIdx.x"):
            for t in T.thread_binding(1, thread="threadIdx.x"):
                with T.sblock("sample"):
                    mass = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    kept = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    pick = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    mass[0] = T.float32(0)
                    kept[0] = 0
                    for i in T.serial(vocab):
                        if mass[0] < top_p[row_of[b]]:
                            mass[0] = mass[0] + probs[row_of[b], i]
                            kept[0] = i
                    mass[0] = mass[0] * uniform[b]
                    pick[0] = -1
                    for i in T.serial(vocab):
                        if pick[0] < 0:
                            mass[0] = mass[0] - probs[row_of[b], i]
                            if mass[0] < T.float32(0) or i >= kept[0]:
                                pick[0] = i
                    out[b] = index[row_of[b], T.max(pick[0], 0)]

    return sample_with_top_p_kernel


def apply_logit_bias(vocab):
    @T.prim_func(private=True, s_tir=True)
    def apply_logit_bias_kernel(p_logits: T.handle, p_seq: T.handle, p_token: T.handle, p_bias: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        n = T.int64()
        logits = T.match_buffer(p_logits, (rows, vocab), "float32")
        seq = T.match_buffer(p_seq, (n,), "int32")
        token = T.match_buffer(p_token, (n,), "int32")
        bias = T.match_buffer(p_bias, (n,), "float32")
        for b in T.thread_binding((n + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("bias"):
                    i = T.meta_var(b * TX + t)
                    if i < n:
                        logits[seq[i], token[i]] = logits[seq[i], token[i]] + bias[i]

    return apply_logit_bias_kernel


def apply_penalty(vocab):
    """penalties per sequence: presence, frequency, repetition."""

    @T.prim_func(private=True, s_tir=True)
    def apply_penalty_kernel(
        p_logits: T.handle, p_ids: T.handle, p_seq: T.handle, p_token: T.handle, p_count: T.handle, p_pen: T.handle
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        m = T.int64()
        n = T.int64()
        logits = T.match_buffer(p_logits, (rows, vocab), "float32")
        ids = T.match_buffer(p_ids, (m,), "int32")
        seq = T.match_buffer(p_seq, (n,), "int32")
        token = T.match_buffer(p_token, (n,), "int32")
        count = T.match_buffer(p_count, (n,), "int32")
        pen = T.match_buffer(p_pen, (m, 3), "float32")
        for b in T.thread_binding((n + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("penalty"):
                    v = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    i = T.meta_var(b * TX + t)
                    if i < n:
                        v[0] = logits[ids[seq[i]], token[i]] - (
                            pen[seq[i], 0] + T.Cast("float32", count[i]) * pen[seq[i], 1]
                        )
                        if v[0] > T.float32(0):
                            v[0] = v[0] / pen[seq[i], 2]
                        else:
                            v[0] = v[0] * pen[seq[i], 2]
                        logits[ids[seq[i]], token[i]] = v[0]

    return apply_penalty_kernel


def apply_bitmask(vocab):
    """Bit k of word j allows token 32 j + k."""
    words = (vocab + 31) // 32

    @T.prim_func(private=True, s_tir=True)
    def apply_bitmask_kernel(p_logits: T.handle, p_ids: T.handle, p_mask: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        m = T.int64()
        logits = T.match_buffer(p_logits, (rows, vocab), "float32")
        ids = T.match_buffer(p_ids, (m,), "int32")
        mask = T.match_buffer(p_mask, (rows, words), "int32")
        for b in T.thread_binding(m * ((vocab + TX - 1) // TX), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("mask"):
                    row = T.meta_var(ids[b // ((vocab + TX - 1) // TX)])
                    i = T.meta_var(T.Cast("int32", b % ((vocab + TX - 1) // TX)) * TX + t)
                    if i < vocab:
                        if T.bitwise_and(T.shift_right(mask[row, i // 32], i % 32), 1) == 0:
                            logits[row, i] = T.float32(-3.0e38)

    return apply_bitmask_kernel
