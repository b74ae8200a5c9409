"""Trains the model:

    python -m weights.train TOKENIZER.json CONVERSATIONS.jsonl HELD_OUT.jsonl OUT.npz [MINUTES [START.npz]]

From START on it goes at a third of the speed: to finish what is nearly learnt. Torch on one thread. Loss on the model's own words alone. The learning rate follows the clock, so that
it is done when the time is up; two runs are not the same, and what is kept are the weights.
"""

import json
import math
import random
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from .model import C, END, Model

TOKENS = 2500  # of a batch, padding included
SHORT, SHORT_SHARE = 130, 0.12  # at first only conversations of so few tokens: copying is learnt sooner
POOL = 2000  # conversations that are sorted by length at a time


def encode(tok, conversation):
    """Token ids and what to predict after each of them (-100: nothing)."""
    ids, want = [2], [-100]
    for at, piece in enumerate(conversation["pieces"]):
        new = tok.encode(piece, add_special_tokens=False).ids
        if at in conversation["learn"]:
            want[-1] = new[0]
            want += new[1:] + [END]
        else:
            want += [-100] * len(new)
        ids += new
    return ids, want


def read(tok, path):
    with open(path) as lines:
        return [encode(tok, json.loads(line)) for line in lines]


def padded(group):
    longest = max(len(ids) for ids, _ in group)
    return (
        torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in group]),
        torch.tensor([want + [-100] * (longest - len(want)) for _, want in group]),
    )


def batches(data, chance, is_early):
    """Conversations of like length together, to waste little on padding; without end."""
    while True:
        early = is_early()
        order = [i for i, (ids, _) in enumerate(data) if not early or len(ids) <= SHORT]
        chance.shuffle(order)
        for start in range(0, len(order), POOL):
            pool = sorted((data[i] for i in order[start : start + POOL]), key=lambda item: len(item[0]))
            groups, group = [], []
            for item in pool:
                if group and len(item[0]) * (len(group) + 1) > TOKENS:
                    groups.append(group)
                    group = []
                group.append(item)
            groups.append(group)
            chance.shuffle(groups)
            for group in groups:
                yield padded(group)
            if early and not is_early():
                break


def exact(model, data):
    """Share of the model's turns that are right token for token (each after the right ones)."""
    good = total = 0
    model.eval()
    with torch.no_grad():
        for ids, want in data:
            guess = model.logits(model(torch.tensor([ids]))[0]).argmax(-1).tolist()
            right = None
            for one, wanted in zip(guess + [0], want + [-100]):
                if wanted != -100:
                    right = right is not False and one == wanted
                elif right is not None:
                    good, total, right = good + right, total + 1, None
    model.train()
    return good / total


class Muon:
    """Momentum, made orthogonal (Jordan 2024), for the matrices of the layers."""

    def __init__(self, matrices):
        self.matrices = [(matrix, torch.zeros_like(matrix)) for matrix in matrices]

    @torch.no_grad()
    def step(self, rate):
        for matrix, momentum in self.matrices:
            momentum.lerp_(matrix.grad, 0.05)
            x = matrix.grad.lerp(momentum, 0.95)
            wide = x.shape[0] <= x.shape[1]
            x = x if wide else x.T
            x = x / (x.norm() + 1e-7)
            for _ in range(5):
                a = x @ x.T
                x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
            x = x if wide else x.T
            matrix.mul_(1 - rate * 0.02)
            matrix.add_(x, alpha=-rate * max(1, matrix.shape[0] / matrix.shape[1]) ** 0.5)


def main(tok_path, train_path, test_path, out, minutes="45", begin=None):
    torch.manual_seed(0)
    torch.set_num_threads(1)  # at this size more threads only wait for each other
    tok = Tokenizer.from_file(tok_path)
    data, test = read(tok, train_path), read(tok, test_path)[:250]
    model = Model()
    if begin:
        model.load(np.load(begin))
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(data)} conversations", flush=True)
    matrices = [p for name, p in model.weights.items() if p.ndim > 1 and name != "embed_tokens"]
    muon = Muon(matrices)
    rest = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    adam = torch.optim.AdamW(rest, lr=1, betas=(0.9, 0.98), weight_decay=0.0)
    end, peak = 60 * float(minutes), 0.33 if begin else 1
    start, shown, steps, tokens, sums = time.time(), time.time(), 0, 0, []
    print(f"data read in {time.process_time():.0f} s of CPU", flush=True)
    for ids, want in batches(data, random.Random(7), lambda: not begin and time.time() - start < SHORT_SHARE * end):
        spent = (time.time() - start) / end
        if spent >= 1:
            break
        rate = peak * min(1, (steps + 1) / 50) * (min(1, (1 - spent) / 0.6) + 0.01)
        adam.param_groups[0]["lr"] = 3e-3 * rate
        at = want != -100
        loss = F.cross_entropy(model.logits(model(ids)[at]), want[at])
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        muon.step(0.02 * rate)
        steps, tokens = steps + 1, tokens + ids.numel()
        sums.append(loss.item())
        if time.time() - shown > 60:
            shown = time.time()
            mean, sums = sum(sums) / len(sums), []
            model.save(out)
            print(f"{shown - start:.0f} s, step {steps}, {tokens / 1e6:.2f} M tokens, loss {mean:.4f}, exact {exact(model, test[:120]):.3f}", flush=True)
    model.save(out)
    model.load(np.load(out))
    print(f"done: {steps} steps, {tokens / 1e6:.2f} M tokens, exact {exact(model, test):.4f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
