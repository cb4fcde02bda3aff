"""A repository of many files to search in, like that of a kernel: deep, with ignore files and built objects."""

from __future__ import annotations

import os
import random
from pathlib import Path

WORDS = (  # noqa: SIM905 -- words read better without their quotes
    "arch block certs crypto drivers fs include init ipc kernel lib mm net samples scripts security sound tools "
    "usb virt core gpu pci ata scsi media i2c spi hid input iio hwmon clk dma tty video char regulator power gpio"
).split()
ENDINGS = [".c"] * 50 + [".h"] * 35 + [".S", ".rst", ".txt", ".yaml", ".dts", ""]
IGNORED = """\
.*
*.a
*.asn1.[ch]
*.ko
*.lex.c
*.mod.c
*.o
*.o.*
*.so
*.so.dbg
*.tab.[ch]
*.xz
modules.order
/vmlinux
/System.map
/debian/
!.gitignore
/include/config/
/arch/*/include/generated/
patches-*
cscope.*
*.orig
*~
\\#*#
"""
NEEDLE = "needle_in_this_tree"


def grow(root: Path, files: int) -> None:
    """Make ``files`` files of 2 to 30 kB below ``root``, a sixth as many ignored ones, and a needle in ten."""
    chance = random.Random(1)
    lines: list[str] = []
    for n in range(4000):
        a, b, c, d = chance.choices(WORDS, k=4)
        lines.append(f"\tif ({a}_{b}(struct {c} *{d}, {n}))\n\t\treturn -{a.upper()}; /* {d} and {b} */\n")
    bodies = [
        "".join(chance.choices(lines, k=chance.choice((30, 100, 200, 400)))).encode() for _ in range(300)
    ]
    places = [""]
    while len(places) < max(files // 16, 2):
        above = chance.choice(places)
        if above.count("/") < 6:
            places.append(f"{above}{chance.choice(WORDS)}{chance.randrange(40)}/")
    for place in places:
        (root / place).mkdir(parents=True, exist_ok=True)
    for number in range(files):
        a, b = chance.choices(WORDS, k=2)
        body = chance.choice(bodies)
        if number % max(files // 10, 1) == 0:
            body += f"/* {NEEDLE} */\n".encode()
        _write(f"{root}/{chance.choice(places)}{a}_{b}{number}{chance.choice(ENDINGS)}", body)
    for number in range(files // 6):
        _write(f"{root}/{chance.choice(places)}object{number}.o", b"\x7fELF\0\0" + bodies[0][:2000])
    (root / ".gitignore").write_text(IGNORED)
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")


def names(files: int) -> list[str]:
    """Paths like those of ``grow``, without the files."""
    chance = random.Random(2)
    places = [""]
    while len(places) < max(files // 16, 2):
        above = chance.choice(places)
        if above.count("/") < 6:
            places.append(f"{above}{chance.choice(WORDS)}{chance.randrange(40)}/")
    return [
        f"{chance.choice(places)}{chance.choice(WORDS)}_{chance.choice(WORDS)}{number}{chance.choice(ENDINGS)}"
        for number in range(files)
    ]


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    os.write(descriptor, data)
    os.close(descriptor)
