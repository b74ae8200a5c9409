"""Short conversations about the tools that are offered: one call, several, a question, no tool."""

import datetime as dt
import re

from .chance import R, pick
from .days import without_preposition
from .dialect import NO_TOOL, block, conversation, result, said, to_json
from .phrases import (
    CHAT,
    CIRCUMSTANCES,
    ENDINGS,
    FAILURES,
    GREETINGS,
    OFF_TOPIC,
    SERVED_BY,
)
from .pools import POOL
from .toolset import TOOLS, Offered, in_words
from .values import make


def capitalise(text):
    return text[:1].upper() + text[1:]


def fill(template, words, now):
    """Puts words in the place of {NAME}, {NAME^} (with a capital), {NAME!}, or {MAKER}."""

    def replace(match):
        name = match[1]
        flag = name[-1] if name[-1] in "^!" else ""
        name = name.removesuffix(flag)
        if name not in words:
            return make(name, now)[0]
        text = words[name][0]
        return capitalise(text) if flag == "^" else text

    return re.sub(r"\{([^}]+)\}", replace, template)


def draw(offered, names, now):
    """Words and value of each argument of `names`; strings differ from one another."""
    drawn = {}
    for name in names:
        argument = offered.tool.arguments[name]
        for _ in range(9):
            text, value = make(argument.maker, now)
            taken = [other for _, other in drawn.values()]
            if value not in taken or not isinstance(value, str):
                break
        is_word = argument.maker[:2] in ("W:", "s:")
        if is_word and name not in offered.quoted and R.random() < 0.1:
            text = pick(['"%s"', "'%s'", "“%s”"]) % text
        if name in offered.date_format and value[:2] == "20":
            value = dt.date.fromisoformat(value).strftime(offered.date_format[name])
        if name in offered.days_in_words:
            value = without_preposition(text)
        drawn[name] = (text, value)
    return drawn


def ask(offered, now, mention=0.35, noise=True, leave_out=False):
    """A request for a tool: its text, the values of the arguments, the arguments left out.

    `mention` is how likely an optional argument is; `noise` adds words around the request;
    `leave_out` leaves out something that is needed, where the tool has such a request.
    """
    tool = offered.tool
    template = pick(
        [text for text in tool.requests if not leave_out or "[" in text] or tool.requests
    )
    missing = None
    if leave_out:
        segment = pick(re.findall(r"\[(.*?)\]", template))
        missing = [name for name in re.findall(r"\{(\w+)", segment) if name in tool.arguments]
        template = template.replace(f"[{segment}]", "")
    template = re.sub(r"[\[\]]", "", template)
    if R.random() < 0.12:
        template = template[0].lower() + template[1:]
        if R.random() < 0.6:
            template = template.rstrip("?.")
    named = [name for name in tool.arguments if re.search(r"\{" + name + r"[}^!]", template)]
    mentions = [
        (name, words)
        for name, words in tool.mentions
        if name not in offered.hidden and R.random() < mention
    ][:2]
    drawn = draw(offered, named + [name for name, _ in mentions], now)
    text = fill(template, drawn, now)
    text = _add_mentions(text, [fill(words, drawn, now) for _, words in mentions])
    if noise:
        text = _add_noise(text)
    values = {name: value for name, (_, value) in drawn.items()}
    return re.sub(" +", " ", text).strip(), values, missing


def _add_mentions(text, mentions):
    end = ""
    if text[-1:] in ("?", "."):
        text, end = text[:-1], text[-1]
    for words in mentions:
        if words.startswith(". "):
            text += (end or ".") + words[1:]
            end = ""
        else:
            text += words
    return text + end


def _add_noise(text):
    if R.random() < 0.15:
        text = pick(GREETINGS) + (text if R.random() < 0.7 else text[0].lower() + text[1:])
    if R.random() < 0.12:
        text = pick(CIRCUMSTANCES) + " " + capitalise(text)
    if R.random() < 0.12:
        ended = text[-1:] in ("?", ".")
        text += pick([words for words in ENDINGS if not ended or words[1].isupper()])
    return text


