"""Shape of Gemma 3 270M and of the compiled library."""

import dataclasses


@dataclasses.dataclass
class Config:
    vocab: int = 262144
    hidden: int = 640
    layers: int = 18
    heads: int = 4
    kv_heads: int = 1
    head_dim: int = 256
    ffn: int = 2048
    eps: float = 1e-6
    window: int = 512  # local layers see the last 512 tokens
    context: int = 2048
    prefill_chunk: int = 128
    vocab_blocks: int = 2  # row blocks of the embedding (80 MiB each)
    # 64-column tiles that a thread works on, for one row (decode) and for four rows (prefill): many
    # suit SwiftShader on two cores; a GPU wants one or two and the inputs split over threads as well
    tiles_one = {"qkv": 12, "o": 5, "gate_up": 16, "down": 5, "lm_head": 16}
    tiles_many = {"qkv": 8, "o": 10, "gate_up": 8, "down": 10}

    def is_global(self, layer):
        return layer % 6 == 5
