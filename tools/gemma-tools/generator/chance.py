"""The one source of chance: everything the generator writes follows from its seed."""

import random

R = random.Random()


def pick(choices):
    return R.choice(list(choices))
