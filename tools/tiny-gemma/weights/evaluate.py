"""Share of held-out turns that the model says letter by letter, greedily:

    python -m weights.evaluate TOKENIZER.json WEIGHTS HELD_OUT.jsonl [COUNT]

WEIGHTS is what train.py saved or a packed folder. What it says after each prompt is its own, not
teacher-forced; the calls and results before a turn are those of the conversation.
"""

import collections
import json
import os
import sys

import numpy as np
import torch
from tokenizers import Tokenizer

from .model import END, Model
from .pack import unpack

MOST = 260  # tokens of a reply


def reply(model, ids):
    cache, said = [], []
    with torch.no_grad():
        hidden = model(torch.tensor([ids]), cache)
        while len(said) < MOST:
            token = int(model.logits(hidden[0, -1]).argmax())
            if token in (1, END):
                break
            said.append(token)
            hidden = model(torch.tensor([[token]]), cache)
    return said


def main(tok_path, weights, held_out, count="1500"):
    torch.set_num_threads(1)
    tok = Tokenizer.from_file(tok_path)
    model = Model()
    model.load(unpack(weights) if os.path.isdir(weights) else np.load(weights))
    good, total, wrong = collections.Counter(), collections.Counter(), []
    with open(held_out) as lines:
        for line in list(lines)[: int(count)]:
            conversation = json.loads(line)
            kind, pieces = conversation["kind"], conversation["pieces"]
            encoded = [tok.encode(piece, add_special_tokens=False).ids for piece in pieces]
            for at in conversation["learn"]:
                said = reply(model, [2] + [token for part in encoded[:at] for token in part])
                text = tok.decode(said, skip_special_tokens=False)
                total[kind] += 1
                good[kind] += text == pieces[at]
                if text != pieces[at]:
                    wrong.append({"kind": kind, "prompt": pieces[at - 1], "wanted": pieces[at], "said": text})
    print("| held-out turns | exact | of |\n| --- | --- | --- |")
    for kind in total:
        print(f"| {kind} | {good[kind]} | {total[kind]} |")
    share = 100 * good.total() / total.total()
    print(f"| **all** | **{good.total()}** | **{total.total()} ({share:.1f}%)** |")
    for miss in wrong[:20]:
        print(json.dumps(miss, ensure_ascii=False), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
