"""Two-step requests about made-up things.

The names of the tools, their arguments and their verbs change every time, so that only the pattern
can be learnt: find then act, check then act or not, look up then use, two questions at once.
Each pattern gives the signatures of its tools and some conversations.
"""

from dataclasses import dataclass

from . import dialect
from .chance import R, pick
from .days import date
from .dialect import NO_TOOL, block, conversation, result, steps, to_json
from .pools import POOL
from .toolset import TOOLS, Offered, camel_case, naming_style
from .turns import ask, capitalise
from .values import code, make

NOUNS = (
    "boat;locker;desk;tennis court;studio;tutor;permit;tractor;tent;piano;stall;cabin;drone;lab;"
    "printer;elevator;pump;freezer;oven;camera;projector;sauna;hall;van;scooter;wheelchair;"
    "telescope;costume;generator;greenhouse;kiln;crane;archive box;sewing machine;guide;"
    "interpreter;babysitter;membership;allotment;charger;turbine;boiler;gate;fountain;sign;truck;"
    "beehive;aquarium;solar panel;coffee machine"
).split(";")
# Verb, participle.
ACTIONS = [
    ("reserve", "reserved"),
    ("book", "booked"),
    ("rent", "rented"),
    ("hire", "hired"),
    ("block", "blocked"),
    ("order", "ordered"),
    ("take", "taken"),
    ("assign", "assigned"),
    ("hold", "held"),
]
MORE_ACTIONS = [
    ("cancel", "cancelled"),
    ("extend", "extended"),
    ("visit", "visited"),
    ("transfer", "transferred"),
]
# Verb, participle, states that call for it.
REPAIRS = [
    ("repair", "repaired", ["broken", "damaged", "faulty"]),
    ("reset", "reset", ["stuck", "frozen", "offline"]),
    ("refill", "refilled", ["empty", "low", "dry"]),
    ("clean", "cleaned", ["dirty", "blocked", "dusty"]),
    ("close", "closed", ["open", "unlocked"]),
    ("replace", "replaced", ["worn out", "expired", "cracked"]),
    ("renew", "renewed", ["expired", "overdue", "invalid"]),
    ("switch_off", "switched off", ["running", "too hot", "on"]),
]
GOOD_STATES = ["fine", "ok", "in order", "working", "good"]
MESSAGES = [
    "please come over",
    "we have a problem",
    "have a look at it",
    "stop the work",
    "call me back",
]
UNWANTED = "photograph paint sell describe weigh insure rate move rename print".split()
# Superlative, key, which one.
SUPERLATIVES = [
    ("cheapest", "price", min),
    ("biggest", "size", max),
    ("nearest", "distance", min),
    ("best rated", "rating", max),
]


@dataclass
class Where:
    """An argument that says where to look."""

    name: str
    description: str
    maker: str
    preposition: str

    @property
    def type(self):
        return "int" if self.maker[0] == "i" else "str"

    def draw(self, now):
        """Words of the request, value."""
        text, value = make(self.maker, now)
        return (str(value) if self.type == "int" else text), value


DISTRICTS = "s:Old Town;Riverside;Eastgate;Mitte;Chelsea;Bandra;Fitzroy;Gracia"
PLACES = [
    Where("place", "Place.", "W:place", "near"),
    Where("city", "City.", "C", "in"),
    Where("district", "District.", DISTRICTS, "in"),
    Where("room", "Room.", "W:room", "in"),
    Where("floor", "Floor.", "i:1-12", "on floor"),
]


@dataclass
class Detail:
    """A second argument of the tool that acts."""

    name: str
    type: str
    description: str
    asked: str
    """Words of the request."""
    value: object
    reported: str
    """Words of the answer."""

    def same_argument(self, other):
        return (self.name, self.type, self.description) == (
            other.name,
            other.type,
            other.description,
        )


