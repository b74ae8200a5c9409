"""Values of arguments. A maker gives two things: the words of a request, and the argument itself.

data/tools-*.txt names the maker of each argument as KIND or KIND:DETAIL:

  C, C2   a city              N        a first name        P       a full name
  W:POOL  a word of a list    s:a;b;c  one of these words
  i:LO-HI an integer          f:LO-HI, f2:LO-HI  a decimal, at most one or exactly two places
  I       -20 to 20           M        an amount of money
  %       percent, as a part of one     pct  percent, as it is
  D       a day from today    DA       a day of the past
  T, T2, T3  a time, in the daytime, in the evening
  PH, EM  telephone, e-mail   FL, TK, INV, OR, TR, CODE, CODE2  numbers of flights, tickets, …
  B:YES;NO  true or false, in words    b:SOME;WORDS  true, if one of these is said
  e:VALUE=WORDS;…  one of these values
  L:POOL, L:s:a;b  a list of words, Li, Lf of numbers, L2 a point, LL a matrix
  O:KEY=MAKER|…    an object

Anything else stands for itself.
"""

import re

from .chance import R, pick
from .days import clock, date, past_date
from .pools import POOL

SMALL_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
PLACES = (
    "Boston, MA;Austin, TX;San Jose, CA;Portland, OR;Miami, FL;Paris, France;Porto, Portugal;"
    "Kochi, India;Leeds, UK;Lyon, France;Perth, Australia;Bergen, Norway;Reno, NV;Tampa, FL;"
    "Cork, Ireland;Kyoto, Japan"
).split(";")

# How a signature writes the type of an argument; the others are strings.
TYPES = {
    "i": "int",
    "f": "float",
    "f2": "float",
    "I": "int",
    "M": "float",
    "%": "float",
    "pct": "float",
    "B": "bool",
    "b": "bool",
    "L": "list[str]",
    "Li": "list[int]",
    "Lf": "list[float]",
    "L2": "list[float]",
    "LL": "list[list]",
    "O": "dict",
}


def number(low, high, places):
    if places == 0:
        return R.randint(int(low), int(high))
    value = round(R.uniform(low, high), places)
    return int(value) if value == int(value) else value


