"""Writes conversations for training, one tree a line.

python -m generator OUT.jsonl SEED COUNT [SNIPS_FOLDER]

A tree is {"k": kind, "p": prefix, "b": [conversation, …]}: conversations about the same tools, so
that training computes their common prefix once. The same seed gives the same bytes.
"""

import json
import sys

from . import flows, snips
from .chains import CHAINS
from .chance import R, pick
from .days import moment
from .dialect import conversation, prefix
from .toolset import BY_ID, TOOLS, Offered, naming_style
from .turns import missing, off_topic, several, single


def tools(now):
    """One to five tools, most often of one domain, and short conversations about them."""
    domain = pick(sorted({tool.domain for tool in TOOLS}))
    same_domain = [tool for tool in TOOLS if tool.domain == domain]
    count = pick([1, 2, 2, 3, 3, 4, 5])
    if R.random() < 0.55:
        chosen = R.sample(same_domain, min(count, len(same_domain)))
    else:
        chosen = R.sample(TOOLS, count)
    style = naming_style()
    offered = [Offered(tool, style) for tool in chosen]
    singles = pick([3, 4])
    off_topics = 2 if R.random() < 0.3 else 1
    with_question = R.random() < 0.55
    with_several = R.random() < 0.55

    conversations = [single(offered[i % len(offered)], now) for i in range(singles)]
    conversations += [off_topic(offered, now) for _ in range(off_topics)]
    if with_question:
        can_lack = [tool for tool in offered if any("[" in text for text in tool.tool.requests)]
        conversations.append(missing(pick(can_lack), now) if can_lack else None)
    if with_several:
        conversations.append(several(offered, now))
    return map(Offered.signature, offered), list(filter(None, conversations))


def chain(now):
    """A request of several steps in four forms, with at most two tools that it does not need."""
    needed, write = pick(CHAINS)
    style = naming_style()
    chosen = {
        name: Offered(BY_ID[name], style, keep=BY_ID[name].arguments, plain=R.random() < 0.3)
        for name in needed
    }
    others = [tool for tool in TOOLS if tool.id not in needed]
    spare = [Offered(tool, style) for tool in R.sample(others, pick([0, 0, 1, 1, 2]))]
    conversations = [conversation(*write(chosen, now)) for _ in range(4)]
    offered = [*chosen.values(), *spare]
    R.shuffle(offered)
    conversations.append(single(pick(offered), now))
    if R.random() < 0.5:
        conversations.append(off_topic(offered, now))
    return map(Offered.signature, offered), conversations


def draw_kind(utterances):
    kind = R.random()
    if kind < 0.06 and utterances:
        return "snips", lambda now: snips.requests(utterances)
    if kind < 0.29:
        return "chain", chain
    if kind < 0.52:
        return "flow", flows.flow
    if kind < 0.57:
        return "dates", flows.days
    return "tools", tools


def main(out, seed, count, snips_folder=None):
    R.seed(int(seed))
    utterances = snips.read(snips_folder) if snips_folder else {}
    with open(out, "w", encoding="utf-8") as file:
        for _ in range(int(count)):
            kind, write = draw_kind(utterances)
            now = moment()
            signatures, conversations = write(now)
            tree = {"k": kind, "p": prefix(now, signatures), "b": conversations}
            file.write(json.dumps(tree, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
