"""Sampling and logit kernels that WebLLM looks up by name, for a vocabulary of 262144.

WebLLM calls softmax_with_temperature, then argsort_probs, then sample_with_top_p on the
two results of argsort_probs, and looks at nothing else of them. So nothing is sorted:
argsort_probs hands on the probabilities themselves and the place of the largest of each of
SEG segments, and sample_with_top_p takes the largest remaining entry until their mass
reaches top_p or TOP_K entries are taken (one entry for greedy decoding).
"""

from tvm.script import tirx as T

TX = 64
SEG = 1024  # segments of the vocabulary; entry i belongs to segment i % SEG
TOP_K = 64  # Gemma's own recommendation


def partial_softmax(vocab):
    """(max, sum of exp((logit - max) / temperature)) of each segment."""

    @T.prim_func(private=True, s_tir=True)
    def partial_softmax_kernel(p_logits: T.handle, p_temp: T.handle, p_part: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        logits = T.match_buffer(p_logits, (rows, 1, vocab), "float32")
        temp = T.match_buffer(p_temp, (rows,), "float32")
        part = T.match_buffer(p_part, (rows, SEG, 2), "float32")
        for b in T.thread_binding(rows * (SEG // TX), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("partial"):
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    acc = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    row = T.meta_var(b // (SEG // TX))
                    seg = T.meta_var(b % (SEG // TX) * TX + t)
                    top[0] = T.float32(-3.0e38)
                    for i in T.serial(vocab // SEG):
                        top[0] = T.max(top[0], logits[row, 0, i * SEG + seg])
                    acc[0] = T.float32(0)
                    for i in T.serial(vocab // SEG):
                        acc[0] = acc[0] + T.exp(
                            (logits[row, 0, i * SEG + seg] - top[0]) / temp[row]
                        )
                    part[row, seg, 0] = top[0]
                    part[row, seg, 1] = acc[0]

    return partial_softmax_kernel


def total_softmax():
    """(max, sum) of a row from those of its segments; one workgroup a row."""

    @T.prim_func(private=True, s_tir=True)
    def total_softmax_kernel(p_part: T.handle, p_temp: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        part = T.match_buffer(p_part, (rows, SEG, 2), "float32")
        temp = T.match_buffer(p_temp, (rows,), "float32")
        out = T.match_buffer(p_out, (rows, 2), "float32")
        for b in T.thread_binding(rows, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("total"):
                    tops = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    sums = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    acc = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    top[0] = T.float32(-3.0e38)
                    for i in T.serial(SEG // TX):
                        top[0] = T.max(top[0], part[b, i * TX + t, 0])
                    tops[t] = top[0]
                    T.tvm_storage_sync("shared")
                    for i in T.serial(TX):
                        top[0] = T.max(top[0], tops[i])
                    acc[0] = T.float32(0)
                    for i in T.serial(SEG // TX):
                        acc[0] = acc[0] + part[b, i * TX + t, 1] * T.exp(
                            (part[b, i * TX + t, 0] - top[0]) / temp[b]
                        )
                    sums[t] = acc[0]
                    T.tvm_storage_sync("shared")
                    if t == 0:
                        acc[0] = T.float32(0)
                        for i in T.serial(TX):
                            acc[0] = acc[0] + sums[i]
                        out[b, 0] = top[0]
                        out[b, 1] = acc[0]

    return total_softmax_kernel


def apply_softmax(vocab):
    @T.prim_func(private=True, s_tir=True)
    def apply_softmax_kernel(
        p_logits: T.handle, p_temp: T.handle, p_total: T.handle, p_probs: T.handle
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        logits = T.match_buffer(p_logits, (rows, 1, vocab), "float32")
        temp = T.match_buffer(p_temp, (rows,), "float32")
        total = T.match_buffer(p_total, (rows, 2), "float32")
        probs = T.match_buffer(p_probs, (rows, 1, vocab), "float32")
        for b in T.thread_binding(rows * (vocab // (4 * TX)), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("softmax"):
                    row = T.meta_var(b // (vocab // (4 * TX)))
                    at = T.meta_var(b % (vocab // (4 * TX)) * (4 * TX) + t)
                    for i in T.unroll(4):
                        probs[row, 0, at + i * TX] = (
                            T.exp((logits[row, 0, at + i * TX] - total[row, 0]) / temp[row])
                            / total[row, 1]
                        )

    return apply_softmax_kernel


def segment_argmax(vocab):
    @T.prim_func(private=True, s_tir=True)
    def segment_argmax_kernel(p_probs: T.handle, p_best: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        probs = T.match_buffer(p_probs, (rows, vocab), "float32")
        best = T.match_buffer(p_best, (rows, SEG), "int32")
        for b in T.thread_binding(rows * (SEG // TX), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("argmax"):
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    at = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    row = T.meta_var(b // (SEG // TX))
                    seg = T.meta_var(T.Cast("int32", b % (SEG // TX)) * TX + t)
                    top[0] = T.float32(-1)
                    at[0] = 0
                    for i in T.serial(vocab // SEG):
                        if probs[row, i * SEG + seg] > top[0]:
                            top[0] = probs[row, i * SEG + seg]
                            at[0] = i
                    best[row, seg] = at[0] * SEG + seg

    return segment_argmax_kernel


def sample_with_top_p(vocab):
    """One thread takes the largest entry left until top_p or TOP_K, then draws among the taken."""

    @T.prim_func(private=True, s_tir=True)
    def sample_with_top_p_kernel(
        p_probs: T.handle,
        p_best: T.handle,
        p_uniform: T.handle,
        p_rows: T.handle,
        p_top: T.handle,
        p_out: T.handle,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        n = T.int64()
        probs = T.match_buffer(p_probs, (rows, vocab), "float32")
        best = T.match_buffer(p_best, (rows, SEG), "int32")
        uniform = T.match_buffer(p_uniform, (n,), "float32")
        row_of = T.match_buffer(p_rows, (n,), "int32")
        top_p = T.match_buffer(p_top, (rows,), "float32")
        out = T.match_buffer(p_out, (n,), "int32")
        for b in T.thread_binding(n, thread="blockIdx.x"):
            for t in T.thread_binding(1, thread="threadIdx.x"):
                with T.sblock("sample"):
                    head_p = T.sblock_alloc_buffer(
                        (SEG,), "float32", scope="local"
                    )  # best left of each segment
                    head_i = T.sblock_alloc_buffer((SEG,), "int32", scope="local")
                    taken_p = T.sblock_alloc_buffer((TOP_K,), "float32", scope="local")
                    taken_i = T.sblock_alloc_buffer((TOP_K,), "int32", scope="local")
                    mass = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    v = T.sblock_alloc_buffer((2,), "float32", scope="local")
                    row = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    kept = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    at = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    pick = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    row[0] = row_of[b]
                    for i in T.serial(SEG):
                        head_i[i] = best[row[0], i]
                        head_p[i] = probs[row[0], head_i[i]]
                    mass[0] = T.float32(0)
                    kept[0] = 0
                    for k in T.serial(TOP_K):
                        if k == 0 or mass[0] < top_p[row[0]]:
                            v[0] = T.float32(-1)
                            at[0] = 0
                            for i in T.serial(SEG):
                                if head_p[i] > v[0]:
                                    v[0] = head_p[i]
                                    at[0] = i
                            taken_p[k] = v[0]
                            taken_i[k] = head_i[at[0]]
                            mass[0] = mass[0] + v[0]
                            kept[0] = k + 1
                            if mass[0] < top_p[row[0]]:
                                # next of this segment: after (v, index), larger p first, then
                                # smaller index
                                v[1] = T.float32(-1)
                                pick[0] = 0
                                for i in T.serial(vocab // SEG):
                                    if probs[row[0], i * SEG + at[0]] > v[1] and (
                                        probs[row[0], i * SEG + at[0]] < v[0]
                                        or (
                                            probs[row[0], i * SEG + at[0]] == v[0]
                                            and i * SEG + at[0] > taken_i[k]
                                        )
                                    ):
                                        v[1] = probs[row[0], i * SEG + at[0]]
                                        pick[0] = i * SEG + at[0]
                                head_p[at[0]] = v[1]
                                head_i[at[0]] = pick[0]
                    mass[0] = mass[0] * uniform[b]
                    pick[0] = -1
                    for k in T.serial(TOP_K):
                        if k < kept[0] and pick[0] < 0:
                            mass[0] = mass[0] - taken_p[k]
                            if mass[0] < T.float32(0) or k == kept[0] - 1:
                                pick[0] = taken_i[k]
                    out[b] = pick[0]

    return sample_with_top_p_kernel


def apply_logit_bias(vocab):
    @T.prim_func(private=True, s_tir=True)
    def apply_logit_bias_kernel(
        p_logits: T.handle, p_seq: T.handle, p_token: T.handle, p_bias: T.handle
    ):
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
        p_logits: T.handle,
        p_ids: T.handle,
        p_seq: T.handle,
        p_token: T.handle,
        p_count: T.handle,
        p_pen: T.handle,
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
