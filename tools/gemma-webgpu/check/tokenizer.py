"""Compares tokenizer.json with the vocabulary of the GGUF file: entry by entry, and on strings.

python tokenizer.py MODEL.gguf TOKENIZER.json

The ids of a string are worked out from the GGUF's own scores by llama.cpp's method (merge the
neighbours whose union scores best), written here from its description. Exits 1 on a difference.
"""

import heapq
import re
import sys

import gguf
from tokenizers import Tokenizer

SPACE = "\u2581"
STRINGS = [
    "The capital of France is",
    "Hello, world! 12345",
    "  two  spaces\n\nand\tlines",
    "नमस्ते मुंबई",
    "naïve café — über",
    "def f(x):\n    return x**2  # sq",
    "😀 emoji 👩‍🚀",
    '{"name":"get_weather","arguments":{"city":"Mumbai"}}',
    '```tool_code\nget_weather(city="Mumbai", date="next Friday")\n```<end_of_turn>\n',
]


class Vocabulary:
    """The tokens of a GGUF file."""

    def __init__(self, path):
        fields = gguf.GGUFReader(path).fields
        self.tokens = fields["tokenizer.ggml.tokens"].contents()
        self.scores = fields["tokenizer.ggml.scores"].contents()
        self.ids = {text: i for i, text in enumerate(self.tokens)}
        kinds = fields["tokenizer.ggml.token_type"].contents()
        whole = [text for text, kind in zip(self.tokens, kinds) if kind != 1 and kind != 6]
        # Control and user-defined tokens are cut out of the text first, longest first.
        self.whole = set(whole)
        self.cut = re.compile(
            "(" + "|".join(map(re.escape, sorted(whole, key=len, reverse=True))) + ")"
        )

    def encode(self, text):
        ids = []
        for part in self.cut.split(text):
            if part in self.whole:
                ids.append(self.ids[part])
            elif part:
                ids += self._merge(part)
        return ids

    def _merge(self, text):
        symbols = list(text.replace(" ", SPACE))
        end = len(symbols)
        after = list(range(1, end + 1))
        before = list(range(-1, end - 1))
        queue = []

        def consider(left):
            right = after[left] if left >= 0 else end
            if right < end and (union := symbols[left] + symbols[right]) in self.ids:
                entry = (-self.scores[self.ids[union]], left, symbols[left], symbols[right])
                heapq.heappush(queue, entry)

        for i in range(end):
            consider(i)
        while queue:
            _, left, first, second = heapq.heappop(queue)
            right = after[left]
            if right >= end or symbols[left] != first or symbols[right] != second:
                continue  # One of the two was merged in the meantime.
            symbols[left], symbols[right], after[left] = first + second, None, after[right]
            if after[left] < end:
                before[after[left]] = left
            consider(before[left])
            consider(left)
        ids = []
        for symbol in filter(None, symbols):
            if symbol in self.ids:
                ids.append(self.ids[symbol])
            else:
                ids += [self.ids[f"<0x{byte:02X}>"] for byte in symbol.encode()]
        return ids


def main(model, tokenizer_path):
    vocabulary = Vocabulary(model)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    faults = [
        f"entry {i}: {text!r} and {tokenizer.id_to_token(i)!r}"
        for i, text in enumerate(vocabulary.tokens)
        if tokenizer.id_to_token(i) != text.replace(" ", SPACE)
    ]
    for text in STRINGS:
        ours = tokenizer.encode(text, add_special_tokens=False).ids
        theirs = vocabulary.encode(text)
        if ours != theirs:
            faults.append(f"{text!r}: {theirs} and {ours}")
    print("\n".join(faults[:20]))
    print(f"{len(vocabulary.tokens)} entries, {len(STRINGS)} strings, {len(faults)} differences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
