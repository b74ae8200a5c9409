"""Requests that take several steps, where a later call depends on an earlier result.

A chain is the ids of the tools that it needs, and a function from those tools (as they are offered)
and the moment to a request and the turns that follow.
"""

from .chance import R, pick
from .days import MONTHS, clock, date
from .dialect import steps
from .pools import POOL
from .turns import capitalise
from .values import code, make, without_article

HOURS = {"morning": (6, 11), "afternoon": (12, 17), "evening": (18, 22)}
RESTAURANTS = (
    "Saffron;Casa Luz;Blue Door;Olive Tree;Kiku;Lotus House;Il Faro;Red Lantern;Chez Mimi;"
    "Spice Route"
).split(";")
CURRENCIES = {
    "USD": "dollars",
    "EUR": "euros",
    "INR": "rupees",
    "GBP": "pounds",
    "JPY": "yen",
    "CHF": "francs",
}


def word(pool):
    return pick(POOL[pool])


def value(maker, now):
    return make(maker, now)[1]


def done():
    """What a tool says that only does something."""
    return pick(
        [
            {"ok": True},
            {"status": "done"},
            {"id": R.randint(10, 99), "saved": True},
            {"success": True},
            {"status": "saved", "id": code(4)},
        ]
    )


def two_cities():
    first = second = word("C")
    while second == first:
        second = word("C")
    return first, second


def weather(tool, city, wet):
    """A forecast as the tool gives it, its sky, and the highest temperature."""
    high = R.randint(3, 38)
    sky = word("wet" if wet else "dry")
    sky_key = pick(["sky", "sky", "conditions", "forecast", "summary"])
    high_key = pick(["high_c", "high_c", "max_c", "temperature"])
    given = {tool.key["city"]: city, sky_key: sky, high_key: high}
    if R.random() < 0.3:
        given["rain_chance"] = R.randint(60, 95) if wet else R.randint(0, 20)
    return given, sky, high


def flights(tools, now):
    a, b = two_cities()
    when, day = date(now)
    part, wanted = pick(
        [
            ("morning", "a morning flight"),
            ("evening", "an evening flight"),
            ("afternoon", "an afternoon flight"),
            (None, "the cheapest flight"),
            (None, "a flight"),
        ]
    )
    wet = R.random() < 0.5
    thing = pick(["a raincoat", "an umbrella", "rain boots", "a rain jacket"])
    request = pick(
        [
            f"I'm flying from {a} to {b} {when}. Find me {wanted}, check if I'll need {thing}, "
            "and save the flight to my itinerary",
            f"Find {wanted} from {a} to {b} {when}, see whether I need {thing} there and put the "
            "flight in my itinerary.",
            f"I travel from {a} to {b} {when}. Please look for {wanted}, check the weather and "
            "add the flight to my trip.",
            f"{a} to {b} {when}: {wanted}, do I need {thing}, and add it to my itinerary",
            f"Trip {when} from {a} to {b}! Get me {wanted}, tell me if I should pack {thing}, "
            "then save the flight",
        ]
    )
    count = R.randint(1, 3)
    found = [
        {
            "flight": value("FL", now),
            "departs": "%02d:%02d"
            % (R.randint(*HOURS.get(part, (6, 22))), pick([0, 5, 15, 20, 40, 50])),
            "price": R.randint(40, 400),
        }
        for _ in range(count)
    ]
    cheapest = min(found, key=lambda flight: flight["price"])
    best = cheapest if "cheap" in wanted else found[0]
    key = pick(["flights", "results", None])
    forecast, sky, _ = weather(tools["get_weather"], b, wet)
    arguments = {"from_city": a, "to_city": b, "date": day} | ({"part": part} if part else {})
    search = tools["search_flights"].call(**arguments)
    if R.random() < 0.12:
        return request, *steps(
            search, {key or "flights": []}, f"I found no flight from {a} to {b}."
        )
    advice = f"so take {thing}." if wet else f"so you won't need {thing}."
    return request, *steps(
        search,
        {key: found} if key else found,
        tools["get_weather"].call(city=b, date=day),
        forecast,
        tools["add_to_itinerary"].call(item=f"Flight {best['flight']}", date=day),
        done(),
        f"Flight {best['flight']} at {best['departs']} is in your itinerary. "
        f"{capitalise(sky)} in {b}, {advice}",
    )


