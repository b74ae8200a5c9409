"""The tools of data/tools-*.txt, and how a conversation sees them.

A file is a list of blocks under `## DOMAIN`:

  T NAME|OTHER,NAMES|Description.
  ARGUMENT,OTHER,NAMES=MAKER Description.    `~` in front: optional
  u A request with {ARGUMENT}; what stands in [brackets] may be left out to make a question
  + ARGUMENT words that mention an optional argument
  r KEY=MAKER … => The sentence that reports the result, with {KEY} or {ARGUMENT}
"""

import re
from dataclasses import dataclass, field

from . import dialect
from .chance import R, pick
from .pools import DATA
from .values import TYPES


@dataclass
class Argument:
    names: list
    maker: str
    description: str
    optional: bool


@dataclass
class Tool:
    domain: str
    names: list
    description: str
    arguments: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    mentions: list = field(default_factory=list)
    """Pairs of an optional argument and the words that mention it."""
    result: tuple | None = None
    """Pairs of key and maker, and the sentence that reports them."""

    @property
    def id(self):
        return self.names[0]


def _argument(line):
    names, rest = line.removeprefix("~").split("=", 1)
    parts = re.match(r"(.*?\S) ([A-Z][^;]*\.)$", rest)
    assert parts, line
    return Argument(names.split(","), parts[1], parts[2], optional=line.startswith("~"))


def _read(path):
    tools, domain = [], ""
    for line in path.read_text().splitlines():
        mark, rest = line[:2], line[2:]
        if not line:
            continue
        if line.startswith("## "):
            domain = line[3:]
        elif mark == "T ":
            name, others, description = rest.split("|", 2)
            tools.append(Tool(domain, [name] + list(filter(None, others.split(","))), description))
        elif mark == "u ":
            tools[-1].requests.append(rest)
        elif mark == "+ ":
            tools[-1].mentions.append(tuple(rest.split(" ", 1)))
        elif mark == "r ":
            values, sentence = rest.split(" => ")
            parts = re.split(r" ?(\w+)=", values)[1:]
            tools[-1].result = (list(zip(parts[::2], parts[1::2])), sentence)
        else:
            argument = _argument(line)
            tools[-1].arguments[argument.names[0]] = argument
    return tools


TOOLS = _read(DATA / "tools-everyday.txt") + _read(DATA / "tools-knowledge.txt")
BY_ID = {tool.id: tool for tool in TOOLS}


def camel_case(name):
    return re.sub(r"[_.](\w)", lambda match: match[1].upper(), name)


def snake_case(name):
    return re.sub(r"([a-z])([A-Z])", lambda match: match[1] + "_" + match[2].lower(), name)


def in_words(name):
    return re.sub(r"[_.]", " ", snake_case(name)).lower()


def naming_style():
    return pick(["", "", "snake", "camel", "dotted"])


REMARKS = [
    "Returns the result as a dictionary.",
    "The answer holds all details.",
    "Works in all regions.",
    "Useful for planning.",
    "Provides exact results.",
    "Needs a network.",
    "Results are ordered by relevance.",
]
DEFAULTS = [
    "Default is None.",
    "Defaults to the usual value.",
    "Default is the first one.",
    "Leave out if not asked for.",
]
WORDED_DAYS = ["Day, in the user's words.", "Day, e.g. tomorrow.", "When."]


class Offered:
    """A tool as one conversation sees it: renamed, reordered, reworded.

    `keep` are arguments that must stay as they are; `plain` keeps the tool's own names.
    """

    def __init__(self, tool, style, keep=(), plain=False):
        self.tool = tool
        arguments = tool.arguments
        days = [name for name, argument in arguments.items() if argument.maker == "D"]
        self.name = self._rename(style, plain)
        self.key = {}
        for name, argument in arguments.items():
            key = name if plain or R.random() < 0.4 else pick(argument.names)
            key = camel_case(key) if style == "camel" else key
            self.key[name] = key if key not in self.key.values() else name
        self.hidden = {
            name
            for name, argument in arguments.items()
            if argument.optional and name not in keep and R.random() < 0.35
        }
        self.days_in_words = {name for name in days if R.random() < 0.2 and not keep}
        self.date_format = {
            name: R.choice(["%d/%m/%Y", "%m/%d/%Y"])
            for name in days
            if name not in self.days_in_words and R.random() < 0.08 and not keep
        }
        # Their words stand in quotation marks already.
        self.quoted = {
            name
            for name in arguments
            if any(mark + "{" + name in request for request in tool.requests for mark in "\"'")
        }
        # Enumerations that the signature gives as a string.
        self.as_string = {
            name
            for name, argument in arguments.items()
            if argument.maker.startswith("e:") and R.random() < 0.3
        }
        needed = [name for name in arguments if not arguments[name].optional]
        optional = [
            name for name in arguments if arguments[name].optional and name not in self.hidden
        ]
        if R.random() < 0.35:
            R.shuffle(needed)
            R.shuffle(optional)
        self.order = needed + optional
        self.description = self._describe()

    def _rename(self, style, plain):
        names = self.tool.names
        name = names[0] if plain or R.random() < 0.3 else pick(names)
        if style == "camel":
            return camel_case(name)
        if style == "snake":
            return snake_case(name.replace(".", "_")).lower()
        if style == "dotted" and "." not in name:
            domain = self.tool.domain
            return pick([domain, domain, "tools", "api", in_words(name).split()[-1]]) + "." + name
        return name

    def _describe(self):
        text = self.tool.description
        if R.random() < 0.2:
            text += " " + pick(REMARKS)
        lower = text[0].lower() + text[1:]
        return pick(
            [text, text, text, text[:-1], "Use this to " + lower, "This function can " + lower]
        )

    def _choices(self, name):
        return [choice.split("=")[0] for choice in self.tool.arguments[name].maker[2:].split(";")]

    def _type(self, name):
        kind = self.tool.arguments[name].maker.split(":")[0]
        if kind == "e" and name not in self.as_string:
            return "|".join(dialect.literal(choice) for choice in self._choices(name))
        return TYPES.get(kind, "str")

    def _describe_argument(self, name):
        argument = self.tool.arguments[name]
        text = argument.description
        if name in self.days_in_words:
            text = pick(WORDED_DAYS)
        if name in self.date_format:
            written = self.date_format[name]
            for mark, word in (("%d", "DD"), ("%m", "MM"), ("%Y", "YYYY")):
                written = written.replace(mark, word)
            text = f"Date in the format {written}."
        if argument.optional and R.random() < 0.15:
            text += " " + pick(DEFAULTS)
        if name in self.as_string:
            text += " One of " + ", ".join(f"'{choice}'" for choice in self._choices(name)) + "."
        if argument.optional and R.random() < 0.25:
            text = pick(["Optional. " + text, text + " Optional.", "(Optional) " + text])
        return text

    def signature(self):
        return dialect.signature(
            self.name,
            self.description,
            [
                (
                    self.key[name],
                    self._type(name),
                    self._describe_argument(name),
                    self.tool.arguments[name].optional,
                )
                for name in self.order
            ],
        )

    def call(self, **values):
        arguments = [(self.key[name], values[name]) for name in self.order if name in values]
        return dialect.call(self.name, arguments)