def draw_detail(now):
    kind = R.random()
    if kind < 0.4:
        count = R.randint(2, 12)
        unit = pick(["hours", "days", "people", "weeks"])
        words = f" for {count} {unit}"
        return Detail(unit, "int", f"Number of {unit}.", words, count, words)
    if kind < 0.7:
        when, day = date(now)
        name = pick(["day", "date", "when"])
        return Detail(name, "str", "Day, as YYYY-MM-DD.", " " + when, day, "")
    if kind < 0.85:
        person = pick(POOL["N"])
        name = pick(["person", "for_whom", "user"])
        words = f" for {person}"
        return Detail(name, "str", "Who it is for.", words, person, words)
    return None


def identifier(noun):
    return noun.replace(" ", "_")


def tool_name(noun, verb, style):
    noun = identifier(noun)
    name = pick(
        [
            f"{verb}_{noun}",
            f"{noun}.{verb}",
            f"{noun}_{verb}",
            f"{verb}_{noun}",
            f"{verb}_a_{noun}",
        ]
    )
    if style == "camel":
        return camel_case(name)
    return name.replace(".", "_") if style == "snake" else name


def signature(name, description, *arguments):
    """`arguments` are (name, type, description)."""
    needed = [(*argument, False) for argument in arguments]
    return dialect.signature(name, description, needed)


def call(name, *arguments):
    return dialect.call(name, arguments)


def draw_number():
    return make(pick(["TK", "INV", "OR", "CODE"]), None)[1]


def unwanted(noun, style):
    """Signature of a tool that nobody asks for."""
    verb = pick(UNWANTED)
    name = tool_name(noun, verb, style)
    key = pick(["id", identifier(noun), "number", "item"])
    arguments = [(key, "str", f"Number of the {noun}.", False)]
    if R.random() < 0.4:
        arguments.append(("note", "str", "Note.", True))
    return dialect.signature(name, f"{capitalise(verb)} a {noun}.", arguments)


def find_then_act(now, style, noun):
    where = pick(PLACES)
    find = tool_name(noun, pick(["find", "list", "search", "near", "available", "lookup"]), style)
    verb, participle = pick(ACTIONS)
    detail = draw_detail(now)
    key = pick(["id", identifier(noun), "number", identifier(noun) + "_id", "code"])
    act = tool_name(noun, verb, style)
    sort = R.random() < 0.45
    superlative, field, best_of = pick(SUPERLATIVES)
    about = pick(
        [f"Find a {noun}.", f"List every {noun} of a {where.name}.", f"Search for a {noun}."]
    )
    act_arguments = [(key, "str", f"Number of the {noun}.")]
    if detail:
        act_arguments.append((detail.name, detail.type, detail.description))
    signatures = [
        signature(find, about, (where.name, where.type, where.description)),
        signature(act, f"{capitalise(verb)} a {noun}.", *act_arguments),
        unwanted(noun, style),
    ]
    conversations = []
    for _ in range(3):
        place, place_value = where.draw(now)
        items = [{key: draw_number(), field: R.randint(1, 200)} for _ in range(R.randint(1, 3))]
        best = best_of(items, key=lambda item: item[field]) if sort else items[0]
        if detail:
            other = draw_detail(now)
            if other and other.same_argument(detail):
                detail = other
        wanted = f"the {superlative} {noun}" if sort else f"a {noun}"
        at = f"{where.preposition} {place}"
        asked = detail.asked if detail else ""
        request = pick(
            [
                f"Find {wanted} {at} and {verb} it{asked}",
                f"Look for {wanted} {at}, then {verb} it{asked}",
                f"{capitalise(verb)} {wanted} {at}{asked}",
                f"I need {wanted} {at}. Search one and {verb} it{asked}.",
            ]
        )
        search = call(find, (where.name, place_value))
        plural = identifier(noun) + "s"
        if R.random() < 0.12:
            turns = steps(search, {plural: []}, f"I found no {noun} {at}.")
            conversations.append(conversation(request, *turns))
            continue
        given = {"ok": True}
        reference = ""
        if R.random() < 0.5:
            given = {pick(["ref", "booking", "confirmation"]): code(5)}
            reference = f", reference {list(given.values())[0]}"
        report = f"{capitalise(noun)} {best[key]} is {participle}"
        report += (detail.reported if detail else "") + reference + "."
        found = {plural: items} if R.random() < 0.8 else items
        arguments = [(key, best[key])] + ([(detail.name, detail.value)] if detail else [])
        turns = steps(search, found, call(act, *arguments), given, report)
        conversations.append(conversation(request, *turns))
    return signatures, conversations


