"""Trains the LoRA for as long as it may.

python -m training.train BASE.gguf TRAIN.jsonl DEV.jsonl OUT_FOLDER MINUTES
    [--resume LORA.pt] [--rate 1e-3] [--batch 4] [--workers 2] [--seed 1]

The files are what training.tokenise writes; OUT_FOLDER gets lora.pt and train.log. The learning
rate follows the clock and is nearly zero at the end. Every ten minutes the adapter is saved and
tried on the DEV trees.

Workers of one thread each take trees from a queue: a busy core then slows only its own worker,
where a team of threads would wait for it at every operator. See README.md for the environment to
set.
"""

import argparse
import json
import math
import queue
import random
import threading
import time
from pathlib import Path

import torch
import torch.nn.functional as F

from .model import Gemma, flatten

RANK = 16
WARM_UP_STEPS = 15
SAVE_EVERY_SECONDS = 600
FREQUENT_TOKENS = 12_000


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Log:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def say(self, **entry):
        entry["at"] = time.strftime("%H:%M:%S")
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()
        print(entry, flush=True)


class Scorer:
    """Logits of a tree's targets, over the tokens of the data and the most frequent ones only."""

    def __init__(self, model, trees):
        used = set(range(FREQUENT_TOKENS))
        for tree in trees:
            used.update(tree["p"])
            for ids, _ in tree["b"]:
                used.update(ids)
        tokens = sorted(used)
        self.model = model
        self.place = {token: i for i, token in enumerate(tokens)}
        self.embedding = model.embedding[torch.tensor(tokens)].contiguous()

    def score(self, tree):
        """Logits, the right token of each, the number of all tokens."""
        ids, positions, masks, targets = flatten(tree["p"], tree["b"])
        hidden = self.model(ids, positions, masks)
        rows = hidden[[index for index, _ in targets]].to(self.model.dtype)
        right = torch.tensor([self.place[token] for _, token in targets])
        return (rows @ self.embedding.T).float(), right, len(ids)


class Workers:
    """Computes gradients of trees, one tree a thread. One tree more than there are threads stays
    queued, so that none waits at the step; its gradient is one step old at most."""

    def __init__(self, scorer, parameters, trees, count):
        self.scorer, self.parameters, self.trees, self.count = scorer, parameters, trees, count
        self.order, self.flying = [], 0
        self.jobs, self.done = queue.Queue(), queue.Queue()
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _work(self):
        while True:
            tree = self.jobs.get()
            if tree is None:
                return
            try:
                logits, right, tokens = self.scorer.score(tree)
                loss = F.cross_entropy(logits, right, reduction="sum")
                gradients = torch.autograd.grad(loss, self.parameters)
                self.done.put((loss.item(), len(right), tokens, gradients))
            except Exception as error:
                self.done.put(error)
                raise

    def next(self):
        """Loss, targets, tokens, gradients of some tree."""
        while self.flying <= self.count:
            if not self.order:
                self.order = random.sample(range(len(self.trees)), len(self.trees))
            self.jobs.put(self.trees[self.order.pop()])
            self.flying += 1
        result = self.done.get()
        self.flying -= 1
        if isinstance(result, Exception):
            raise result
        return result

    def close(self):
        """Waits for what is being computed; torch must not be torn down under it."""
        while not self.jobs.empty():
            self.jobs.get()
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads:
            thread.join()


def turns(targets):
    """Lengths of the runs of targets in a branch: one turn of the model each."""
    lengths, length = [], 0
    for target in [*targets, 0]:
        if target:
            length += 1
        elif length:
            lengths.append(length)
            length = 0
    return lengths


@torch.no_grad()
def evaluate(scorer, trees):
    """Mean loss, and by kind how many turns come out right token by token (greedily)."""
    loss, count, right_turns, all_turns = 0.0, 0, {}, {}
    for tree in trees:
        logits, right, _ = scorer.score(tree)
        loss += F.cross_entropy(logits, right, reduction="sum").item()
        count += len(right)
        hits = iter((logits.argmax(-1) == right).tolist())
        kind = tree["k"]
        for _, targets in tree["b"]:
            for length in turns(targets):
                is_right = all([next(hits) for _ in range(length)])
                all_turns[kind] = all_turns.get(kind, 0) + 1
                right_turns[kind] = right_turns.get(kind, 0) + is_right
    exact = {kind: f"{right_turns[kind]}/{all_turns[kind]}" for kind in all_turns}
    return {"loss": round(loss / count, 4), "exact": exact}


def learning_rate(peak, step, part_of_time):
    cosine = 0.5 * (1 + math.cos(math.pi * min(1, part_of_time)))
    return peak * min(1, (step + 1) / WARM_UP_STEPS) * (0.97 * cosine + 0.03)


def train(arguments):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random.seed(arguments.seed)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    log = Log(out / "train.log")
    model = Gemma(arguments.base, rank=RANK, alpha=2 * RANK)
    if arguments.resume:
        model.load_state_dict(torch.load(arguments.resume))
    trees, dev = read(arguments.train), read(arguments.dev)
    scorer = Scorer(model, trees + dev)
    parameters = list(model.lora.values())
    optimizer = torch.optim.AdamW(parameters, betas=(0.9, 0.98), weight_decay=0.0)
    workers = Workers(scorer, parameters, trees, arguments.workers)
    log.say(event="start", trees=len(trees), vocabulary=len(scorer.place))

    def save(event, **entry):
        torch.save(model.state_dict(), out / "lora.pt")
        log.say(event=event, **entry)
        log.say(event="dev", **evaluate(scorer, dev))

    start = saved = time.time()
    end = start + 60 * arguments.minutes
    step, tokens, targets, losses = 0, 0, 0, []
    while time.time() < end:
        batch = [workers.next() for _ in range(arguments.batch)]
        batch_targets = sum(count for _, count, _, _ in batch)
        for parameter, *gradients in zip(
            parameters, *(gradients for *_, gradients in batch), strict=True
        ):
            parameter.grad = sum(gradients) / batch_targets
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        rate = learning_rate(arguments.rate, step, (time.time() - start) / (end - start))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        step += 1
        tokens += sum(count for _, _, count, _ in batch)
        targets += batch_targets
        losses.append(sum(loss for loss, *_ in batch) / batch_targets)
        if step % 10 == 0:
            mean = round(sum(losses) / len(losses), 4)
            speed = round(tokens / (time.time() - start))
            log.say(step=step, loss=mean, rate=round(rate, 6), tokens=tokens, tokens_s=speed)
            losses = []
        if time.time() - saved > SAVE_EVERY_SECONDS:
            saved = time.time()
            save("saved", step=step)
    workers.close()
    save("end", step=step, tokens=tokens, targets=targets)


def main():
    parser = argparse.ArgumentParser(prog="python -m training.train")
    for name in ("base", "train", "dev", "out"):
        parser.add_argument(name)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--resume")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
