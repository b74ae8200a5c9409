"""How a conversation is written down for Gemma 3: Google's `tool_code` convention.

A conversation is a list of [text, target]: target is 1 where the text is the model's, which is what
training is about, and 0 where it is given.
"""

import json

from .chance import pick
from .days import DAYS
from .pools import POOL

NO_TOOL = "I have no tool for that."


def to_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def literal(value):
    """A value as a Python literal."""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        entries = (f"{json.dumps(key)}: {literal(item)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    return json.dumps(value, ensure_ascii=False)


def call(name, arguments):
    """A call: `arguments` are pairs of name and value."""
    return f"{name}(" + ", ".join(f"{key}={literal(value)}" for key, value in arguments) + ")"


def signature(name, description, arguments):
    """A tool as it is offered: `arguments` are (name, type, description, is optional)."""
    head = ", ".join(
        f"{key}: {kind}" + (" = None" if optional else "") for key, kind, _, optional in arguments
    )
    lines = "".join(f"  {key}: {text}\n" for key, _, text, _ in arguments)
    return f"{name}({head})\n  {description}\n{lines}"


def block(*calls):
    return "```tool_code\n" + "\n".join(calls) + "\n```"


def result(text):
    """What a tool gave back; a turn of its own."""
    return ("tool", text)


def said(text):
    """What the user says later on; a turn of its own."""
    return ("user", text)


def conversation(request, *turns):
    """`turns` are texts of the model, with results and words of the user between them."""
    parts = [[f"{request}<end_of_turn>\n<start_of_turn>model\n", 0]]
    for turn in turns:
        if isinstance(turn, str):
            parts.append([turn + "<end_of_turn>", 1])
        else:
            kind, text = turn
            given = f"```tool_output\n{text}\n```" if kind == "tool" else text
            given = f"\n<start_of_turn>user\n{given}<end_of_turn>\n<start_of_turn>model\n"
            parts.append([given, 0])
    return parts


def steps(*parts):
    """Turns from: call, result, call, result …, final sentence. A call is one string or a list."""
    turns = []
    for i, part in enumerate(parts):
        if i % 2:
            turns.append(result(part if isinstance(part, str) else to_json(part)))
        elif i < len(parts) - 1:
            turns.append(block(*(part if isinstance(part, list) else [part])))
        else:
            turns.append(part)
    return turns


def prefix(now, signatures):
    """What stands before the request: the clock and the tools."""
    clock = f"Now: {DAYS[now.weekday()]} {now:%Y-%m-%d %H:%M}, {pick(POOL['tzone'])}."
    return f"<start_of_turn>user\n{clock}\nTools:\n" + "".join(signatures) + "\n"
