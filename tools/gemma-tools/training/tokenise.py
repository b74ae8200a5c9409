"""Turns trees of conversations into token ids.

python -m training.tokenise TOKENIZER.json TREES.jsonl OUT.jsonl

{"k", "p": text, "b": [[[text, target], …], …]} becomes {"k", "p": ids, "b": [[ids, targets], …]}.
Each piece of text is split by itself, as the app sends it: a reply begins where the prompt ends.
"""

import json
import sys

from tokenizers import Tokenizer

BOS = 2


def main(tokenizer_path, source, out):
    tokenizer = Tokenizer.from_file(tokenizer_path)

    def encode(text):
        return tokenizer.encode(text, add_special_tokens=False).ids

    def branch(parts):
        ids, targets = [], []
        for text, target in parts:
            piece = encode(text)
            ids += piece
            targets += [target] * len(piece)
        return [ids, targets]

    with open(source, encoding="utf-8") as trees, open(out, "w", encoding="utf-8") as file:
        for line in trees:
            tree = json.loads(line)
            prefix = [BOS] + encode(tree["p"])
            branches = [branch(parts) for parts in tree["b"]]
            file.write(json.dumps({"k": tree["k"], "p": prefix, "b": branches}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