FOR_RAIN = [
    "carry an umbrella",
    "take the umbrella",
    "bring a raincoat",
    "bring the laundry in",
    "close the windows",
    "cover the bike",
]
FOR_DRY_DAYS = [
    "water the plants",
    "wear sunglasses",
    "hang out the washing",
    "put on sunscreen",
    "wash the car",
]
MESSAGES_FOR_RAIN = ["the picnic is off", "we meet indoors", "bring an umbrella"]
MESSAGES_FOR_DRY_DAYS = ["the picnic is on", "we meet in the park", "come by bike"]
IF_WET = ["if it's raining", "if it rains", "in case of rain", "if rain is expected"]
IF_DRY = ["if it's dry", "if it stays dry", "if there is no rain", "if it doesn't rain"]


def _weather_action(name, tool, for_rain):
    """What to do if the weather is so: words of the request, call, what the answer says."""
    if name == "set_reminder":
        text = pick(FOR_RAIN if for_rain else FOR_DRY_DAYS)
        words = pick(
            [f"remind me to {text}", f"add a reminder to {text}", f"set a reminder to {text}"]
        )
        return words, tool.call(text=text), f"I will remind you to {text}"
    if name == "send_message":
        person = word("N")
        text = pick(MESSAGES_FOR_RAIN if for_rain else MESSAGES_FOR_DRY_DAYS)
        words = pick([f"text {person} that {text}", f"tell {person} {text}"])
        return words, tool.call(to=person, text=text), f"I told {person}: {text}"
    title = word("event")
    words = pick([f"cancel my {title}", f"take {title} off my calendar"])
    return words, tool.call(title=title), f"Your {title} is cancelled"


def weather_then(tools, now):
    city = word("C")
    when, day = date(now) if R.random() < 0.6 else ("", now.date().isoformat())
    wet = R.random() < 0.5
    for_rain = R.random() < 0.75
    (name,) = [name for name in tools if name != "get_weather"]
    action, call, did = _weather_action(name, tools[name], for_rain)
    when = " " + when if when else ""
    condition = pick(IF_WET if for_rain else IF_DRY)
    request = pick(
        [
            f"What's the weather in {city}{when}, and {action} {condition}",
            f"What's the weather in {city}{when}? {capitalise(condition)}, {action}.",
            f"Check the weather in {city}{when} and {action} {condition}.",
            f"{capitalise(condition)} in {city}{when}, {action}",
            f"{capitalise(action)} {condition} in {city}{when}",
            f"Look at the forecast for {city}{when}; {condition}, {action}",
        ]
    )
    forecast, sky, high = weather(tools["get_weather"], city, wet)
    report = pick([f"{capitalise(sky)} in {city}, up to {high} °C", f"{capitalise(sky)} in {city}"])
    look = tools["get_weather"].call(city=city, date=day)
    if wet == for_rain:
        return request, *steps(look, forecast, call, done(), f"{report}. {did}.")
    nothing = "no reminder is needed." if name == "set_reminder" else "I did nothing."
    return request, *steps(look, forecast, f"{report}, so {nothing}")


def invoices(tools, now):
    person = value("P", now)
    count = R.randint(1, 3)
    found = [
        {
            "id": value("INV", now),
            "date": f"2026-{R.randint(1, 12):02d}-{R.randint(1, 28):02d}",
            "amount": round(R.uniform(10, 900), 2),
        }
        for _ in range(count)
    ]
    last = max(found, key=lambda invoice: invoice["date"])
    reason = word("reason")
    ticket = value("TK", now)
    close = R.random() < 0.4
    request = pick(
        [
            f"{person} wants the last invoice back because of {reason}. Please refund it",
            f"Refund the latest invoice of {person}, reason: {reason}",
            f"Find the newest invoice of {person}, check it and pay it back for {reason}",
            f"{person} complained ({reason}). Look up the invoices, get the last one and refund it",
        ]
    )
    if close:
        request += pick([f", then close ticket {ticket}", f" and close {ticket}"])
    search = tools["list_invoices"].call(customer=person)
    if R.random() < 0.15:
        return request, *steps(search, {"invoices": []}, f"{person} has no invoices.")
    parts = [
        search,
        {"invoices": found},
        tools["get_invoice"].call(invoice=last["id"]),
        {**last, "status": "paid"},
        tools["refund_invoice"].call(invoice=last["id"], reason=reason),
        {"refund": code(4), "amount": last["amount"]},
    ]
    report = f"Invoice {last['id']} over {last['amount']} is refunded to {person}."
    if close:
        parts += [tools["close_ticket"].call(ticket=ticket), done()]
        report += f" {ticket} is closed."
    return request, *steps(*parts, report)