def code(length=5):
    return "".join(pick("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(length))


def enumerate_words(words):
    """ "a, b and c" in one of its forms."""
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + pick([" and ", " and ", ", ", ", and "]) + words[-1]


def without_article(words):
    return re.sub(r"^(the|a|an) ", "", words)


def _same(value):
    return value, value


def _city(_detail, _now):
    return _same(pick(PLACES) if R.random() < 0.12 else pick(POOL["C"]))


def _person(_detail, _now):
    return _same(pick(POOL["N"]) + " " + pick(POOL["surname"]))


def _word(words):
    value = pick(words)
    return value, without_article(value)


def _integer(detail, _now):
    low, high = re.match(r"(-?\d+)-(-?\d+)", detail).groups()
    value = number(low, high, 0)
    if 1 < value <= 12 and R.random() < 0.25:
        return SMALL_NUMBERS[value - 1], value
    return str(value), value


def _decimal(detail, places):
    low, high = re.match(r"(-?[\d.]+)-(-?[\d.]+)", detail).groups()
    value = number(float(low), float(high), places)
    return str(value), value


def _signed(_detail, _now):
    value = R.randint(-20, 20)
    return str(value), value


def _money(_detail, _now):
    value = pick(
        [
            R.randint(5, 99),
            R.randint(100, 999),
            R.randint(1000, 9999),
            R.randint(1, 90) * 1000,
            round(R.uniform(5, 300), 2),
        ]
    )
    text = f"{value:,}" if R.random() < 0.5 else str(value)
    if R.random() < 0.07:
        n = R.randint(1, 9)
        return pick(
            [
                (f"{n} million", n * 1_000_000),
                (f"{n * 10}k", n * 10_000),
                (f"{n} thousand", n * 1000),
            ]
        )
    return text, value


def _percentage(as_part):
    value = pick([R.randint(1, 30), R.randint(2, 95), round(R.uniform(0.5, 12), 1)])
    text = f"{value}" + pick(["%", "%", "%", " percent", " per cent"])
    return text, round(value / 100, 5) if as_part else value


def _telephone(_detail, _now):
    return _same(
        pick(
            [
                f"+44 20 7946 {R.randint(1000, 9999)}",
                f"555-{R.randint(1000, 9999)}",
                f"+91 98{R.randint(100, 999)} {R.randint(10000, 99999)}",
                f"0{R.randint(100000000, 999999999)}",
            ]
        )
    )


def _email(_detail, _now):
    name = pick(POOL["N"]).lower()
    surname = pick(["", "." + pick(POOL["surname"]).lower()])
    host = pick(["example.com", "mail.example", "work.example", "firma.example"])
    return _same(f"{name}{surname}@{host}")


def _flight(_detail, _now):
    airline = pick(["6E", "AI", "KL", "LH", "AF", "BA", "EK", "QF", "UA", "TK"])
    return _same(airline + pick([" ", "", "-"]) + str(R.randint(100, 2999)))


def _numbered(patterns, low, high):
    return _same(pick(patterns) % R.randint(low, high))


def _yes_or_no(detail, _now):
    yes, no = detail.split(";")
    value = R.random() < 0.6
    return (yes if value else no), value


def _enumeration(detail, _now):
    value, words = pick(detail.split(";")).split("=")
    return words, value


def _list(detail, now):
    if detail == "P":
        values = [make("P", now)[1] for _ in range(R.randint(2, 3))]
    else:
        words = POOL[detail] if detail in POOL else detail.removeprefix("s:").split(";")
        values = R.sample(words, min(len(words), pick([1, 2, 2, 3, 3, 4])))
    return enumerate_words(values), values


def _numbers(all_integers):
    values = [
        number(1, 99, 0) if all_integers or R.random() < 0.6 else number(1, 99, 1)
        for _ in range(R.randint(3, 6))
    ]
    if R.random() < 0.3:
        return str(values), values
    return enumerate_words([str(value) for value in values]), values


def _point(_detail, _now):
    values = [R.randint(-9, 12), R.randint(-9, 12)]
    return pick(["(%d, %d)", "[%d, %d]", "(%d,%d)"]) % tuple(values), values


def _matrix(_detail, _now):
    values = [[R.randint(-9, 9) for _ in range(2)] for _ in range(2)]
    return str(values), values


def _object(detail, now):
    entries = [entry.split("=", 1) for entry in detail.split("|")]
    values = {key: make(spec, now)[1] for key, spec in entries}
    words = [
        (
            f"{key} {value}"
            if isinstance(value, str)
            else pick([f"{key} {value}", f"{value} as {key}"])
        )
        for key, value in values.items()
    ]
    return enumerate_words(words), values


MAKERS = {
    "C": _city,
    "C2": _city,
    "N": lambda detail, now: _same(pick(POOL["N"])),
    "P": _person,
    "W": lambda detail, now: _word(POOL[detail]),
    "W2": lambda detail, now: _word(POOL[detail]),
    "s": lambda detail, now: _word(detail.split(";")),
    "i": _integer,
    "f": lambda detail, now: _decimal(detail, pick([0, 1, 1])),
    "f2": lambda detail, now: _decimal(detail, 2),
    "I": _signed,
    "M": _money,
    "%": lambda detail, now: _percentage(as_part=True),
    "pct": lambda detail, now: _percentage(as_part=False),
    "D": lambda detail, now: date(now),
    "DA": lambda detail, now: past_date(),
    "T": lambda detail, now: clock(6, 22),
    "T2": lambda detail, now: _same(clock(6, 15)[1]),
    "T3": lambda detail, now: _same(clock(16, 22)[1]),
    "PH": _telephone,
    "EM": _email,
    "FL": _flight,
    "TK": lambda detail, now: _numbered(["T-%d", "SUP-%d", "HD-%d", "%d", "TCK%d"], 100, 9999),
    "INV": lambda detail, now: _numbered(["INV-%d", "F-%d", "2026-%d", "R%d"], 100, 9999),
    "OR": lambda detail, now: _numbered(["A-%d", "ORD%d", "%d", "W-%d"], 10000, 999999),
    "TR": lambda detail, now: _same(code(10)),
    "CODE": lambda detail, now: _same(code(R.randint(4, 6))),
    "CODE2": lambda detail, now: make("INV", now),
    "B": _yes_or_no,
    "b": lambda detail, now: (pick(detail.split(";")), True),
    "e": _enumeration,
    "L": _list,
    "Li": lambda detail, now: _numbers(all_integers=True),
    "Lf": lambda detail, now: _numbers(all_integers=False),
    "L2": _point,
    "LL": _matrix,
    "O": _object,
}


def make(spec, now):
    """Words of a request and value of an argument, by the maker that `spec` names."""
    kind, _, detail = spec.partition(":")
    if kind in MAKERS:
        return MAKERS[kind](detail, now)
    return spec, {"true": True, "false": False}.get(spec, spec)
