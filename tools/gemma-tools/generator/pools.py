"""Word lists that values are drawn from: data/pools.txt, one list a line, its name first."""

from pathlib import Path

DATA = Path(__file__).parent / "data"


def _read():
    lists = {}
    for line in (DATA / "pools.txt").read_text().splitlines():
        if line:
            name, words = line.split(" ", 1)
            lists[name] = words.split(";")
    return lists


POOL = _read()