def files(tools, now):
    name = word("file")
    path = pick(["/Documents/", "/Work/", "/Downloads/", "/home/"]) + name
    facts = [
        ("pin", str(R.randint(1000, 9999))),
        ("deadline", f"{R.randint(1, 28)} {pick(MONTHS)}"),
        ("address", word("addr")),
        ("budget", str(R.randint(100, 9000))),
        ("contact", value("P", now)),
        ("meeting place", word("place")),
        ("phone", value("PH", now)),
    ]
    fact, content = pick(facts)
    request = pick(
        [
            f"Find the file {name} and tell me the {fact}",
            f"What's the {fact} in {name}?",
            f"Look for {name}, read it and give me the {fact}.",
            f"I wrote the {fact} in {name} somewhere. What was it?",
        ]
    )
    person = word("N") if R.random() < 0.35 else None
    if person:
        request = pick(
            [
                f"Find {name}, read the {fact} and text it to {person}",
                f"Send {person} the {fact} from {name}",
            ]
        )
    search = tools["search_files"].call(query=name)
    found = pick([{"files": [path]}, {"path": path}, [{"path": path, "kb": R.randint(1, 90)}]])
    if R.random() < 0.12:
        nothing = pick([{"files": []}, {"error": "nothing found"}])
        return request, *steps(search, nothing, f"I found no file {name}.")
    lines = R.sample([other for other in facts if other[0] != fact], 1) + [(fact, content)]
    R.shuffle(lines)
    text = "; ".join(f"{key}: {line}" for key, line in lines)
    parts = [search, found, tools["read_file"].call(path=path), {"text": text}]
    if not person:
        return request, *steps(*parts, f"The {fact} in {name} is {content}.")
    send = tools["send_message"].call(to=person, text=f"The {fact} is {content}")
    report = f"I told {person} that the {fact} is {content}."
    return request, *steps(*parts, send, done(), report)


def dinner(tools, now):
    city, cuisine = word("C"), word("cuisine")
    people = R.randint(2, 9)
    when, day = date(now)
    at, time = clock(17, 21)
    names = R.sample(RESTAURANTS, R.randint(1, 3))
    found = [{"name": name, "rating": round(R.uniform(3, 5), 1)} for name in names]
    want_best = R.random() < 0.5
    chosen = max(found, key=lambda place: place["rating"]) if want_best else found[0]
    best, top_rated, best_place = (
        ("the best", "the top-rated", "the best rated place")
        if want_best
        else ("a", "a", "a place")
    )
    request = pick(
        [
            f"Find {best} {cuisine} restaurant in {city} and book a table for {people} {when} "
            f"at {at}",
            f"Book us {top_rated} {cuisine} place in {city}, {people} people, {when} {at}",
            f"We are {people} and want {cuisine} food in {city} {when} at {at}. "
            f"Find {best_place} and reserve.",
        ]
    )
    search = tools["find_restaurant"].call(city=city, cuisine=cuisine)
    if R.random() < 0.12:
        nothing = f"I found no {cuisine} restaurant in {city}."
        return request, *steps(search, {"restaurants": []}, nothing)
    is_full = R.random() < 0.15
    name = chosen["name"]
    book = tools["book_table"].call(restaurant=name, people=people, date=day, time=time)
    parts = [search, {"restaurants": found}, book]
    if is_full:
        return request, *steps(*parts, {"error": "fully booked"}, f"{name} is fully booked.")
    ref = code(5)
    report = f"Your table for {people} at {name} is booked for {time}, reference {ref}."
    return request, *steps(*parts, {"ref": ref}, report)


