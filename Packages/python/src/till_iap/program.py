"""The program `till` that comes with the package."""

import os
import pathlib
import sys
from typing import NoReturn

PROGRAM = pathlib.Path(__file__).parent / "bin" / "till"


def main() -> NoReturn:
    """Becomes the program, so that signals and the exit status are the program's own."""
    os.execv(PROGRAM, ["till", *sys.argv[1:]])
