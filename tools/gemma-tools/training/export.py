"""Writes the trained LoRA as an adapter for llama.cpp.

python -m training.export LORA.pt ADAPTER.gguf

`npm run weights -- --pin` merges it with the base and packs the result for both engines.
"""

import sys

import gguf
import numpy as np
import torch


def main(checkpoint, out):
    state = torch.load(checkpoint)
    lora = {
        name.removeprefix("lora."): tensor.float().numpy().astype(np.float16)
        for name, tensor in state.items()
        if name.startswith("lora.")
    }
    rank = next(tensor.shape[0] for name, tensor in lora.items() if name.endswith("_a"))
    writer = gguf.GGUFWriter(out, "gemma3")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0 * rank)
    writer.add_name("Gemma 3 270M tool calls")
    for name, a in lora.items():
        if not name.endswith("_a"):
            continue
        layer, matrix = name.removesuffix("_a").split("_", 1)
        tensor = f"blk.{layer}.{matrix}.weight"
        writer.add_tensor(f"{tensor}.lora_a", a)
        writer.add_tensor(f"{tensor}.lora_b", lora[name.removesuffix("_a") + "_b"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
