#!/usr/bin/env python3
"""Writes the tables of settings into Documentation/Configuration.md.

usage: till serve --print-settings | settings-tables.py Documentation/Configuration.md
"""
import pathlib
import re
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
page = pathlib.Path(sys.argv[1])
text = page.read_text(encoding="utf-8")
for section in re.split(r"^## ", sys.stdin.read(), flags=re.MULTILINE)[1:]:
    title, table = section.strip().split("\n\n", 1)
    pattern = re.compile(
        r"(^## " + re.escape(title) + r"\n(?:(?!## ).*\n)*?)(?:^\| setting \|.*\n)(?:^\|.*\n)+", re.MULTILINE)
    text, count = pattern.subn(lambda match: match.group(1) + table + "\n", text)
    if count != 1:
        sys.exit(f"{page} has no section \"{title}\" with a table of settings; add a heading and the row \"| setting |\".")
page.write_text(text, encoding="utf-8")
