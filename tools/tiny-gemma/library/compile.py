"""model.py and kernels.py to object files for the linker: python -m library.compile FOLDER"""

import json
import os
import shutil
import sys

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.s_tir import dlight as dl
from tvm.target import Target

from config import Config

from . import kernels
from .model import TinyGemma

TARGET = Target(
    {"kind": "webgpu", "max_num_threads": 256},
    host={"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm", "mcpu": "generic"},
)


def tensor(shape, dtype="float32"):
    return relax.TensorType(shape, dtype)


def add_samplers(mod, vocab):
    bb = relax.BlockBuilder(mod)
    dim = lambda name: tvm.tirx.Var(name, "int64")  # noqa: E731
    words = (vocab + 31) // 32

    def simple(name, inputs, kernel, outputs):
        args = [relax.Var(n, ty) for n, ty in inputs]
        with bb.function(name, args):
            gv = bb.add_func(kernel, name + "_kernel")
            bb.emit_func_output(bb.emit(relax.call_tir(gv, args, outputs)))

    def inplace(name, inputs, kernel):
        args = [relax.Var(n, ty) for n, ty in inputs]
        with bb.function(name, args):
            gv = bb.add_func(kernel, name + "_kernel")
            bb.emit_func_output(bb.emit(relax.op.call_tir_inplace(gv, args, [0], inputs[0][1])))

    n = dim("n")
    simple("softmax_with_temperature", [("logits", tensor((n, 1, vocab))), ("temperature", tensor((n,)))],
           kernels.softmax_with_temperature(vocab), tensor((n, 1, vocab)))
    n = dim("n")
    simple("argsort_probs", [("probs", tensor((n, vocab)))], kernels.argsort_probs(vocab),
           [tensor((n, vocab)), tensor((n, vocab), "int32")])
    n, k = dim("n"), dim("k")
    simple("sample_with_top_p",
           [("sorted_probs", tensor((n, vocab))), ("sorted_indices", tensor((n, vocab), "int32")),
            ("uniform", tensor((k,))), ("sample_indices", tensor((k,), "int32")), ("top_p", tensor((n,)))],
           kernels.sample_with_top_p(vocab), tensor((k,), "int32"))
    n, k = dim("n"), dim("k")
    inplace("apply_logit_bias_inplace",
            [("logits", tensor((n, vocab))), ("pos2seq", tensor((k,), "int32")),
             ("tokens", tensor((k,), "int32")), ("bias", tensor((k,)))],
            kernels.apply_logit_bias(vocab))
    n, m, k = dim("n"), dim("m"), dim("k")
    inplace("apply_penalty_inplace",
            [("logits", tensor((n, vocab))), ("seq_ids", tensor((m,), "int32")),
             ("pos2seq", tensor((k,), "int32")), ("tokens", tensor((k,), "int32")),
             ("counts", tensor((k,), "int32")), ("penalties", tensor((m, 3)))],
            kernels.apply_penalty(vocab))
    n, m = dim("n"), dim("m")
    inplace("apply_bitmask_inplace",
            [("logits", tensor((n, vocab))), ("seq_ids", tensor((m,), "int32")),
             ("mask", tensor((n, words), "int32"))],
            kernels.apply_bitmask(vocab))
    return bb


def add_metadata(bb, c, named_params):
    meta = {
        "model_type": "gemma3",
        "quantization": "q0f32",
        "context_window_size": c.context,
        "sliding_window_size": -1,
        "attention_sink_size": -1,
        "prefill_chunk_size": c.prefill_chunk,
        "max_batch_size": 1,
        "tensor_parallel_shards": 1,
        "kv_state_kind": "kv_cache",
        "params": [
            {"name": n, "shape": [int(d) for d in p.shape], "dtype": p.dtype, "preprocs": []} for n, p in named_params
        ],
        "memory_usage": {},
        "kv_cache": {"num_hidden_layers": c.layers, "num_attention_heads": c.heads,
                     "num_key_value_heads": c.kv_heads, "head_dim": c.head_dim},
    }
    with bb.function("_metadata", []):
        bb.emit_func_output(tvm.ir.StringImm(json.dumps(meta)))


@tvm.transform.module_pass(opt_level=0)
def order_shape_stores(mod, ctx):
    """Sorts the stores of the functions that compute shapes by their slot.

    TVM emits them in the order of a hash table of pointers, which changes from run to run; each
    only reads the slots of the inputs, so any order is right, and a fixed one gives fixed bytes.
    """
    for var, function in mod.functions.items():
        if var.name_hint.startswith("shape_func") and isinstance(function.body, tvm.tirx.SeqStmt):
            stores = sorted(function.body.seq, key=lambda store: int(store.indices[0]))
            mod.update_func(var, function.with_body(tvm.tirx.SeqStmt(stores)))
    return mod


@tvm.transform.module_pass(opt_level=0)
def pipeline(mod, ctx):
    with TARGET:
        return tvm.transform.Sequential([
            relax.transform.LegalizeOps(),
            relax.transform.AnnotateTIROpPattern(),
            relax.transform.FoldConstant(),
            relax.transform.FuseOps(),
            relax.transform.FuseTIR(),
            relax.transform.DeadCodeElimination(),
            dl.ApplyDefaultSchedule(dl.gpu.Matmul(), dl.gpu.GEMV(), dl.gpu.Reduction(),
                                    dl.gpu.GeneralReduction(), dl.gpu.Fallback()),
            relax.transform.RewriteDataflowReshape(),
            relax.transform.ToNonDataflow(),
            relax.transform.RemovePurityChecking(),
            relax.transform.CallTIRRewrite(),
            relax.transform.StaticPlanBlockMemory(),
            relax.transform.LowerAllocTensor(),
            relax.transform.KillAfterLastUse(),
            relax.transform.LowerRuntimeBuiltin(),
            relax.transform.ComputePrimValue(),
            relax.transform.VMShapeLower(),
            order_shape_stores,
            relax.transform.AttachGlobalSymbol(),
        ])(mod)


def main(out_dir):
    c = Config()
    with TARGET:
        model = TinyGemma(c)
        mod, named_params = model.export_tvm(model.spec())
        bb = add_samplers(mod, c.vocab)
        add_metadata(bb, c, named_params)
        mod = bb.finalize()
        ex = relax.build(mod, TARGET, relax_pipeline=pipeline, system_lib=True)
    os.makedirs(out_dir, exist_ok=True)

    def keep_objects(output, objects, **kwargs):
        for i, o in enumerate(objects):
            dst = os.path.join(out_dir, f"model{i}" + os.path.splitext(o)[1])
            shutil.copy(o, dst)
        open(output, "w").close()

    keep_objects.output_format = "wasm"
    ex.export_library(os.path.join(out_dir, "unused.wasm"), fcompile=keep_objects)


if __name__ == "__main__":
    main(sys.argv[1])
