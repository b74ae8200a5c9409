"""Packs weights for WebLLM: python -m weights.pack WEIGHTS FOLDER

WEIGHTS is what train.py saved, or a folder that was packed before. Writes tensor-cache.json,
params_shard_0.bin (matrices as bfloat16: half the size, and the library makes float32 of them while it
loads; they were rounded to it when they were saved) and mlc-chat-config.json.
"""

import json
import os
import sys

import numpy as np

from config import Config

LAYER = (
    "qkv_proj", "q_norm", "k_norm", "o_proj", "gate_up_proj", "down_proj", "input_layernorm",
    "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm",
)  # fmt: skip


def names(c):
    """The parameters in the library's order."""
    layers = [f"layers.{i}.{name}.weight" for i in range(c.layers) for name in LAYER]
    return ["embed_tokens.weight", *layers, "norm.weight"]


def unpack(folder):
    """Every parameter of a packed folder, as float32."""
    with open(os.path.join(folder, "tensor-cache.json")) as file:
        (shard,) = json.load(file)["records"]
    data = np.fromfile(os.path.join(folder, shard["dataPath"]), "uint8")
    found = {}
    for record in shard["records"]:
        part = data[record["byteOffset"] : record["byteOffset"] + record["nbytes"]]
        if record["format"] == "f32-to-bf16":
            array = (part.view("uint16").astype("uint32") << 16).view("float32")
        else:
            array = part.view("float32")
        found[record["name"]] = array.reshape(record["shape"])
    return found


def pack(weights, folder):
    records, parts, offset = [], [], 0
    for name in names(Config()):
        array = np.ascontiguousarray(weights[name], "float32")
        # Norms are few and stay as they are.
        half = array.ndim > 1
        data = (array.view("uint32") >> 16).astype("uint16").tobytes() if half else array.tobytes()
        assert not half or not (array.view("uint32") & 0xFFFF).any(), f"{name} is not rounded"
        records.append({
            "name": name, "shape": list(array.shape), "dtype": "float32",
            "format": "f32-to-bf16" if half else "raw", "nbytes": len(data), "byteOffset": offset,
        })  # fmt: skip
        parts.append(data)
        offset += len(data)
    shard = b"".join(parts)
    with open(os.path.join(folder, "params_shard_0.bin"), "wb") as file:
        file.write(shard)
    cache = {
        "metadata": {"ParamSize": len(records), "ParamBytes": sum(weights[r["name"]].nbytes for r in records), "BitsPerParam": 32.0},
        "records": [{
            "dataPath": "params_shard_0.bin", "format": "raw-shard", "nbytes": len(shard), "records": records,
        }],
    }  # fmt: skip
    with open(os.path.join(folder, "tensor-cache.json"), "w") as file:
        json.dump(cache, file, indent=1)


def config(c):
    return {
        "version": "0.1.0",
        "model_type": "gemma3",
        "quantization": "q0f32",
        "vocab_size": c.vocab,
        "context_window_size": c.context,
        "sliding_window_size": -1,
        "prefill_chunk_size": c.prefill_chunk,
        "attention_sink_size": -1,
        "tensor_parallel_shards": 1,
        "temperature": 0.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1.0,
        "top_p": 1.0,
        "tokenizer_files": ["tokenizer.json"],
        "tokenizer_info": {
            "token_postproc_method": "byte_fallback",
            "prepend_space_in_encode": False,
            "strip_space_in_decode": False,
        },
        "conv_template": {
            "name": "gemma3_instruction",
            "system_template": "{system_message}",
            "system_message": "",
            "system_prefix_token_ids": [2],
            "add_role_after_system_message": True,
            "roles": {
                "user": "<start_of_turn>user",
                "assistant": "<start_of_turn>model",
                "tool": "<start_of_turn>user",
            },
            "role_templates": {
                "user": "{user_message}",
                "assistant": "{assistant_message}",
                "tool": "{tool_message}",
            },
            "messages": [],
            "seps": ["<end_of_turn>\n"],
            "role_content_sep": "\n",
            "role_empty_sep": "\n",
            "stop_str": ["<end_of_turn>"],
            "stop_token_ids": [1, 106],
            "function_string": "",
            "use_function_calling": False,
        },
        "pad_token_id": 0,
        "bos_token_id": 2,
        "eos_token_id": [1, 106],
    }


def main(source, folder):
    weights = unpack(source) if os.path.isdir(source) else np.load(source)
    pack(weights, folder)
    with open(os.path.join(folder, "mlc-chat-config.json"), "w") as file:
        json.dump(config(Config()), file, indent=2)


if __name__ == "__main__":
    main(*sys.argv[1:])
