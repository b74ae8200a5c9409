"""SNIPS utterances (CC0; Coucke et al. 2018, arXiv:1805.10190) as calls of tools.

The slots of an utterance become arguments, under several wordings of the signatures. The data are
the files INTENT/train_INTENT_full.json of the 2017-06-custom-intent-engines benchmark.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from . import dialect
from .chance import R, pick
from .dialect import NO_TOOL, block, conversation
from .toolset import camel_case, naming_style, snake_case
from .turns import capitalise


@dataclass
class Intent:
    names: list
    """Names of the tool."""
    description: str
    slots: dict
    """Names of the argument, by slot."""
    needed: list


def _intent(names, description, slots, needed=()):
    return Intent(names.split(","), description, slots, list(needed))


INTENTS = {
    "AddToPlaylist": _intent(
        "add_to_playlist,playlist.add_item,addMusic",
        "Add music to a playlist.",
        {
            "playlist": "playlist,playlist_name,list_name",
            "entity_name": "title,entity_name,name",
            "artist": "artist,singer",
            "playlist_owner": "owner,playlist_owner",
            "music_item": "music_item,kind",
        },
        ["playlist"],
    ),
    "BookRestaurant": _intent(
        "book_restaurant,restaurant.book,reserve_table",
        "Book a table in a restaurant.",
        {
            "party_size_number": "people,party_size,guests",
            "restaurant_name": "restaurant,name",
            "restaurant_type": "type,restaurant_type",
            "city": "city,town",
            "state": "state",
            "country": "country",
            "timeRange": "time,when",
            "cuisine": "cuisine",
            "served_dish": "dish,served_dish",
            "sort": "rating,sort",
            "facility": "facility",
            "spatial_relation": "distance,nearness",
            "poi": "near,poi",
            "party_size_description": "company,party",
        },
    ),
    "GetWeather": _intent(
        "get_weather,weather.forecast,weatherLookup",
        "Get a weather forecast.",
        {
            "city": "city,town",
            "state": "state,region",
            "country": "country",
            "timeRange": "time,when",
            "condition_description": "condition,sky",
            "condition_temperature": "temperature,temp",
            "geographic_poi": "place,poi",
            "current_location": "here,current_location",
            "spatial_relation": "distance,nearness",
        },
    ),
    "PlayMusic": _intent(
        "play_music,music.play,startMusic",
        "Play music.",
        {
            "artist": "artist,singer",
            "track": "track,song,title",
            "album": "album",
            "playlist": "playlist",
            "genre": "genre,style",
            "year": "year,decade",
            "service": "service,app",
            "music_item": "music_item,kind",
            "sort": "sort,order",
        },
    ),
    "RateBook": _intent(
        "rate_book,books.rate,giveRating",
        "Rate a book.",
        {
            "rating_value": "rating,score,points",
            "best_rating": "best,max_rating,out_of",
            "rating_unit": "unit,rating_unit",
            "object_name": "title,book,name",
            "object_type": "kind,type",
            "object_select": "which,select",
            "object_part_of_series_type": "series,part_of",
        },
        ["rating_value"],
    ),
    "SearchCreativeWork": _intent(
        "search_work,works.search,findMedia",
        "Search for a book, film, song, game or show.",
        {"object_name": "title,name,query", "object_type": "kind,type"},
        ["object_name"],
    ),
    "SearchScreeningEvent": _intent(
        "movie_schedule,cinema.schedule,findScreenings",
        "Find when and where films are shown.",
        {
            "movie_name": "movie,film,title",
            "movie_type": "kind,film_type",
            "location_name": "cinema,theatre",
            "timeRange": "time,when",
            "spatial_relation": "distance,nearness",
            "object_location_type": "place_type",
            "object_type": "what,info",
        },
    ),
}
NUMERIC = {"party_size_number", "rating_value", "best_rating"}
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()


def read(folder):
    """The utterances of each intent: lists of parts with `text` and perhaps `entity`."""
    utterances = {}
    for intent in INTENTS:
        raw = (Path(folder) / intent / f"train_{intent}_full.json").read_bytes()
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
        utterances[intent] = [entry["data"] for entry in json.loads(text)[intent]]
    return utterances


def _text(parts):
    return "".join(part["text"] for part in parts)


def _number(text):
    text = text.strip().lower()
    if text in NUMBER_WORDS:
        return NUMBER_WORDS.index(text)
    return int(text) if text.isdigit() else None


class _Tool:
    """An intent as one conversation sees it."""

    def __init__(self, intent, style):
        self.intent = intent
        name = pick(intent.names)
        if style == "camel":
            name = camel_case(name)
        elif style == "snake":
            name = snake_case(name.replace(".", "_"))
        self.name = name
        slots = [slot for slot in intent.slots if slot in intent.needed or R.random() < 0.85]
        R.shuffle(slots)
        self.slots = sorted(slots, key=lambda slot: slot not in intent.needed)
        self.key = {slot: pick(intent.slots[slot].split(",")) for slot in self.slots}

    def signature(self):
        return dialect.signature(
            self.name,
            self.intent.description,
            [
                (
                    self.key[slot],
                    "int" if slot in NUMERIC else "str",
                    f"{capitalise(slot.replace('_', ' '))}, in the user's words.",
                    slot not in self.intent.needed,
                )
                for slot in self.slots
            ],
        )

    def call(self, parts):
        """The call that an utterance asks for; None where the tool cannot express it."""
        values = {}
        for part in parts:
            slot = part.get("entity")
            if slot not in self.slots:
                continue
            text = part["text"].strip()
            value = _number(text) if slot in NUMERIC else text
            if value is None or slot in values:
                return None
            values[slot] = value
        if any(slot not in values for slot in self.intent.needed):
            return None
        arguments = [(self.key[slot], values[slot]) for slot in self.slots if slot in values]
        return dialect.call(self.name, arguments)


def _unserved(utterances, intents):
    """An intent that none of these serves; None where a tool might serve it after all."""
    # One searches for anything.
    others = [] if "SearchCreativeWork" in intents else [*utterances]
    others = [i for i in others if i not in (*intents, "SearchCreativeWork")]
    chosen = pick(others or ["RateBook"])
    return None if chosen in (*intents, "PlayMusic") else chosen


def requests(utterances):
    """Signatures and conversations from the utterances of one to three intents."""
    intents = R.sample(list(utterances), pick([1, 2, 3]))
    style = naming_style()
    tools = {intent: _Tool(INTENTS[intent], style) for intent in intents}
    conversations = []
    for _ in range(5):
        intent = pick(intents)
        parts = pick(utterances[intent])
        text = re.sub(r"\s+", " ", _text(parts)).strip()
        call = tools[intent].call(parts)
        if call and text:
            conversations.append(conversation(text, block(call)))
    unserved = _unserved(utterances, intents)
    if unserved:
        text = _text(pick(utterances[unserved])).strip()
        conversations.append(conversation(text, NO_TOOL))
    return [tool.signature() for tool in tools.values()], conversations