def check_then_act(now, style, noun):
    numeric = R.random() < 0.35
    check = tool_name(noun, pick(["status", "check", "state", "read", "inspect", "info"]), style)
    verb, participle, bad_states = pick(REPAIRS)
    key = pick(["id", identifier(noun), "number", "name", "unit"])
    act = tool_name(noun, verb, style)
    verb = verb.replace("_", " ")
    tell = R.random() < 0.3
    measure = pick(["level", "temperature", "pressure", "battery", "hours", "load"])
    if tell:
        act = tool_name(
            pick(["staff", "owner", "team", "guard"]),
            pick(["notify", "inform", "alert", "write_to"]),
            style,
        )
    person_key, text_key = pick(["person", "to", "who"]), pick(["text", "message", "note"])
    about = pick([f"Tell the state of a {noun}.", f"Check a {noun}.", f"Read out a {noun}."])
    number_argument = (key, "str", f"Number of the {noun}.")
    signatures = [
        signature(check, about, number_argument),
        (
            signature(
                act, "Write to a person.", (person_key, "str", "Who."), (text_key, "str", "Text.")
            )
            if tell
            else signature(act, f"{capitalise(verb)} a {noun}.", number_argument)
        ),
        unwanted(noun, style),
    ]
    conversations = []
    for _ in range(3):
        number = draw_number()
        holds = R.random() < 0.55
        person, message = pick(POOL["N"]), pick(MESSAGES)
        if tell:
            action, did = f"tell {person}: {message}", f"I told {person}."
            act_call = call(act, (person_key, person), (text_key, message))
        else:
            action, did = f"{verb} it", f"I {participle} it."
            act_call = call(act, (key, number))
        if numeric:
            limit = R.randint(10, 90)
            below = R.random() < 0.5
            step = R.randint(1, 9)
            reading = limit - step if below == holds else limit + step
            given = {measure: reading}
            report = f"The {measure} of {noun} {number} is {reading}"
            condition = f"its {measure} is {'below' if below else 'above'} {limit}"
        else:
            bad = pick(bad_states)
            good = pick([state for state in GOOD_STATES if state != bad])
            state = bad if holds else good
            given = {pick(["state", "status", "condition"]): state}
            report = f"{capitalise(noun)} {number} is {state}"
            condition = f"it is {bad}"
        request = pick(
            [
                f"Check {noun} {number} and {action} if {condition}",
                f"If {noun} {number} shows that {condition}, {action}",
                f"Look at {noun} {number}. If {condition}, {action}.",
                f"How is {noun} {number}? {capitalise(action)} if {condition}",
            ]
        )
        look = call(check, (key, number))
        if holds:
            turns = steps(look, given, act_call, {"ok": True}, f"{report}. {did}")
        else:
            turns = steps(look, given, f"{report}, so I did nothing.")
        conversations.append(conversation(request, *turns))
    if R.random() < 0.6:
        a, b = draw_number(), draw_number()
        request = pick([f"How are {noun} {a} and {noun} {b}?", f"Check {noun} {a} and {noun} {b}"])
        both = block(call(check, (key, a)), call(check, (key, b)))
        conversations.append(conversation(request, both))
    request = f"Tell {person}: {message}" if tell else f"{capitalise(verb)} {noun} {number}"
    conversations.append(conversation(request, block(act_call)))
    return signatures, conversations


