"""Compiles model.py with its kernels for WebGPU: object files for the linker, metadata.json.

python compile_model.py OUT_FOLDER. With SHOW=1 the module is printed before it is lowered.
"""

import json
import os
import shutil
import sys

import tvm
from tvm import relax
from tvm.s_tir import dlight as dl
from tvm.target import Target

import kernels
from model import Config, Gemma

TARGET = Target(
    {"kind": "webgpu", "max_num_threads": 256},
    host={"kind": "llvm", "mtriple": "wasm32-unknown-unknown-wasm", "mcpu": "generic"},
)


def tensor(shape, dtype="float32"):
    return relax.TensorType(shape, dtype)


def dim(name):
    return tvm.tirx.Var(name, "int64")


def add_samplers(mod, vocab):
    """The functions around the model that WebLLM looks up by name; kernels.py has their kernels."""
    bb = relax.BlockBuilder(mod)
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
    logits = relax.Var("logits", tensor((n, 1, vocab)))
    temp = relax.Var("temperature", tensor((n,)))
    with bb.function("softmax_with_temperature", [logits, temp]):
        part = bb.emit(
            relax.call_tir(
                bb.add_func(kernels.partial_softmax(vocab), "partial_softmax"),
                [logits, temp],
                tensor((n, kernels.SEG, 2)),
            )
        )
        total = bb.emit(
            relax.call_tir(
                bb.add_func(kernels.total_softmax(), "total_softmax"), [part, temp], tensor((n, 2))
            )
        )
        probs = bb.emit(
            relax.call_tir(
                bb.add_func(kernels.apply_softmax(vocab), "apply_softmax"),
                [logits, temp, total],
                tensor((n, 1, vocab)),
            )
        )
        bb.emit_func_output(probs)
    n = dim("n")
    probs = relax.Var("probs", tensor((n, vocab)))
    with bb.function("argsort_probs", [probs]):
        best = bb.emit(
            relax.call_tir(
                bb.add_func(kernels.segment_argmax(vocab), "segment_argmax"),
                [probs],
                tensor((n, kernels.SEG), "int32"),
            )
        )
        bb.emit_func_output(relax.Tuple([probs, best]))
    n, k = dim("n"), dim("k")
    simple(
        "sample_with_top_p",
        [
            ("probs", tensor((n, vocab))),
            ("best", tensor((n, kernels.SEG), "int32")),
            ("uniform", tensor((k,))),
            ("sample_indices", tensor((k,), "int32")),
            ("top_p", tensor((n,))),
        ],
        kernels.sample_with_top_p(vocab),
        tensor((k,), "int32"),
    )
    n, k = dim("n"), dim("k")
    inplace(
        "apply_logit_bias_inplace",
        [
            ("logits", tensor((n, vocab))),
            ("pos2seq", tensor((k,), "int32")),
            ("tokens", tensor((k,), "int32")),
            ("bias", tensor((k,))),
        ],
        kernels.apply_logit_bias(vocab),
    )
    n, m, k = dim("n"), dim("m"), dim("k")
    inplace(
        "apply_penalty_inplace",
        [
            ("logits", tensor((n, vocab))),
            ("seq_ids", tensor((m,), "int32")),
            ("pos2seq", tensor((k,), "int32")),
            ("tokens", tensor((k,), "int32")),
            ("counts", tensor((k,), "int32")),
            ("penalties", tensor((m, 3))),
        ],
        kernels.apply_penalty(vocab),
    )
    n, m = dim("n"), dim("m")
    inplace(
        "apply_bitmask_inplace",
        [
            ("logits", tensor((n, vocab))),
            ("seq_ids", tensor((m,), "int32")),
            ("mask", tensor((n, words), "int32")),
        ],
        kernels.apply_bitmask(vocab),
    )
    return bb


def add_metadata(bb, c, named_params):
    """What WebLLM asks the library about itself."""
    meta = {
        "model_type": "gemma3",
        "quantization": "q8f32_32",
        "context_window_size": c.context,
        "sliding_window_size": -1,
        "attention_sink_size": -1,
        "prefill_chunk_size": c.prefill_chunk,
        "max_batch_size": 1,
        "tensor_parallel_shards": 1,
        "kv_state_kind": "kv_cache",
        "params": [
            {"name": n, "shape": [int(d) for d in p.shape], "dtype": p.dtype, "preprocs": []}
            for n, p in named_params
        ],
        "memory_usage": {},
        "kv_cache": {
            "num_hidden_layers": c.layers,
            "num_attention_heads": c.heads,
            "num_key_value_heads": c.kv_heads,
            "head_dim": c.head_dim,
        },
    }
    with bb.function("_metadata", []):
        bb.emit_func_output(tvm.ir.StringImm(json.dumps(meta)))
    return meta


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
        return tvm.transform.Sequential(
            [
                relax.transform.LegalizeOps(),
                relax.transform.AnnotateTIROpPattern(),
                relax.transform.FoldConstant(),
                relax.transform.FuseOps(),
                relax.transform.FuseTIR(),
                relax.transform.DeadCodeElimination(),
                dl.ApplyDefaultSchedule(
                    dl.gpu.Matmul(),
                    dl.gpu.GEMV(),
                    dl.gpu.Reduction(),
                    dl.gpu.GeneralReduction(),
                    dl.gpu.Fallback(),
                ),
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
            ]
        )(mod)


def main(out_dir):
    c = Config()
    with TARGET:
        model = Gemma(c)
        mod, named_params = model.export_tvm(model.spec())
        bb = add_samplers(mod, c.vocab)
        meta = add_metadata(bb, c, named_params)
        mod = bb.finalize()
        if os.environ.get("SHOW"):
            print(mod.script())
        executable = relax.build(mod, TARGET, relax_pipeline=pipeline, system_lib=True)
    os.makedirs(out_dir, exist_ok=True)
    with open(os.path.join(out_dir, "metadata.json"), "w") as f:
        json.dump(meta, f, indent=1)

    def keep_objects(output, objects, **_):
        """Takes the place of TVM's linker (emscripten): build.sh links the objects itself."""
        for i, path in enumerate(objects):
            shutil.copy(path, os.path.join(out_dir, f"model{i}" + os.path.splitext(path)[1]))
        open(output, "w").close()

    keep_objects.output_format = "wasm"
    executable.export_library(os.path.join(out_dir, "unused.wasm"), fcompile=keep_objects)


if __name__ == "__main__":
    main(sys.argv[1])
