"""Kernels of the model itself.

Matrices are int8 in groups of 32 along the input with an f32 scale each, packed four
to an int32. A matrix [N, K] is stored in tiles of 64 outputs: words [N/64, K/4, 64],
scales [N/64, K/32, 64], so that neighbouring threads read neighbouring words. No
shader-f16 is needed.

What SwiftShader (4 lanes, Subzero) pays for: a load from a buffer costs some 70 cycles
whatever its pattern (four lanes, one by one, each with a bounds check), vector shifts are
done lane by lane too, arithmetic is nearly free. So a thread computes many columns for one
load of x, and bytes are taken out of a word with masks only: the first three are stored
as unsigned (value + 128), the fourth as signed, and the powers of 256 that the masks leave
behind go into x (one row) or into the dequantised weight (many rows). All of it is exact in f32.
"""

import functools
import math

from tvm.script import tirx as T

TX = 64
LOG2E = math.log2(math.e)


def vec_linear(K, N, TN):
    """out[0, n] = x[0] . w[n] for one row; a thread computes TN columns (a tile apart)."""
    tiles = N // TX
    groups = tiles // TN
    assert groups * TN * TX == N and K % 32 == 0

    @T.prim_func(private=True, s_tir=True)
    def vec_linear_kernel(p_x: T.handle, p_w: T.handle, p_s: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        x = T.match_buffer(p_x, (1, K), "float32")
        w = T.match_buffer(p_w, (tiles, K // 4, TX), "int32")
        s = T.match_buffer(p_s, (tiles, K // 32, TX), "float32")
        out = T.match_buffer(p_out, (1, N), "float32")
        for b in T.thread_binding(groups, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("linear"):
                    acc = T.sblock_alloc_buffer((TN,), "float32", scope="local")
                    part = T.sblock_alloc_buffer((TN,), "float32", scope="local")
                    xv = T.sblock_alloc_buffer((4,), "float32", scope="local")
                    sx = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    wv = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    for c in T.unroll(TN):
                        acc[c] = T.float32(0)
                    for g in T.serial(K // 32):
                        sx[0] = T.float32(0)
                        for c in T.unroll(TN):
                            part[c] = T.float32(0)
                        for k in T.serial(8):
                            for i in T.unroll(4):
                                xv[i] = x[0, g * 32 + k * 4 + i]
                            sx[0] = sx[0] + xv[0] + xv[1] + xv[2]
                            xv[1] = xv[1] * T.float32(0.00390625)  # 2^-8, 2^-16, 2^-24
                            xv[2] = xv[2] * T.float32(1.52587890625e-05)
                            xv[3] = xv[3] * T.float32(5.960464477539063e-08)
                            for c in T.unroll(TN):
                                wv[0] = w[b * TN + c, g * 8 + k, t]
                                part[c] = (
                                    part[c]
                                    + xv[0] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF))
                                    + xv[1] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF00))
                                    + xv[2] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF0000))
                                    + xv[3] * T.Cast("float32", T.bitwise_and(wv[0], -0x1000000))
                                )
                        for c in T.unroll(TN):
                            acc[c] = (
                                acc[c] + (part[c] - T.float32(128) * sx[0]) * s[b * TN + c, g, t]
                            )
                    for c in T.unroll(TN):
                        out[0, (b * TN + c) * TX + t] = acc[c]

    return vec_linear_kernel


def linear(K, N, TM, TN):
    """out[r, n] = x[r] . w[n]; a thread computes TM rows x TN columns."""
    tiles = N // TX
    groups = tiles // TN
    assert groups * TN * TX == N and K % 32 == 0

    @T.prim_func(private=True, s_tir=True)
    def linear_kernel(p_x: T.handle, p_w: T.handle, p_s: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, K), "float32")
        w = T.match_buffer(p_w, (tiles, K // 4, TX), "int32")
        s = T.match_buffer(p_s, (tiles, K // 32, TX), "float32")
        out = T.match_buffer(p_out, (rows, N), "float32")
        for b in T.thread_binding(((rows + TM - 1) // TM) * groups, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("linear"):
                    acc = T.sblock_alloc_buffer((TM * TN,), "float32", scope="local")
                    xv = T.sblock_alloc_buffer((4,), "float32", scope="local")
                    sv = T.sblock_alloc_buffer((TN,), "float32", scope="local")
                    wf = T.sblock_alloc_buffer((TN * 4,), "float32", scope="local")
                    wv = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    r0 = T.meta_var(b // groups * TM)
                    c0 = T.meta_var(b % groups * TN)
                    for i in T.unroll(TM * TN):
                        acc[i] = T.float32(0)
                    for g in T.serial(K // 32):
                        for c in T.unroll(TN):
                            sv[c] = s[c0 + c, g, t]
                        for k in T.serial(8):
                            for c in T.unroll(TN):
                                wv[0] = w[c0 + c, g * 8 + k, t]
                                wf[c * 4] = (
                                    T.Cast("float32", T.bitwise_and(wv[0], 0xFF)) - T.float32(128)
                                ) * sv[c]
                                wf[c * 4 + 1] = (
                                    T.Cast("float32", T.bitwise_and(wv[0], 0xFF00))
                                    * T.float32(0.00390625)
                                    - T.float32(128)
                                ) * sv[c]
                                wf[c * 4 + 2] = (
                                    T.Cast("float32", T.bitwise_and(wv[0], 0xFF0000))
                                    * T.float32(1.52587890625e-05)
                                    - T.float32(128)
                                ) * sv[c]
                                wf[c * 4 + 3] = (
                                    T.Cast("float32", T.bitwise_and(wv[0], -0x1000000))
                                    * T.float32(5.960464477539063e-08)
                                    * sv[c]
                                )
                            for r in T.unroll(TM):
                                for i in T.unroll(4):
                                    xv[i] = x[T.min(r0 + r, rows - 1), g * 32 + k * 4 + i]
                                for c in T.unroll(TN):
                                    acc[r * TN + c] = (
                                        acc[r * TN + c]
                                        + xv[0] * wf[c * 4]
                                        + xv[1] * wf[c * 4 + 1]
                                        + xv[2] * wf[c * 4 + 2]
                                        + xv[3] * wf[c * 4 + 3]
                                    )
                    for r in T.unroll(TM):
                        if r0 + r < rows:
                            for c in T.unroll(TN):
                                out[r0 + r, (c0 + c) * TX + t] = acc[r * TN + c]

    return linear_kernel


def geglu(F):
    """out[r, f] = gelu_tanh(x[r, f]) * x[r, F + f]."""

    @T.prim_func(private=True, s_tir=True)
    def geglu_kernel(p_x: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, 2 * F), "float32")
        out = T.match_buffer(p_out, (rows, F), "float32")
        for b in T.thread_binding(rows * (F // TX), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("geglu"):
                    a = T.sblock_alloc_buffer((2,), "float32", scope="local")
                    r = T.meta_var(b // (F // TX))
                    f = T.meta_var(b % (F // TX) * TX + t)
                    a[0] = x[r, f]
                    # tanh through exp of a clamped argument: no overflow
                    a[1] = T.float32(1.5957691216057308) * (
                        a[0] + T.float32(0.044715) * a[0] * a[0] * a[0]
                    )
                    a[1] = T.min(T.max(a[1], T.float32(-40)), T.float32(40))
                    out[r, f] = a[0] * x[r, F + f] / (T.float32(1) + T.exp(-a[1]))

    return geglu_kernel


def embed(V, H, blocks):
    """Rows of the embedding matrix (same tiles as the output head), times sqrt(H)."""
    assert blocks == 2
    tiles = V // blocks // TX

    @T.prim_func(private=True, s_tir=True)
    def embed_kernel(
        p_ids: T.handle,
        p_w0: T.handle,
        p_w1: T.handle,
        p_s0: T.handle,
        p_s1: T.handle,
        p_out: T.handle,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        ids = T.match_buffer(p_ids, (rows,), "int32")
        w0 = T.match_buffer(p_w0, (tiles, H // 4, TX), "int32")
        w1 = T.match_buffer(p_w1, (tiles, H // 4, TX), "int32")
        s0 = T.match_buffer(p_s0, (tiles, H // 32, TX), "float32")
        s1 = T.match_buffer(p_s1, (tiles, H // 32, TX), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for b in T.thread_binding((rows * (H // 4) + TX - 1) // TX, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("embed"):
                    wv = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    sv = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r = T.meta_var((b * TX + t) // (H // 4))
                    k = T.meta_var((b * TX + t) % (H // 4))
                    if r < rows:
                        if ids[r] < tiles * TX:
                            wv[0] = w0[ids[r] // TX, k, ids[r] % TX]
                            sv[0] = s0[ids[r] // TX, k // 8, ids[r] % TX]
                        else:
                            wv[0] = w1[(ids[r] - tiles * TX) // TX, k, ids[r] % TX]
                            sv[0] = s1[(ids[r] - tiles * TX) // TX, k // 8, ids[r] % TX]
                        sv[0] = sv[0] * T.float32(math.sqrt(H))
                        out[r, k * 4] = (
                            T.Cast("float32", T.bitwise_and(wv[0], 0xFF)) - T.float32(128)
                        ) * sv[0]
                        out[r, k * 4 + 1] = (
                            T.Cast("float32", T.bitwise_and(T.shift_right(wv[0], 8), 0xFF))
                            - T.float32(128)
                        ) * sv[0]
                        out[r, k * 4 + 2] = (
                            T.Cast("float32", T.bitwise_and(T.shift_right(wv[0], 16), 0xFF))
                            - T.float32(128)
                        ) * sv[0]
                        out[r, k * 4 + 3] = T.Cast("float32", T.shift_right(wv[0], 24)) * sv[0]

    return embed_kernel


def lm_head(V, H, blocks, TN):
    """Logits of one row; a thread computes TN columns. As vec_linear, the row block picked first."""
    assert blocks == 2
    tiles = V // blocks // TX
    groups = tiles // TN

    @T.prim_func(private=True, s_tir=True)
    def lm_head_kernel(
        p_x: T.handle,
        p_w0: T.handle,
        p_w1: T.handle,
        p_s0: T.handle,
        p_s1: T.handle,
        p_out: T.handle,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        x = T.match_buffer(p_x, (1, H), "float32")
        w0 = T.match_buffer(p_w0, (tiles, H // 4, TX), "int32")
        w1 = T.match_buffer(p_w1, (tiles, H // 4, TX), "int32")
        s0 = T.match_buffer(p_s0, (tiles, H // 32, TX), "float32")
        s1 = T.match_buffer(p_s1, (tiles, H // 32, TX), "float32")
        out = T.match_buffer(p_out, (1, V), "float32")
        for b in T.thread_binding(2 * groups, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("lm_head"):
                    acc = T.sblock_alloc_buffer((TN,), "float32", scope="local")
                    part = T.sblock_alloc_buffer((TN,), "float32", scope="local")
                    xv = T.sblock_alloc_buffer((4,), "float32", scope="local")
                    sx = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    wv = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    c0 = T.meta_var(b % groups * TN)
                    for c in T.unroll(TN):
                        acc[c] = T.float32(0)
                    if b < groups:
                        for g in T.serial(H // 32):
                            sx[0] = T.float32(0)
                            for c in T.unroll(TN):
                                part[c] = T.float32(0)
                            for k in T.serial(8):
                                for i in T.unroll(4):
                                    xv[i] = x[0, g * 32 + k * 4 + i]
                                sx[0] = sx[0] + xv[0] + xv[1] + xv[2]
                                xv[1] = xv[1] * T.float32(0.00390625)
                                xv[2] = xv[2] * T.float32(1.52587890625e-05)
                                xv[3] = xv[3] * T.float32(5.960464477539063e-08)
                                for c in T.unroll(TN):
                                    wv[0] = w0[c0 + c, g * 8 + k, t]
                                    part[c] = (
                                        part[c]
                                        + xv[0] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF))
                                        + xv[1] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF00))
                                        + xv[2] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF0000))
                                        + xv[3]
                                        * T.Cast("float32", T.bitwise_and(wv[0], -0x1000000))
                                    )
                            for c in T.unroll(TN):
                                acc[c] = (
                                    acc[c] + (part[c] - T.float32(128) * sx[0]) * s0[c0 + c, g, t]
                                )
                    else:
                        for g in T.serial(H // 32):
                            sx[0] = T.float32(0)
                            for c in T.unroll(TN):
                                part[c] = T.float32(0)
                            for k in T.serial(8):
                                for i in T.unroll(4):
                                    xv[i] = x[0, g * 32 + k * 4 + i]
                                sx[0] = sx[0] + xv[0] + xv[1] + xv[2]
                                xv[1] = xv[1] * T.float32(0.00390625)
                                xv[2] = xv[2] * T.float32(1.52587890625e-05)
                                xv[3] = xv[3] * T.float32(5.960464477539063e-08)
                                for c in T.unroll(TN):
                                    wv[0] = w1[c0 + c, g * 8 + k, t]
                                    part[c] = (
                                        part[c]
                                        + xv[0] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF))
                                        + xv[1] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF00))
                                        + xv[2] * T.Cast("float32", T.bitwise_and(wv[0], 0xFF0000))
                                        + xv[3]
                                        * T.Cast("float32", T.bitwise_and(wv[0], -0x1000000))
                                    )
                            for c in T.unroll(TN):
                                acc[c] = (
                                    acc[c] + (part[c] - T.float32(128) * sx[0]) * s1[c0 + c, g, t]
                                )
                    for c in T.unroll(TN):
                        out[0, (b * TN + c) * TX + t] = acc[c]

    return lm_head_kernel


def norm(H, eps):
    """RMSNorm of each row; a workgroup a row."""
    per = H // TX

    @T.prim_func(private=True, s_tir=True)
    def norm_kernel(p_x: T.handle, p_w: T.handle, p_out: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        x = T.match_buffer(p_x, (rows, H), "float32")
        w = T.match_buffer(p_w, (H,), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for r in T.thread_binding(rows, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("norm"):
                    sums = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s[0] = T.float32(0)
                    for i in T.serial(per):
                        s[0] = s[0] + x[r, i * TX + t] * x[r, i * TX + t]
                    sums[t] = s[0]
                    T.tvm_storage_sync("shared")
                    s[0] = T.float32(0)
                    for i in T.serial(TX):
                        s[0] = s[0] + sums[i]
                    s[0] = T.rsqrt(s[0] / T.float32(H) + T.float32(eps))
                    for i in T.serial(per):
                        out[r, i * TX + t] = x[r, i * TX + t] * s[0] * w[i * TX + t]

    return norm_kernel


def norm_add_norm(H, eps):
    """res' = res + norm(y) * w1; out = norm(res') * w2; a workgroup a row."""
    per = H // TX

    @T.prim_func(private=True, s_tir=True)
    def norm_add_norm_kernel(
        p_y: T.handle,
        p_res: T.handle,
        p_w1: T.handle,
        p_w2: T.handle,
        p_sum: T.handle,
        p_out: T.handle,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        y = T.match_buffer(p_y, (rows, H), "float32")
        res = T.match_buffer(p_res, (rows, H), "float32")
        w1 = T.match_buffer(p_w1, (H,), "float32")
        w2 = T.match_buffer(p_w2, (H,), "float32")
        total = T.match_buffer(p_sum, (rows, H), "float32")
        out = T.match_buffer(p_out, (rows, H), "float32")
        for r in T.thread_binding(rows, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("norm"):
                    sums = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    sums2 = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    q = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    v = T.sblock_alloc_buffer((per,), "float32", scope="local")
                    s[0] = T.float32(0)
                    for i in T.unroll(per):
                        v[i] = y[r, i * TX + t]
                        s[0] = s[0] + v[i] * v[i]
                    sums[t] = s[0]
                    T.tvm_storage_sync("shared")
                    s[0] = T.float32(0)
                    for i in T.serial(TX):
                        s[0] = s[0] + sums[i]
                    s[0] = T.rsqrt(s[0] / T.float32(H) + T.float32(eps))
                    q[0] = T.float32(0)
                    for i in T.unroll(per):
                        v[i] = res[r, i * TX + t] + v[i] * s[0] * w1[i * TX + t]
                        q[0] = q[0] + v[i] * v[i]
                        total[r, i * TX + t] = v[i]
                    sums2[t] = q[0]
                    T.tvm_storage_sync("shared")
                    q[0] = T.float32(0)
                    for i in T.serial(TX):
                        q[0] = q[0] + sums2[i]
                    q[0] = T.rsqrt(q[0] / T.float32(H) + T.float32(eps))
                    for i in T.unroll(per):
                        out[r, i * TX + t] = v[i] * q[0] * w2[i * TX + t]

    return norm_add_norm_kernel


# One object a shape: a free offset variable hides equal kernels from TVM's deduplication.
@functools.cache
def qk_norm_rope(heads, kv_heads, D, eps, context, kind):
    """Splits the fused projection into heads, norms and rotates the q and k ones.

    The cosines and sines are a table [2, context, D/2, 2] made when the weights are
    packed (WGSL promises little about sin and cos of large arguments); kind picks the
    table of the local (0) or global (1) layers. A workgroup per row and head.
    """
    H = heads + 2 * kv_heads
    half = D // 2
    per = half // TX

    @T.prim_func(private=True, s_tir=True)
    def qk_norm_rope_kernel(
        p_x: T.handle,
        p_pos: T.handle,
        p_rope: T.handle,
        p_q: T.handle,
        p_k: T.handle,
        p_out: T.handle,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int64()
        off = T.int32()
        x = T.match_buffer(p_x, (rows, H * D), "float32")
        pos = T.match_buffer(p_pos, (rows,), "int32", elem_offset=off)
        rope = T.match_buffer(p_rope, (2, context, half, 2), "float32")
        wq = T.match_buffer(p_q, (D,), "float32")
        wk = T.match_buffer(p_k, (D,), "float32")
        out = T.match_buffer(p_out, (1, rows, H, D), "float32")
        for b in T.thread_binding(rows * H, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("norm"):
                    sums = T.sblock_alloc_buffer((TX,), "float32", scope="shared")
                    s = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    lo = T.sblock_alloc_buffer((per,), "float32", scope="local")
                    hi = T.sblock_alloc_buffer((per,), "float32", scope="local")
                    c = T.sblock_alloc_buffer((2,), "float32", scope="local")
                    p = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    r = T.meta_var(b // H)
                    h = T.meta_var(b % H)
                    s[0] = T.float32(0)
                    for i in T.unroll(per):
                        lo[i] = x[r, h * D + i * TX + t]
                        hi[i] = x[r, h * D + half + i * TX + t]
                        s[0] = s[0] + lo[i] * lo[i] + hi[i] * hi[i]
                    sums[t] = s[0]
                    T.tvm_storage_sync("shared")
                    if h < heads + kv_heads:
                        s[0] = T.float32(0)
                        for i in T.serial(TX):
                            s[0] = s[0] + sums[i]
                        s[0] = T.rsqrt(s[0] / T.float32(D) + T.float32(eps))
                        p[0] = T.min(T.max(pos[r], 0), context - 1)
                        for i in T.unroll(per):
                            lo[i] = (
                                lo[i]
                                * s[0]
                                * T.if_then_else(h < heads, wq[i * TX + t], wk[i * TX + t])
                            )
                            hi[i] = (
                                hi[i]
                                * s[0]
                                * T.if_then_else(
                                    h < heads, wq[half + i * TX + t], wk[half + i * TX + t]
                                )
                            )
                            c[0] = rope[kind, p[0], i * TX + t, 0]
                            c[1] = rope[kind, p[0], i * TX + t, 1]
                            out[0, r, h, i * TX + t] = lo[i] * c[0] - hi[i] * c[1]
                            out[0, r, h, half + i * TX + t] = hi[i] * c[0] + lo[i] * c[1]
                    else:
                        for i in T.unroll(per):
                            out[0, r, h, i * TX + t] = lo[i]
                            out[0, r, h, half + i * TX + t] = hi[i]

    return qk_norm_rope_kernel


def split_qkv(heads, kv_heads, D):
    """The cache's rotary slot; the rotation is already done, so only a copy."""
    H = heads + 2 * kv_heads

    @T.prim_func(s_tir=True)
    def split_qkv_kernel(
        p_x: T.handle,
        p_pos: T.handle,
        p_q: T.handle,
        p_k: T.handle,
        p_v: T.handle,
        apply_rope: T.int64,
    ):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int32()
        off = T.int32()
        x = T.match_buffer(p_x, (rows, H, D), "float32")
        pos = T.match_buffer(p_pos, (rows,), "int32", elem_offset=off)
        q = T.match_buffer(p_q, (rows, heads, D), "float32")
        k = T.match_buffer(p_k, (rows, kv_heads, D), "float32")
        v = T.match_buffer(p_v, (rows, kv_heads, D), "float32")
        for b in T.thread_binding(rows * H * (D // TX), thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("split"):
                    r = T.meta_var(b // (H * (D // TX)))
                    h = T.meta_var(b // (D // TX) % H)
                    i = T.meta_var(b % (D // TX) * TX + t)
                    if h < heads:
                        q[r, h, i] = x[r, h, i]
                    else:
                        if h < heads + kv_heads:
                            k[r, h - heads, i] = x[r, h, i]
                        else:
                            v[r, h - heads - kv_heads, i] = x[r, h, i]

    return split_qkv_kernel


# ---- attention -----------------------------------------------------------------
# One thread per query and head; TJ keys at a time, so that a load of q or of the
# running output serves TJ keys. The sign of sm_scale tells the layer's kind: negative
# means a local layer, which sees only the last `window` tokens. (The cache passes
# sm_scale through untouched.)
TJ = 8


def decode_attention(heads, kv_heads, D, page, window):
    """One query per sequence against the paged cache."""
    group = heads // kv_heads

    @T.prim_func(private=True, s_tir=True)
    def decode_attention_kernel(
        p_q: T.handle,
        p_pages: T.handle,
        p_indptr: T.handle,
        p_values: T.handle,
        p_length: T.handle,
        p_krope: T.handle,
        p_qrope: T.handle,
        p_out: T.handle,
        p_lse: T.handle,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        sm_scale: T.float32,
    ):
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
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((TJ,), "float32", scope="local")
                    qi = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    j0 = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    at = T.sblock_alloc_buffer((TJ,), "int32", scope="local")
                    page_of = T.sblock_alloc_buffer((TJ,), "int32", scope="local")
                    n[0] = 0
                    if indptr[b + 1] > indptr[b]:
                        n[0] = (indptr[b + 1] - indptr[b] - 1) * page + length[b]
                    j0[0] = 0
                    if sm_scale < T.float32(0):
                        j0[0] = T.max(n[0] - window, 0)
                    m[0] = T.float32(-5e4)
                    d[0] = T.float32(0)
                    for i in T.serial(D):
                        acc[i] = T.float32(0)
                    for jb in T.serial((n[0] - j0[0] + (TJ - 1)) // TJ):
                        for u in T.unroll(TJ):
                            s[u] = T.float32(0)
                            at[u] = T.min(j0[0] + jb * TJ + u, n[0] - 1)
                            page_of[u] = values[indptr[b] + at[u] // page]
                            at[u] = at[u] % page
                        for i in T.serial(D):
                            qi[0] = q[b, h, i]
                            for u in T.unroll(TJ):
                                s[u] = s[u] + qi[0] * pages[page_of[u], 0, h // group, at[u], i]
                        m_new[0] = m[0]
                        for u in T.unroll(TJ):
                            s[u] = s[u] * (T.max(sm_scale, -sm_scale) * T.float32(LOG2E))
                            if j0[0] + jb * TJ + u >= n[0]:
                                s[u] = T.float32(-5e4)
                            m_new[0] = T.max(m_new[0], s[u])
                        f[0] = T.exp2(m[0] - m_new[0])
                        m[0] = m_new[0]
                        d[0] = d[0] * f[0]
                        for u in T.unroll(TJ):
                            s[u] = T.exp2(s[u] - m_new[0])
                            d[0] = d[0] + s[u]
                        for i in T.serial(D):
                            qi[0] = acc[i] * f[0]
                            for u in T.unroll(TJ):
                                qi[0] = qi[0] + s[u] * pages[page_of[u], 1, h // group, at[u], i]
                            acc[i] = qi[0]
                    d[0] = T.max(d[0], T.float32(1e-30))
                    for i in T.serial(D):
                        out[b, h, i] = acc[i] / d[0]
                    lse[b, h] = m[0] + T.log2(d[0])

    return decode_attention_kernel


def prefill_attention(heads, kv_heads, D, page, window):
    """Several queries against the paged cache."""
    group = heads // kv_heads
    BX = 16

    @T.prim_func(private=True, s_tir=True)
    def prefill_attention_kernel(
        p_q: T.handle,
        p_qptr: T.handle,
        p_pages: T.handle,
        p_indptr: T.handle,
        p_values: T.handle,
        p_length: T.handle,
        p_krope: T.handle,
        p_qrope: T.handle,
        p_out: T.handle,
        p_lse: T.handle,
        causal: T.int32,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        sm_scale: T.float32,
    ):
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
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((TJ,), "float32", scope="local")
                    qi = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    j0 = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    at = T.sblock_alloc_buffer((TJ,), "int32", scope="local")
                    page_of = T.sblock_alloc_buffer((TJ,), "int32", scope="local")
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
                        j0[0] = 0
                        if causal > 0:
                            # the cache already holds the new tokens
                            n[0] = n[0] - (qptr[seq[0] + 1] - 1 - r)
                            if sm_scale < T.float32(0):
                                j0[0] = T.max(n[0] - window, 0)
                        else:
                            # n older tokens; this query is number r - qptr after them
                            if sm_scale < T.float32(0):
                                j0[0] = T.min(
                                    T.max(n[0] + (r - qptr[seq[0]]) + 1 - window, 0), n[0]
                                )
                        m[0] = T.float32(-5e4)
                        d[0] = T.float32(0)
                        for i in T.serial(D):
                            acc[i] = T.float32(0)
                        for jb in T.serial((n[0] - j0[0] + (TJ - 1)) // TJ):
                            for u in T.unroll(TJ):
                                s[u] = T.float32(0)
                                at[u] = T.min(j0[0] + jb * TJ + u, n[0] - 1)
                                page_of[u] = values[indptr[seq[0]] + at[u] // page]
                                at[u] = at[u] % page
                            for i in T.serial(D):
                                qi[0] = q[r, h, i]
                                for u in T.unroll(TJ):
                                    s[u] = s[u] + qi[0] * pages[page_of[u], 0, h // group, at[u], i]
                            m_new[0] = m[0]
                            for u in T.unroll(TJ):
                                s[u] = s[u] * (T.max(sm_scale, -sm_scale) * T.float32(LOG2E))
                                if j0[0] + jb * TJ + u >= n[0]:
                                    s[u] = T.float32(-5e4)
                                m_new[0] = T.max(m_new[0], s[u])
                            f[0] = T.exp2(m[0] - m_new[0])
                            m[0] = m_new[0]
                            d[0] = d[0] * f[0]
                            for u in T.unroll(TJ):
                                s[u] = T.exp2(s[u] - m_new[0])
                                d[0] = d[0] + s[u]
                            for i in T.serial(D):
                                qi[0] = acc[i] * f[0]
                                for u in T.unroll(TJ):
                                    qi[0] = (
                                        qi[0] + s[u] * pages[page_of[u], 1, h // group, at[u], i]
                                    )
                                acc[i] = qi[0]
                        d[0] = T.max(d[0], T.float32(1e-30))
                        for i in T.serial(D):
                            out[r, h, i] = acc[i] / d[0]
                        lse[r, h] = m[0] + T.log2(d[0])

    return prefill_attention_kernel


def ragged_attention(heads, kv_heads, D):
    """Causal attention of new tokens among themselves (a chunk is shorter than the window)."""
    group = heads // kv_heads
    BX = 16

    @T.prim_func(private=True, s_tir=True)
    def ragged_attention_kernel(
        p_q: T.handle,
        p_qptr: T.handle,
        p_k: T.handle,
        p_v: T.handle,
        p_kptr: T.handle,
        p_qrope: T.handle,
        p_krope: T.handle,
        p_out: T.handle,
        p_lse: T.handle,
        causal: T.int32,
        rotary_mode: T.int32,
        rope_scale: T.float32,
        rope_theta: T.float32,
        sm_scale: T.float32,
    ):
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
                    acc = T.sblock_alloc_buffer((D,), "float32", scope="local")
                    m = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    m_new = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    d = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    s = T.sblock_alloc_buffer((TJ,), "float32", scope="local")
                    qi = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    f = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    n = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    j0 = T.sblock_alloc_buffer((1,), "int32", scope="local")
                    at = T.sblock_alloc_buffer((TJ,), "int32", scope="local")
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
                        j0[0] = 0
                        m[0] = T.float32(-5e4)
                        d[0] = T.float32(0)
                        for i in T.serial(D):
                            acc[i] = T.float32(0)
                        for jb in T.serial((n[0] - j0[0] + (TJ - 1)) // TJ):
                            for u in T.unroll(TJ):
                                s[u] = T.float32(0)
                                at[u] = kptr[seq[0]] + T.min(jb * TJ + u, n[0] - 1)
                            for i in T.serial(D):
                                qi[0] = q[r, h, i]
                                for u in T.unroll(TJ):
                                    s[u] = s[u] + qi[0] * k[at[u], h // group, i]
                            m_new[0] = m[0]
                            for u in T.unroll(TJ):
                                s[u] = s[u] * (T.max(sm_scale, -sm_scale) * T.float32(LOG2E))
                                if j0[0] + jb * TJ + u >= n[0]:
                                    s[u] = T.float32(-5e4)
                                m_new[0] = T.max(m_new[0], s[u])
                            f[0] = T.exp2(m[0] - m_new[0])
                            m[0] = m_new[0]
                            d[0] = d[0] * f[0]
                            for u in T.unroll(TJ):
                                s[u] = T.exp2(s[u] - m_new[0])
                                d[0] = d[0] + s[u]
                            for i in T.serial(D):
                                qi[0] = acc[i] * f[0]
                                for u in T.unroll(TJ):
                                    qi[0] = qi[0] + s[u] * v[at[u], h // group, i]
                                acc[i] = qi[0]
                        d[0] = T.max(d[0], T.float32(1e-30))
                        for i in T.serial(D):
                            out[r, h, i] = acc[i] / d[0]
                        lse[r, h] = m[0] + T.log2(d[0])

    return ragged_attention_kernel


def merge_state(heads, D):
    """v, s := merged with v_other, s_other (two parts of one softmax); a workgroup a row and head.

    TVM's own kernel has no barrier between reading s (all threads of a head) and writing it
    (also all of them): subgroups that run later read the merged value and scale wrongly.
    """
    per = D // TX

    @T.prim_func(s_tir=True)
    def merge_state_kernel(p_v: T.handle, p_s: T.handle, p_v2: T.handle, p_s2: T.handle):
        T.func_attr({"tirx.is_scheduled": True, "tirx.noalias": True})
        rows = T.int32()
        v = T.match_buffer(p_v, (rows, heads, D), "float32")
        s = T.match_buffer(p_s, (rows, heads), "float32")
        v2 = T.match_buffer(p_v2, (rows, heads, D), "float32")
        s2 = T.match_buffer(p_s2, (rows, heads), "float32")
        for b in T.thread_binding(rows * heads, thread="blockIdx.x"):
            for t in T.thread_binding(TX, thread="threadIdx.x"):
                with T.sblock("merge"):
                    a = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    a2 = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    top = T.sblock_alloc_buffer((1,), "float32", scope="local")
                    r = T.meta_var(b // heads)
                    h = T.meta_var(b % heads)
                    a[0] = s[r, h]
                    a2[0] = s2[r, h]
                    top[0] = T.max(a[0], a2[0])
                    a[0] = T.exp2(a[0] - top[0])
                    a2[0] = T.exp2(a2[0] - top[0])
                    for i in T.unroll(per):
                        v[r, h, i * TX + t] = (
                            v[r, h, i * TX + t] * a[0] + v2[r, h, i * TX + t] * a2[0]
                        ) / (a[0] + a2[0])
                    T.tvm_storage_sync("shared")
                    if t == 0:
                        s[r, h] = top[0] + T.log2(a[0] + a2[0])

    return merge_state_kernel
