#!/usr/bin/env python3
"""Lists the Swift packages whose code a program contains, as the names of their folders in .build/checkouts, one a line.

    linked-checkouts.py PROGRAM     as `swift build -c release` has linked it last; other packages of Package.resolved are for tests
"""

import json
import pathlib
import re
import sys

release = pathlib.Path(".build/release")
objects = release / f"{sys.argv[1]}.product" / "Objects.LinkFileList"
commands = release.parent / "release.yaml"
for file in (objects, commands):
    if not file.exists():
        sys.exit(f"linked-checkouts: {file} does not exist. Run `make build`.")

checkout_of = {}
for inputs, outputs in re.findall(r"^ *inputs: (\[.*\])\n *outputs: (\[.*\])$", commands.read_text(), re.MULTILINE):
    # Beside the sources of a module, its inputs are the modules that it imports.
    sources = [path for path in json.loads(inputs) if re.search(r"\.(swift|c|cc|cpp|S)$", path)]
    checkouts = {match[1] for path in sources if (match := re.search(r"/\.build/checkouts/([^/]+)/", path))}
    for path in json.loads(outputs):
        if path.endswith(".o"):
            checkout_of[path] = checkouts

linked = [path.strip("'") for path in objects.read_text().splitlines()]
unknown = [path for path in linked if path not in checkout_of]
if unknown:
    sys.exit(f"linked-checkouts: {commands} does not say what {unknown[0]} is compiled from. Run `make build`.")
print(*sorted(set().union(*(checkout_of[path] for path in linked))), sep="\n")
