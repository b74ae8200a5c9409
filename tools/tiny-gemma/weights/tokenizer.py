"""Makes the tokenizer out of conversations: python make_tokenizer.py CONVERSATIONS.jsonl OUT.json

It is of Gemma's kind, so that llama.cpp (tokenizer model `llama`) and Hugging Face's tokenizers read
it alike: no pre-tokenizer, spaces as U+2581, merges ranked by their result, unknown characters as
bytes, Gemma's control tokens at Gemma's ids. Two things are its own:

* No token mixes words, digits, spaces and marks: a name is the same tokens after a space as after a
  quote, so that a small model can copy it.
* Lines that the app writes again and again (signatures of the demo's tools, heads of calls and
  results) are one token each. They do not overlap, because the two engines would then differ.
"""

import collections
import json
import re
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from config import Config

SPACE = "\u2581"
CONTROLS = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
CONTROLS += [f"<unused{i}>" for i in range(105 - len(CONTROLS))]
CONTROLS += ["<start_of_turn>", "<end_of_turn>"]  # 105 and 106, as in Gemma 3
BYTES = [f"<0x{i:02X}>" for i in range(256)]
CHUNK = re.compile(r"[^\W\d_]+|\d|\s|[^\w\s]+|_")
# The app's own tools; those of other servers are spelt out.
TOOLS = "search_flights get_weather add_to_itinerary get_itinerary set_reminder now device_status".split()
HEADS = [
    "```tool_code\n", "```tool_output\n", "Now: ", "\nTools:\n", '", date="', '", part="', '", time="', '", destination="',
    '{"flights":[{"flight":"', '},{"flight":"', '","airline":"', '","departs":"', '","price_inr":', '{"city":"', '","sky":"',
    '","high_c":', '{"ok":true', ',"at":"', '{"error":"', '{"items":[{"item":"', '"},{"item":"', '","date":"', '{"weekday":"',
    '","time":"', '","zone":"', '{"battery_percent":', ',"charging":', ',"online":', ',"network":"', ',"free_gb":',
]  # fmt: skip


def read(path):
    with open(path) as lines:
        for line in lines:
            yield json.loads(line)


def phrases(conversations):
    """Lines of the app's own tools, and the heads of their calls."""
    lines, calls = set(), set()
    for conversation in conversations:
        for piece in conversation["pieces"]:
            for tool in re.findall(r"(?<=\n)\w+\([^\n]*\)\n(?:  [^\n]*\n)+", piece):
                if tool.split("(")[0] in TOOLS:
                    lines.update(re.findall(r"[^\n]*\n", tool))
            calls.update(re.findall(r'(?<=```tool_code\n)\w+\((?:\w+=")?', piece))
    return sorted(lines | calls)


def learn_merges(words, symbols, size):
    """Byte-pair encoding over counted chunks: tokens in the order in which they are found."""
    parts = {word: tuple(word) for word in words}
    found = []
    while len(found) < size:
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(parts[word], parts[word][1:]):
                pairs[pair] += times
        if not pairs:
            break
        (left, right), times = max(pairs.items(), key=lambda item: (item[1], item[0]))
        if times < 3:
            break
        token = left + right
        if token not in symbols:
            symbols.add(token)
            found.append(token)
        for word, split in parts.items():
            if left not in split:
                continue
            joined, at = [], 0
            while at < len(split):
                if at + 1 < len(split) and split[at] == left and split[at + 1] == right:
                    joined.append(token)
                    at += 2
                else:
                    joined.append(split[at])
                    at += 1
            parts[word] = tuple(joined)
    return found


def build(path, vocab):
    added = HEADS + phrases(read(path))
    cut = re.compile("|".join(re.escape(text) for text in sorted(CONTROLS + added, key=len, reverse=True)))
    words = collections.Counter()
    for conversation in read(path):
        for piece in conversation["pieces"]:
            for text in cut.split(piece):
                words.update(CHUNK.findall(text))
    chars = {chr(code) for code in range(33, 127)} | {SPACE, "\n", "°", "…", "–", "’", "“", "”"}
    chars |= {char for word in words for char in word if char != " "}
    first = sorted(chars)
    words = collections.Counter({word: times for word, times in words.items() if len(word) > 1})
    room = vocab - len(CONTROLS) - len(BYTES) - len(first) - len(added)
    found = learn_merges(words, set(first), room)
    tokens = CONTROLS + BYTES + first + found
    ids = {token: at for at, token in enumerate(tokens)}
    # Every way to make a token of two others, in the order of the tokens: what llama.cpp does.
    known = set(first) | set(found)
    merges = [
        (token[:at], token[at:])
        for token in found
        for at in range(1, len(token))
        if token[:at] in known and token[at:] in known
    ]
    tok = Tokenizer(models.BPE(vocab=ids, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Replace(" ", SPACE)
    tok.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    tok.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in CONTROLS])
    tok.add_tokens([AddedToken(text, special=False, normalized=False) for text in added])
    assert tok.get_vocab_size() == vocab, tok.get_vocab_size()
    return tok


if __name__ == "__main__":
    tok = build(sys.argv[1], Config.vocab)
    tok.save(sys.argv[2])
    print("vocabulary:", tok.get_vocab_size(), [tok.token_to_id(text) for text in CONTROLS[-2:]])
