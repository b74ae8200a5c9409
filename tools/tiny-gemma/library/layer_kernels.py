"""Kernels of the model itself, written for a software GPU.

SwiftShader runs a workgroup's threads as coroutines and pays for every barrier,
so none of these has one: a thread computes a whole output (or a small tile of
them, or a whole row) by itself.
"""
import math

from tvm.script import tirx as T

TX = 64


def linear(K, N, TM, TN):
    """out[r, n] = sum_k x[r, k] * w[n, k]; a thread computes TM rows x TN columns."""
    cols = N // TN
    assert cols * TN == N

    @T.prim_func(private=True, s_tir=True)
    def linear_kernel(p_x: T.handle, p_w: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, K), "float32")
        w = T.match_buffer(p_w, (N, K), "float32")
        out = T.match_buffer(p_out, (rows, N), "float32")
        for b in T.thread_binding((((rows + TM - 1) // TM) * cols + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("linear"):
                    acc = T.sblock_alloc_buffer((TM * TN,), "float32", scope="local")
                    xv = T.sblock_alloc_buffer((TM,), "float32", scope="local")
                    wv = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r0 = T.meta_var((b * TX + t) // cols * TM)
                    c0 = T.meta_var((b * TX + t) % cols)
                    for i in T.unroll(TM * TN):
                        acc[i] = T.float32(0)
                    for k in T.serial(K):
                        for r in T.unroll(TM):
                            xv[r] = x[T.min(r0 + r, rows - 1), k]
                        for c in T.unroll(TN):
                            wv[0] = w[c0 + c * cols, k]
                            for r in T.unroll(TM):
                                acc[r * TN + c] = acc[r * TN + c] + xv[r] * wv[0]
                    for r in T.unroll(TM):
                        if r0 + r < rows:
                            for c in T.unroll(TN):
                                out[r0 + r, c0 + c * cols] = acc[r * TN + c]

    return linear_kernel


def gate_up(K, F, TM):
    """out[r, f] = gelu_tanh(x[r] . w[f]) * (x[r] . w[F + f])."""

    @T.prim_func(private=True, s_tir=True)
    def gate_up_kernel(p_x: T.handle, p_w: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, K), "float32")
        w = T.match_buffer(p_w, (2 * F, K), "float32")
        out = T.match_buffer(p_out, (rows, F), "float32")
        for b in T.thread_binding((((rows + TM - 1) // TM) * F + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("gate_up"):
                    gate = T.sblock_alloc_buffer((TM,), "float32", scope="local")
                    up = T.sblock_alloc_buffer((TM,), "float32", scope="local")
                    wv = T.sblock_alloc_buffer((2,), "float32", scope="local")
                    xv = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r0 = T.meta_var((b * TX + t) // F * TM)
                    f = T.meta_var((b * TX + t) % F)
                    for r in T.unroll(TM):
                        gate[r] = T.float32(0)
                        up[r] = T.float32(0)
                    for k in T.serial(K):
                        wv[0] = w[f, k]
                        wv[1] = w[F + f, k]
                        for r in T.unroll(TM):
                            xv[0] = x[T.min(r0 + r, rows - 1), k]
                            gate[r] = gate[r] + xv[0] * wv[0]
                            up[r] = up[r] + xv[0] * wv[1]
                    for r in T.unroll(TM):
                        if r0 + r < rows:
                            # tanh through exp of a clamped argument: no overflow
                            wv[0] = T.float32(1.5957691216057308) * (
                                gate[r] + T.float32(0.044715) * gate[r] * gate[r] * gate[r]
                            )
                            wv[0] = T.min(T.max(wv[0], T.float32(-40)), T.float32(40))
                            out[r0 + r, f] = gate[r] * up[r] / (T.float32(1) + T.exp(-wv[0]))

    return gate_up_kernel


def norm(H, eps):
    """RMSNorm of each row; one thread a row."""

    @T.prim_func(private=True, s_tir=True)
    def norm_kernel(p_x: T.handle, p_w: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, H), "float32")
        w = T.match_buffer(p_w, (H,), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for b in T.thread_binding((rows + 3) // 4, thread="blockIdx.x"):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("norm"):
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r = T.meta_var(b * 4 + t)
                    if r < rows:
                        s[0] = T.float32(0)
                        for i in T.serial(H):
                            s[0] = s[0] + x[r, i] * x[r, i]
                        s[0] = T.rsqrt(s[0] / T.float32(H) + T.float32(eps))
                        for i in T.serial(H):
                            out[r, i] = x[r, i] * s[0] * w[i]

    return norm_kernel


def norm_add_norm(H, eps):
    """res' = res + norm(y) * w1; out = norm(res') * w2; one thread a row."""

    @T.prim_func(private=True, s_tir=True)
    def norm_add_norm_kernel(
        p_y: T.handle, p_res: T.handle, p_w1: T.handle, p_w2: T.handle, p_sum: T.handle, p_out: T.handle
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        y = T.match_buffer(p_y, (rows, H), "float32")
        res = T.match_buffer(p_res, (rows, H), "float32")
        w1 = T.match_buffer(p_w1, (H,), "float32")
        w2 = T.match_buffer(p_w2, (H,), "float32")
        total = T.match_buffer(p_sum, (rows, H), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for b in T.thread_binding((rows + 3) // 4, thread="blockIdx.x"):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.sblock("norm"):
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    q = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    v = T.sblock_alloc_buffer((H,), "float32", scope="local")
                    r = T.meta_var(b * 4 + t)
                    if r < rows:
                        s[0] = T.float32(0)
                        for i in T.serial(H):
                            v[i] = y[r, i]
                            s[0] = s[0] + v[i] * v[i]
                        s[0] = T.rsqrt(s[0] / T.float32(H) + T.float32(eps))
                        q[0] = T.float32(0)
                        for i in T.serial(H):
                            v[i] = res[r, i] + v[i] * s[0] * w1[i]
                            q[0] = q[0] + v[i] * v[i]
                            total[r, i] = v[i]
                        q[0] = T.rsqrt(q[0] / T.float32(H) + T.float32(eps))
                        for i in T.serial(H):
                            out[r, i] = v[i] * q[0] * w2[i]

    return norm_add_norm_kernel


def qk_norm(heads, kv_heads, D, eps):
    """Splits the fused projection into heads and norms the q and k ones."""
    H = heads + 2 * kv_heads

    @T.prim_func(private=True, s_tir=True)
    def qk_norm_kernel(p_x: T.handle, p_q: T.handle, p_k: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, H * D), "float32")
        wq = T.match_buffer(p_q, (D,), "float32")
        wk = T.match_buffer(p_k, (D,), "float32")
        out = T.match_buffer(p_out, (1, rows, H, D), "float32")
        for b in T.thread_binding((rows * H + 7) // 8, thread="blockIdx.x"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("norm"):
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r = T.meta_var((b * 8 + t) // H)
                    h = T.meta_var((b * 8 + t) % H)
                    if r < rows:
                        if h >= heads + kv_heads:
                            for i in T.serial(D):
                                out[0, r, h, i] = x[r, h * D + i]
                        else:
                            s[0] = T.float32(0)
                            for i in T.serial(D):
                                s[0] = s[0] + x[r, h * D + i] * x[r, h * D + i]
                            s[0] = T.rsqrt(s[0] / T.float32(D) + T.float32(eps))
                            for i in T.serial(D):
                                out[0, r, h, i] = x[r, h * D + i] * s[0] * T.if_then_else(h < heads, wq[i], wk[i])

    return qk_norm_kernel


def embed(V, H):
    @T.prim_func(private=True, s_tir=True)
    def embed_kernel(p_ids: T.handle, p_w: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        ids = T.match_buffer(p_ids, (rows,), "int32")
        w = T.match_buffer(p_w, (V, H), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for b in T.thread_binding((rows * H + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("embed"):
                    r = T.meta_var((b * TX + t) // H)
                    i = T.meta_var((b * TX + t) % H)
                    if r < rows:
                        out[r, i] = w[ids[r], i] * T.float32(math.sqrt(H))

    return embed_kernel


LOG2E = math.log2(math.e)


def decode_attention(heads, kv_heads, D, page):
    """One query per sequence against the paged cache; one thread per head."""
    group = heads // kv_heads

    @T.prim_func(private=True, s_tir=True)
    def decode_attention_kernel(
        p_q: T.handle, p_pages: T.handle, p_indptr: T.handle, p_values: T.handle, p_length: T.handle,
        p_krope: T.handle, p_qrope: T.handle, p_out: T.handle, p_lse: T.handle,
        rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, sm_scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True})
        B = T.int32()
        used = T.int32()
        max_pages = T.int32()
        o1 = T.int32()
        o2 = T.int32()
        o3 = T.int32()
        o4 = T.int32()
        o5 = T.int32()
        q = T.match_buffer(p_q, (B, heads, D), "float32")
        pages = T.match_buffer(p_pages, (max_pages, 2, kv_heads, page, D), "float32")
        indptr = T.match_buffer(p_indptr, (B + 1,), "int32", elem_offset=o1)
        values = T.match_buffer(p_values, (used,), "int32", elem_offset=o2)
        length = T.match_buffer(p_length, (B,), "int32", elem_offset=o3)
        krope = T.match_buffer(p_krope, (B,), "int32", elem_offset=o4)
        qrope = T.match_buffer(p_qrope, (B,), "int32", elem_offset=o5)
        out = T.match_buffer(p_out, (B, heads, D), "float32")
        lse = T.match_buffer(p_lse, (B, heads), "float32")
        for b in T.thread_binding(B, thread="blockIdx.x"):
            for h in T.thread_binding(heads, thread="threadIdx.x"):
                with T.sblock("attention"):
                    qv = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    p = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    n[0] = 0
                    if indptr[b + 1] > indptr[b]:
                        n[0] = (indptr[b + 1] - indptr[b] - 1) * page + length[b]
                    m[0] = T.float32(-5e4)
                    d[0] = T.float32(0)
                    for i in T.serial(D):
                        qv[i] = q[b, h, i] * (sm_scale * T.float32(LOG2E))
                        acc[i] = T.float32(0)
                    for j in T.serial(n[0]):
                        p[0] = values[indptr[b] + j // page]
                        s[0] = T.float32(0)
                        for i in T.serial(D):
                            s[0] = s[0] + qv[i] * pages[p[0], 0, h // group, j % page, i]
                        m_new[0] = T.max(m[0], s[0])
                        f[0] = T.exp2(m[0] - m_new[0])
                        s[0] = T.exp2(s[0] - m_new[0])
                        m[0] = m_new[0]
                        d[0] = d[0] * f[0] + s[0]
                        for i in T.serial(D):
                            acc[i] = acc[i] * f[0] + s[0] * pages[p[0], 1, h // group, j % page, i]
                    d[0] = T.max(d[0], T.float32(1e-30))
                    for i in T.serial(D):
                        out[b, h, i] = acc[i] / d[0]
                    lse[b, h] = m[0] + T.log2(d[0])

    return decode_attention_kernel


def prefill_attention(heads, kv_heads, D, page):
    """Several queries against the paged cache; one thread per query and head."""
    group = heads // kv_heads
    BX = 16

    @T.prim_func(private=True, s_tir=True)
    def prefill_attention_kernel(
        p_q: T.handle, p_qptr: T.handle, p_pages: T.handle, p_indptr: T.handle, p_values: T.handle,
        p_length: T.handle, p_krope: T.handle, p_qrope: T.handle, p_out: T.handle, p_lse: T.handle,
        causal: T.int32, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, sm_scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True})
        B = T.int32()
        total = T.int32()
        used = T.int32()
        max_pages = T.int32()
        o0 = T.int32()
        o1 = T.int32()
        o2 = T.int32()
        o3 = T.int32()
        o4 = T.int32()
        o5 = T.int32()
        q = T.match_buffer(p_q, (total, heads, D), "float32")
        qptr = T.match_buffer(p_qptr, (B + 1,), "int32", elem_offset=o0)
        pages = T.match_buffer(p_pages, (max_pages, 2, kv_heads, page, D), "float32")
        indptr = T.match_buffer(p_indptr, (B + 1,), "int32", elem_offset=o1)
        values = T.match_buffer(p_values, (used,), "int32", elem_offset=o2)
        length = T.match_buffer(p_length, (B,), "int32", elem_offset=o3)
        krope = T.match_buffer(p_krope, (B,), "int32", elem_offset=o4)
        qrope = T.match_buffer(p_qrope, (total,), "int32", elem_offset=o5)
        out = T.match_buffer(p_out, (total, heads, D), "float32")
        lse = T.match_buffer(p_lse, (total, heads), "float32")
        for bx in T.thread_binding((total * heads + BX - 1) // BX, thread="blockIdx.x"):
            for tx in T.thread_binding(BX, thread="threadIdx.x"):
                with T.sblock("attention"):
                    qv = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    p = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    seq = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    r = T.meta_var((bx * BX + tx) // heads)
                    h = T.meta_var((bx * BX + tx) % heads)
                    if r < total:
                        seq[0] = 0
                        for b in T.serial(B):
                            if r >= qptr[b + 1]:
                                seq[0] = b + 1
                        n[0] = 0
                        if indptr[seq[0] + 1] > indptr[seq[0]]:
                            n[0] = (indptr[seq[0] + 1] - indptr[seq[0]] - 1) * page + length[seq[0]]
                        if causal > 0:
                            n[0] = n[0] - (qptr[seq[0] + 1] - 1 - r)
                        m[0] = T.float32(-5e4)
                        d[0] = T.float32(0)
                        for i in T.serial(D):
                            qv[i] = q[r, h, i] * (sm_scale * T.float32(LOG2E))
                            acc[i] = T.float32(0)
                        for j in T.serial(n[0]):
                            p[0] = values[indptr[seq[0]] + j // page]
                            s[0] = T.float32(0)
                            for i in T.serial(D):
                                s[0] = s[0] + qv[i] * pages[p[0], 0, h // group, j % page, i]
                            m_new[0] = T.max(m[0], s[0])
                            f[0] = T.exp2(m[0] - m_new[0])
                            s[0] = T.exp2(s[0] - m_new[0])
                            m[0] = m_new[0]
                            d[0] = d[0] * f[0] + s[0]
                            for i in T.serial(D):
                                acc[i] = acc[i] * f[0] + s[0] * pages[p[0], 1, h // group, j % page, i]
                        d[0] = T.max(d[0], T.float32(1e-30))
                        for i in T.serial(D):
                            out[r, h, i] = acc[i] / d[0]
                        lse[r, h] = m[0] + T.log2(d[0])

    return prefill_attention_kernel


def ragged_attention(heads, kv_heads, D):
    """Causal attention of new tokens among themselves; one thread per query and head."""
    group = heads // kv_heads
    BX = 16

    @T.prim_func(private=True, s_tir=True)
    def ragged_attention_kernel(
        p_q: T.handle, p_qptr: T.handle, p_k: T.handle, p_v: T.handle, p_kptr: T.handle,
        p_qrope: T.handle, p_krope: T.handle, p_out: T.handle, p_lse: T.handle,
        causal: T.int32, rotary_mode: T.int32, rope_scale: T.float32, rope_theta: T.float32, sm_scale: T.float32,
    ):  # fmt: skip
        T.func_attr({"tirx.is_scheduled": True})
        B = T.int32()
        total = T.int32()
        kv_len = T.int32()
        o0 = T.int32()
        o1 = T.int32()
        o2 = T.int32()
        o3 = T.int32()
        q = T.match_buffer(p_q, (total, heads, D), "float32")
        qptr = T.match_buffer(p_qptr, (B + 1,), "int32", elem_offset=o0)
        k = T.match_buffer(p_k, (kv_len, kv_heads, D), "float32")
        v = T.match_buffer(p_v, (kv_len, kv_heads, D), "float32")
        kptr = T.match_buffer(p_kptr, (B + 1,), "int32", elem_offset=o1)
        qrope = T.match_buffer(p_qrope, (total,), "int32", elem_offset=o2)
        krope = T.match_buffer(p_krope, (B,), "int32", elem_offset=o3)
        out = T.match_buffer(p_out, (total, heads, D), "float32")
        lse = T.match_buffer(p_lse, (total, heads), "float32")
        for bx in T.thread_binding((total * heads + BX - 1) // BX, thread="blockIdx.x"):
            for tx in T.thread_binding(BX, thread="threadIdx.x"):
                with T.sblock("attention"):
                    qv = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    seq = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    r = T.meta_var((bx * BX + tx) // heads)
                    h = T.meta_var((bx * BX + tx) % heads)
                    if r < total:
                        seq[0] = 0
                        for b in T.serial(B):
                            if r >= qptr[b + 1]:
                                seq[0] = b + 1
                        n[0] = kptr[seq[0] + 1] - kptr[seq[0]]
                        if causal > 0:
                            n[0] = n[0] - (qptr[seq[0] + 1] - 1 - r)
                        m[0] = T.float32(-5e4)
                        d[0] = T.float32(0)
                        for i in T.serial(D):
                            qv[i] = q[r, h, i] * (sm_scale * T.float32(LOG2E))
                            acc[i] = T.float32(0)
                        for j in T.serial(n[0]):
                            s[0] = T.float32(0)
                            for i in T.serial(D):
                                s[0] = s[0] + qv[i] * k[kptr[seq[0]] + j, h // group, i]
                            m_new[0] = T.max(m[0], s[0])
                            f[0] = T.exp2(m[0] - m_new[0])
                            s[0] = T.exp2(s[0] - m_new[0])
                            m[0] = m_new[0]
                            d[0] = d[0] * f[0] + s[0]
                            for i in T.serial(D):
                                acc[i] = acc[i] * f[0] + s[0] * v[kptr[seq[0]] + j, h // group, i]
                        d[0] = T.max(d[0], T.float32(1e-30))
                        for i in T.serial(D):
                            out[r, h, i] = acc[i] / d[0]
                        lse[r, h] = m[0] + T.log2(d[0])

    return ragged_attention_kernel


def merge_state(heads, D):
    """v, s := merged with v2, s2 (two parts of one softmax); a thread a row and head.

    TVM's own kernel has no barrier between reading s (all threads of a head) and writing it
    (also all of them): threads that run later read the merged value and scale wrongly.
    """

    @T.prim_func(s_tir=True)
    def merge_state_kernel(p_v: T.handle, p_s: T.handle, p_v2: T.handle, p_s2: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int32()
        v = T.match_buffer(p_v, (rows, heads, D), "float32")
        s = T.match_buffer(p_s, (rows, heads), "float32")
        v2 = T.match_buffer(p_v2, (rows, heads, D), "float32")
        s2 = T.match_buffer(p_s2, (rows, heads), "float32")
        for b in T.thread_binding((rows * heads + 7) // 8, thread="blockIdx.x"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.sblock("merge"):
                    a = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    a2 = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r = T.meta_var((b * 8 + t) // heads)
                    h = T.meta_var((b * 8 + t) % heads)
                    if r < rows:
                        top[0] = T.max(s[r, h], s2[r, h])
                        a[0] = T.exp2(s[r, h] - top[0])
                        a2[0] = T.exp2(s2[r, h] - top[0])
                        for i in T.serial(D):
                            v[r, h, i] = (v[r, h, i] * a[0] + v2[r, h, i] * a2[0]) / (a[0] + a2[0])
                        s[r, h] = top[0] + T.log2(a[0] + a2[0])

    return merge_state_kernel
