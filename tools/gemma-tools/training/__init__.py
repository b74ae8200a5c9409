"""Trains a LoRA adapter for Gemma 3 270M on a CPU and writes it for llama.cpp."""