def if_free(tools, now):
    when, day = date(now)
    at, time = clock(8, 19)
    title = word("event")
    busy = R.random() < 0.4
    request = pick(
        [
            f"If I'm free {when} at {at}, schedule {title}",
            f"Check my calendar {when} and add {title} at {at} if nothing is on then",
            f"Am I free {when} at {at}? If so, put {title} in",
        ]
    )
    events = []
    if busy or R.random() < 0.6:
        other = pick([event for event in POOL["event"] if event != title])
        later = time if busy else f"{(int(time[:2]) + R.randint(2, 4)) % 24:02d}:00"
        events = [{"title": other, "time": later}]
    look = tools["list_events"].call(date=day)
    if busy:
        report = f"You have {events[0]['title']} at {time}, so I added nothing."
        return request, *steps(look, {"events": events}, report)
    return request, *steps(
        look,
        {"events": events},
        tools["create_event"].call(title=title, date=day, time=time),
        done(),
        f"You are free. {capitalise(title)} is in your calendar at {time}.",
    )


def shop(tools, now):
    product = word("product")
    limit = R.randint(20, 200)
    price = R.randint(5, 250)
    name = pick(["Model A", "Trail 2", "Basic", "Comfort Plus", "Eco 5", "City", "Pro Max"])
    quantity = pick([1, 1, 2, 3])
    request = pick(
        [
            f"Find {product} and add {quantity} to my cart if it costs under {limit}",
            f"Look for {product}; if the price is below {limit}, put {quantity} in the basket",
            f"If you find {product} for less than {limit}, add {quantity} to my cart",
        ]
    )
    search = tools["search_products"].call(query=without_article(product))
    parts = [search, {"name": name, "price": price}]
    if price >= limit:
        report = f"{name} costs {price}, which is not under {limit}, so I added nothing."
        return request, *steps(*parts, report)
    return request, *steps(
        *parts,
        tools["add_to_cart"].call(product=name, quantity=quantity),
        done(),
        f"{name} costs {price}. I added {quantity} to your cart.",
    )


def shares(tools, now):
    company = word("company")
    limit, price, quantity = R.randint(50, 500), R.randint(40, 520), R.randint(2, 60)
    request = pick(
        [
            f"Buy {quantity} shares of {company} if the price is below {limit}",
            f"Check {company} stock and if it is under {limit}, buy {quantity} shares",
            f"How is {company} trading? Get me {quantity} shares if it is less than {limit}",
        ]
    )
    parts = [tools["stock_price"].call(company=company), {"price": price}]
    if price >= limit:
        report = f"{company} trades at {price}, which is not below {limit}, so I bought nothing."
        return request, *steps(*parts, report)
    return request, *steps(
        *parts,
        tools["buy_shares"].call(company=company, quantity=quantity),
        {"order": code(5)},
        f"{company} trades at {price}. I bought {quantity} shares.",
    )


def pay(tools, now):
    account = pick(["savings", "checking"])
    person = value("P", now)
    amount, balance = R.randint(10, 900), R.randint(5, 1500)
    request = pick(
        [
            f"If there is enough on my {account} account, send {amount} to {person}",
            f"Check my {account} account and transfer {amount} to {person} if I can afford it",
        ]
    )
    parts = [tools["account_balance"].call(account=account), {"balance": balance}]
    if balance < amount:
        report = f"There is only {balance} on your {account} account, so I sent nothing."
        return request, *steps(*parts, report)
    return request, *steps(
        *parts,
        tools["transfer_money"].call(to=person, amount=amount),
        done(),
        f"I sent {amount} to {person}. The balance was {balance}.",
    )


def hotel(tools, now):
    city = word("C")
    when, day = date(now)
    nights = R.randint(1, 7)
    names = R.sample(POOL["hotel"], R.randint(1, 3))
    found = [{"name": name, "price": R.randint(40, 300)} for name in names]
    cheap = R.random() < 0.6
    chosen = min(found, key=lambda place: place["price"]) if cheap else found[0]
    wanted, room = ("the cheapest", "the cheapest room") if cheap else ("a", "a room")
    request = pick(
        [
            f"Find {wanted} hotel in {city} {when} for {nights} nights and book it",
            f"I'm going to {city} {when} and stay {nights} nights. Get me {room} and reserve it.",
        ]
    )
    ref = code(5)
    return request, *steps(
        tools["find_hotels"].call(city=city, checkin=day, nights=nights),
        {"hotels": found},
        tools["book_hotel"].call(hotel=chosen["name"], date=day, nights=nights),
        {"ref": ref},
        f"{chosen['name']} in {city} is booked for {chosen['price']} a night, reference {ref}.",
    )


