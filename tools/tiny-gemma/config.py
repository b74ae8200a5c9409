"""Size of the model: 0.9 million parameters, nearly."""

import dataclasses


@dataclasses.dataclass
class Config:
    vocab: int = 1792
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 320
    rope_theta: float = 10000.0
    eps: float = 1e-6
    context: int = 2048
    prefill_chunk: int = 256
