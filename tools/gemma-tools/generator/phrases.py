"""Words around a request: small talk, requests that no tool serves, what people add to a request."""

CHAT = [
    ("Hello!", "Hello! How can I help?"),
    ("Hi there", "Hello! How can I help?"),
    ("Thanks a lot!", "You're welcome."),
    ("Thank you, that was great", "You're welcome."),
    ("Good night", "Good night!"),
    ("How are you today?", "I'm fine, thanks. How can I help?"),
    ("ok bye", "Goodbye!"),
]

# Requests that hardly any tool serves; {KIND} is a value's maker.
OFF_TOPIC = [
    "Who wrote {W:book}?",
    "Why is the sky blue?",
    "Tell me a joke about {W:animal}s",
    "What is the meaning of {W:word}?",
    "How tall is the Eiffel Tower?",
    "Write a poem about {C}",
    "Who is the president of {W:country}?",
    "What is {i:2-90} times {i:2-90}?",
    "Which is better, {W:food} or pizza?",
    "How do I learn to play the {W:instrument}?",
    "What causes a {W:symptom}?",
    "Who painted {W:painting}?",
    "When was {W:company} founded?",
    "Explain {W:topic} to me",
    "Which chess opening is best?",
    "What is the chemical formula of {W:substance}?",
    "Can dogs eat {W:ingredient}?",
    "How old is {W:player}?",
    "Find me a job as a baker in {C}",
    "Calculate the orbit of {W:planet}",
    "Order me {W:food}",
    "Give me the lyrics of {W:song}",
    "Fix my bicycle",
    "What did {W:figure} discover?",
    "How many bones does a {W:animal} have?",
    "Sell my old sofa for {M} dollars",
    "Which horse won the race in {C}?",
    "What is the capital of {W:country}?",
    "Compute the area of a circle with radius {i:1-20}",
    "Who won the world cup in {i:1960-2020}?",
    "Design a logo for {W:company}",
    "Rate my essay",
    "Name the bones of the hand",
    "What is the speed of light?",
    "Print three copies of {W:file}",
    "Charge my car tonight",
    "Start the dishwasher",
    "Open the window in the {W:room}",
    "Scan this document",
    "Pair my headset",
]

# Tools that could serve one of these after all.
SERVED_BY = {
    "Who painted {W:painting}?": ["painting_info"],
    "What is the capital of {W:country}?": ["capital_city"],
    "What is the meaning of {W:word}?": ["define_word"],
    "Find me a job as a baker in {C}": ["find_jobs"],
    "How old is {W:player}?": ["player_stats", "biography"],
    "What did {W:figure} discover?": ["biography"],
    "How many bones does a {W:animal} have?": ["species_info"],
    "Explain {W:topic} to me": ["search_news"],
    "Order me {W:food}": ["find_restaurant", "book_table"],
}

GREETINGS = [
    "Hey, ",
    "Hi! ",
    "Hello. ",
    "Quick one: ",
    "I'm in a hurry. ",
    "Good morning! ",
    "Sorry to bother you. ",
    "Okay so ",
    "I've had a long day. ",
    "My friend told me you could help. ",
    "One more thing. ",
    "Listen, ",
]

CIRCUMSTANCES = [
    "I'm preparing something for school.",
    "My colleague and I talked about this over lunch.",
    "We have guests this weekend.",
    "I have 3 kids and little time.",
    "It's my second try today.",
    "I read about it in the paper.",
    "We are a team of 5 and need this soon.",
    "I'm writing a report on it.",
    "I am new here and don't know how this works.",
    "Yesterday I forgot about it.",
    "My neighbour in Lima asked me for help.",
    "This is for a project at work.",
]

ENDINGS = [
    " Thanks!",
    " Thank you.",
    " please",
    ", please",
    " It matters to me.",
    " I have no idea myself.",
    " My daughter wants to know.",
    " No rush.",
    " asap",
    " I asked yesterday already.",
]

FAILURES = [
    "not found",
    "no connection",
    "permission denied",
    "service unavailable",
    "try again later",
]