def heat(tools, now):
    room = word("room")
    limit, current, wanted = R.randint(17, 21), R.randint(13, 25), R.randint(20, 24)
    request = pick(
        [
            f"If the {room} is colder than {limit} degrees, heat it to {wanted}",
            f"Check the temperature in the {room} and set it to {wanted} if it is below {limit}",
        ]
    )
    look = tools["read_sensor"].call(kind="temperature", room=room)
    parts = [look, {"value": current}]
    if current >= limit:
        return request, *steps(*parts, f"The {room} has {current} degrees, so I changed nothing.")
    return request, *steps(
        *parts,
        tools["set_thermostat"].call(room=room, celsius=wanted),
        done(),
        f"The {room} had {current} degrees. I set it to {wanted}.",
    )


def late(tools, now):
    flight = value("FL", now)
    person = word("N")
    delayed = R.random() < 0.55
    minutes = R.randint(10, 120)
    request = pick(
        [
            f"Check flight {flight} and if it is delayed, text {person} that I will be late",
            f"If {flight} isn't on time, let {person} know that I will be late",
            f"Is {flight} delayed? If yes, message {person} that I will be late",
        ]
    )
    look = tools["flight_status"].call(flight=flight)
    if not delayed:
        status = {"flight": flight, "status": "on time"}
        return request, *steps(look, status, f"Flight {flight} is on time, so I sent nothing.")
    return request, *steps(
        look,
        {"flight": flight, "status": "delayed", "delay_min": minutes},
        tools["send_message"].call(to=person, text="I will be late"),
        done(),
        f"Flight {flight} is delayed by {minutes} minutes. I told {person}.",
    )


def corrected(tools, now):
    """A tool's error names the accepted form, and the call is corrected."""
    a, b = R.sample(list(CURRENCIES), 2)
    amount = R.randint(5, 900)
    converted = round(amount * R.uniform(0.1, 90), 2)
    name_a, name_b = CURRENCIES[a], CURRENCIES[b]
    request = pick(
        [f"How much is {amount} {name_a} in {name_b}?", f"Convert {amount} {name_a} to {name_b}"]
    )
    convert = tools["convert_currency"]
    parts = [
        convert.call(amount=amount, from_currency=a, to_currency=b),
        {"result": converted},
        f"{amount} {a} is {converted} {b}.",
    ]
    if R.random() < 0.5:
        return request, *steps(*parts)
    wrong = convert.call(amount=amount, from_currency=name_a, to_currency=name_b)
    return request, *steps(wrong, {"error": f"use codes such as {a} and {b}"}, *parts)


def order(tools, now):
    number = value("OR", now)
    is_wrong = R.random() < 0.5
    status = pick(
        ["lost", "delayed", "damaged"] if is_wrong else ["delivered", "shipped", "out for delivery"]
    )
    ticket = value("TK", now)
    request = pick(
        [
            f"Check order {number} and open a ticket if something is wrong",
            f"Where is {number}? If there is a problem, create a ticket",
            f"Look up {number}; if it is lost or late, file a ticket",
        ]
    )
    look = tools["order_status"].call(order=number)
    parts = [look, {"order": number, "status": status}]
    if not is_wrong:
        return request, *steps(*parts, f"Order {number} is {status}, so I opened no ticket.")
    return request, *steps(
        *parts,
        tools["create_ticket"].call(summary=f"Order {number} is {status}"),
        {"ticket": ticket},
        f"Order {number} is {status}. I opened ticket {ticket}.",
    )


# Each as often as it stands here.
CHAINS = [
    *[(["search_flights", "get_weather", "add_to_itinerary"], flights)] * 4,
    *[(["get_weather", "set_reminder"], weather_then)] * 3,
    (["get_weather", "send_message"], weather_then),
    (["get_weather", "cancel_event"], weather_then),
    *[(["list_invoices", "get_invoice", "refund_invoice", "close_ticket"], invoices)] * 2,
    *[(["search_files", "read_file", "send_message"], files)] * 2,
    (["find_restaurant", "book_table"], dinner),
    (["list_events", "create_event"], if_free),
    (["search_products", "add_to_cart"], shop),
    (["stock_price", "buy_shares"], shares),
    (["account_balance", "transfer_money"], pay),
    (["find_hotels", "book_hotel"], hotel),
    (["read_sensor", "set_thermostat"], heat),
    (["flight_status", "send_message"], late),
    (["convert_currency"], corrected),
    (["order_status", "create_ticket"], order),
]