def answer(offered, values, now):
    """What the tool gives back for these values, and the sentence that reports it."""
    if R.random() < 0.06:
        reason = pick(FAILURES)
        # A tool's failure is written with a space, as many servers do.
        return f'{{"error": "{reason}"}}', f"That did not work: {reason}."
    made, sentence = offered.tool.result or ([("ok", "true")], "Done.")
    returned = {key: make(maker, now)[1] for key, maker in made}
    echoed = {
        offered.key[name]: value
        for name, value in values.items()
        if R.random() < 0.3 and offered.key[name] not in returned
    }
    words = {
        name: (", ".join(map(str, value)) if isinstance(value, list) else str(value), value)
        for name, value in values.items()
    }
    words |= {key: (str(value), value) for key, value in returned.items()}
    for name, value in values.items():
        maker = offered.tool.arguments[name].maker
        if maker.startswith("B:"):
            yes, no = maker[2:].split(";")
            words[name] = (yes if value else no, value)
    return to_json({**echoed, **returned}), capitalise(fill(sentence, words, now))


def single(offered, now):
    """One call, and now and then its result."""
    request, values, _ = ask(offered, now)
    turns = [block(offered.call(**values))]
    if offered.tool.result and R.random() < 0.3:
        given, sentence = answer(offered, values, now)
        turns += [result(given), sentence]
    return conversation(request, *turns)


def missing(offered, now):
    """A request that lacks something: a question, and now and then the answer and the call."""
    request, values, lacking = ask(offered, now, mention=0.1, leave_out=True)
    if not lacking:
        return None
    names = " and ".join(in_words(offered.key[name]) for name in lacking)
    turns = [f"What {names} should I use?"]
    if R.random() < 0.5 and len(lacking) == 1:
        ((text, value),) = draw(offered, lacking, now).values()
        text = without_preposition(text)
        turns.append(said(capitalise(pick([text, text, text + " please", "Use " + text]))))
        turns.append(block(offered.call(**values, **{lacking[0]: value})))
    return conversation(request, *turns)


def _continued(text):
    """A request as the second part of a sentence."""
    keep = text[:2] in ("I ", "I'") or text.split()[0] in POOL["C"]
    return text if keep else text[0].lower() + text[1:]


def several(tools, now):
    """Two or three requests in one: calls side by side, or one after the other."""
    first = pick(tools)
    second = first if R.random() < 0.45 and len(first.tool.arguments) else pick(tools)
    wanted = [first, second] + ([first] if R.random() < 0.15 else [])
    asked = [ask(offered, now, mention=0.15, noise=False) for offered in wanted]
    link = pick([" and ", " and also ", ". Also, ", ". ", ", and "])
    in_turn = R.random() < 0.35 and len(wanted) == 2
    if in_turn:
        link = pick([", then ", ". Then ", ". After that, ", " and then "])
    texts = [text for text, _, _ in asked]
    parts = [texts[0].rstrip("?.")]
    parts += [text if link == ". " else _continued(text.rstrip("?.")) for text in texts[1:]]
    request = link.join(parts) + pick(["", ".", "?"])
    calls = [offered.call(**values) for offered, (_, values, _) in zip(wanted, asked)]
    if len(set(calls)) < len(calls):
        return None
    if not in_turn:
        return conversation(request, block(*calls))
    answers = [answer(offered, values, now) for offered, (_, values, _) in zip(wanted, asked)]
    (given, sentence), (given_then, sentence_then) = answers
    if "error" in given:
        return conversation(request, block(calls[0]), result(given), sentence)
    turns = [block(calls[0]), result(given), block(calls[1])]
    if R.random() < 0.6:
        turns += [result(given_then), sentence + " " + sentence_then]
    return conversation(request, *turns)


def off_topic(tools, now):
    """A request that none of the tools serves."""
    kind = R.random()
    if kind < 0.07:
        return conversation(*pick(CHAT))
    ids = {offered.tool.id for offered in tools}
    if kind < 0.4:
        unserved = [text for text in OFF_TOPIC if not ids.intersection(SERVED_BY.get(text, []))]
        return conversation(fill(pick(unserved), {}, now), NO_TOOL)
    domains = {offered.tool.domain for offered in tools}
    # As often about the tools' own domain as about another.
    others = [tool for tool in TOOLS if tool.id not in ids]
    near_or_far = [tool for tool in others if (tool.domain in domains) == (R.random() < 0.5)]
    return conversation(ask(Offered(pick(near_or_far or others), ""), now)[0], NO_TOOL)
