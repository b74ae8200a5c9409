"""Days and times: as a user says them, and as the argument of a tool.

Days that need a calendar ("next Friday", "in five days") stay in the user's words: a small model
gets them wrong, code gets them right, and a wrong date looks like a right one. So the app resolves
them before the tool runs. Today, tomorrow and dates are given as YYYY-MM-DD.
"""

import datetime as dt
import re

from .chance import R, pick

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()


def without_preposition(words):
    return re.sub(r"^(on|this) ", "", words)


def _in_words(words):
    return words, without_preposition(words)


def _written(day, with_year=False):
    """A date as people write it."""
    month = MONTHS[day.month - 1]
    ordinal = f"the {day.day}th of {month}" if 3 < day.day < 21 else f"{day.day} {month}"
    text = pick([f"{day.day} {month}", f"{month} {day.day}", ordinal])
    return f"{text} {day.year}" if with_year else text


def past_date():
    """Some date of the last decades: words, argument."""
    day = dt.date(R.randint(1950, 2030), R.randint(1, 12), R.randint(1, 28))
    return _written(day, with_year=True), day.isoformat()


def date(now):
    """A day from today on: words, argument."""
    today = now.date()
    kind = R.random()
    if kind < 0.12:
        return pick(["today", "today", "tonight"]), today.isoformat()
    if kind < 0.36:
        return "tomorrow", (today + dt.timedelta(1)).isoformat()
    if kind < 0.41:
        return _in_words(pick(["the day after tomorrow", "in two days"]))
    if kind < 0.60:
        day = today + dt.timedelta(R.randint(1, 7))
        return _in_words(pick(["on ", "on ", "this "]) + DAYS[day.weekday()])
    if kind < 0.72:  # The day in the next week, Monday to Sunday.
        day = today + dt.timedelta(7 - today.weekday() + R.randint(0, 6))
        return _in_words("next " + DAYS[day.weekday()])
    if kind < 0.77:
        return _in_words(f"in {R.randint(3, 10)} days")
    day = today + dt.timedelta(R.randint(3, 200))
    if kind < 0.82:
        return "on " + day.isoformat(), day.isoformat()
    return "on " + _written(day, with_year=kind > 0.95), day.isoformat()


def clock(first_hour=0, last_hour=23):
    """A time of day: words, argument as HH:MM."""
    hour = R.randint(first_hour, last_hour)
    minute = pick([0, 0, 15, 30, 45, R.randint(0, 59)])
    value = f"{hour:02d}:{minute:02d}"
    if R.random() < 0.55:
        text = f"{(hour - 1) % 12 + 1}" + (f":{minute:02d}" if minute else "")
        text += pick(["", " "]) + ("am" if hour < 12 else "pm")
        if minute == 0 and hour == 12 and R.random() < 0.5:
            text = "noon"
        return text, value
    if R.random() < 0.2:
        return f"{hour}:{minute:02d}", value
    return value, value


def moment():
    """When a conversation takes place."""
    return dt.datetime(2025, 1, 1) + dt.timedelta(
        days=R.randint(0, 900), minutes=R.randint(360, 1380)
    )