def look_up_then_use(now, style, noun):
    name_key = pick(["name", "owner", "person", "customer"])
    number_key = pick(["id", "number", identifier(noun) + "_id", "key", "code"])
    look_up = tool_name(noun, pick(["lookup", "find", "get", "number", "search"]), style)
    verb, participle = pick(ACTIONS + MORE_ACTIONS)
    use = tool_name(noun, verb, style)
    day_key = pick(["day", "date", "on"])
    owner = name_key if name_key != "name" else "owner"
    signatures = [
        signature(
            look_up,
            f"Get the number of a {noun} by the name of its {owner}.",
            (name_key, "str", "Name."),
        ),
        signature(
            use,
            f"{capitalise(verb)} a {noun}.",
            (number_key, "str", f"Number of the {noun}."),
            (day_key, "str", "Day, as YYYY-MM-DD."),
        ),
        unwanted(noun, style),
    ]
    conversations = []
    for _ in range(3):
        person = make(pick(["P", "N"]), now)[1]
        when, day = date(now)
        number = draw_number()
        request = pick(
            [
                f"{capitalise(verb)} the {noun} of {person} {when}",
                f"{capitalise(verb)} {person}'s {noun} {when}, you need to find its number first",
                f"Look up the {noun} of {person} and {verb} it {when}",
            ]
        )
        found = {name_key: person} if R.random() < 0.6 else {}
        turns = steps(
            call(look_up, (name_key, person)),
            found | {number_key: number},
            call(use, (number_key, number), (day_key, day)),
            {"ok": True},
            f"The {noun} {number} of {person} is {participle}.",
        )
        conversations.append(conversation(request, *turns))
    return signatures, conversations


def two_questions(now, style, noun):
    other = pick([candidate for candidate in NOUNS if candidate != noun])
    where = pick(PLACES)
    first = tool_name(noun, pick(["hours", "price", "count", "info", "size"]), style)
    second = tool_name(other, pick(["status", "today", "forecast", "plan"]), style)
    day_key = pick(["day", "date", "on"])
    signatures = [
        signature(first, f"Tell about a {noun}.", (where.name, where.type, where.description)),
        signature(
            second,
            f"Tell about the {other} on a day.",
            (day_key, "str", "Day, as YYYY-MM-DD."),
        ),
        unwanted(other, style),
    ]
    conversations = []
    for _ in range(3):
        place, place_value = where.draw(now)
        when, day = date(now)
        at = f"{where.preposition} {place}"
        both = block(call(first, (where.name, place_value)), call(second, (day_key, day)))
        request = pick(
            [
                f"How about the {noun} {at}, and what about the {other} {when}?",
                f"Tell me about the {noun} {at} and the {other} {when}",
                f"What's up with the {noun} {at} and how does the {other} look {when}?",
            ]
        )
        a = pick(["full", "closed", "free", "12", "40"])
        b = pick(["fine", "late", "ready", "quiet"])
        turns = [both]
        if R.random() < 0.6:
            turns.append(result(to_json({identifier(noun): a, identifier(other): b})))
            turns.append(f"The {noun}: {a}. The {other}: {b}.")
        conversations.append(conversation(request, *turns))
    return signatures, conversations


# Each as often as it stands here.
PATTERNS = [
    find_then_act,
    find_then_act,
    check_then_act,
    check_then_act,
    look_up_then_use,
    two_questions,
]


def flow(now):
    """Signatures and conversations of one pattern, now and then with a tool of another kind."""
    style = naming_style()
    noun = pick(NOUNS)
    signatures, conversations = pick(PATTERNS)(now, style, noun)
    has_other = R.random() < 0.5
    if has_other:
        signatures.append(Offered(pick(TOOLS), style).signature())
    if R.random() < 0.4 and not has_other:
        request, _, _ = ask(Offered(pick(TOOLS[:100]), ""), now)
        conversations.append(conversation(request, NO_TOOL))
    R.shuffle(signatures)
    return signatures, conversations


def days(now):
    """Many short requests that differ in the day only."""
    with_day = [
        tool
        for tool in TOOLS
        if any(
            argument.maker == "D" and not argument.optional for argument in tool.arguments.values()
        )
    ]
    (tool,) = R.sample(with_day, 1)
    offered = Offered(tool, naming_style(), keep=tool.arguments)
    conversations = []
    for _ in range(7):
        request, values, _ = ask(offered, now, mention=0, noise=False)
        conversations.append(conversation(request, block(offered.call(**values))))
    return map(Offered.signature, [offered]), conversations
