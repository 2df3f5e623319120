#!/usr/bin/env python3
"""Writes a manual page for each command, from the description that the program gives of itself.

    till --experimental-dump-help | Scripts/man-page.py VERSION DATE FOLDER

VERSION and DATE (YYYY-MM-DD) stand in the pages' footers. FOLDER gets till.1, till-buy.1 and so on.
"""
import json
import pathlib
import re
import sys

# The output format of swift-argument-parser that this script reads.
SERIALIZATION_VERSION = 0
EXAMPLE_HEADINGS = ("Example:", "Examples:")
SPECIAL = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})


def escaped(text):
    """The text as roff reads it. No line of it is taken for a request."""
    return re.sub(r"^([.'])", r"\\&\1", text.translate(SPECIAL), flags=re.MULTILINE)


def bold(text):
    return rf"\fB{escaped(text)}\fR"


def italic(text):
    return rf"\fI{escaped(text)}\fR"


def blocks(text):
    """The paragraphs of a help text, each with whether it is set as it stands (its lines are indented)."""
    lines, is_literal = [], False
    for line in text.splitlines() + [""]:
        if lines and (not line.strip() or line.startswith("  ") != is_literal):
            yield lines, is_literal
            lines = []
        if line.strip():
            is_literal = line.startswith("  ")
            lines.append(line)


def prose(text):
    for lines, is_literal in blocks(text):
        if is_literal:
            width = min(len(line) - len(line.lstrip()) for line in lines)
            yield from [".PP", ".RS 4", ".EX"]
            yield from (escaped(line[width:]) for line in lines)
            yield from [".EE", ".RE"]
        else:
            yield from [".PP", escaped(" ".join(line.strip() for line in lines))]


def split_examples(discussion):
    """The text before the heading of the examples, and the text after it."""
    lines = discussion.splitlines()
    for number, line in enumerate(lines):
        if line.strip() in EXAMPLE_HEADINGS:
            return "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return discussion, ""


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def term(argument):
    """An argument as the list of options names it."""
    if argument["kind"] == "positional":
        return italic(argument["valueName"])
    names = ", ".join(bold(spelled(name)) for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {italic(argument['valueName'])}"


def described(argument):
    values, default = argument.get("allValues"), argument.get("defaultValue")
    sentences = [argument.get("abstract", "")]
    if values:
        sentences.append(f"Values: {', '.join(values)}.")
    if default is not None and argument["kind"] != "flag":
        sentences.append(f"Default: {default}.")
    return escaped(" ".join(sentence for sentence in sentences if sentence))


def synopsis(command, title, arguments):
    parts = [bold(title)]
    if any(argument["isOptional"] and argument["kind"] != "positional" for argument in arguments):
        parts.append(rf"[{italic('option')} ...]")
    for argument in arguments:
        if argument["kind"] == "positional":
            part = italic(argument["valueName"]) + (" ..." if argument["isRepeating"] else "")
            parts.append(f"[{part}]" if argument["isOptional"] else part)
        elif not argument["isOptional"]:
            parts.append(f"{bold(spelled(argument['preferredName']))} {italic(argument['valueName'])}")
    if command.get("subcommands"):
        parts.append(f"[{italic('command')}]" if command.get("defaultSubcommand") else italic("command"))
    return " ".join(parts)


def visible(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def documented(arguments):
    """The arguments with a help text: those of --help-all, too. An argument for Till's own scripts has none."""
    return [argument for argument in arguments or [] if argument.get("abstract")]


def subcommands(command):
    # The built-in `help` prints what the pages say.
    return [item for item in visible(command.get("subcommands")) if item["commandName"] != "help"]


def page(command, path, parent, version, date):
    name, title = "-".join(path), " ".join(path)
    abstract = command.get("abstract", "").strip()
    summary = abstract.rstrip(".")
    if not summary[1:2].isupper():
        summary = summary[:1].lower() + summary[1:]
    arguments, commands = documented(command.get("arguments")), subcommands(command)
    description, examples = split_examples(command.get("discussion", ""))

    yield f'.TH {name.upper()} 1 "{date}" "Till {version}" "Till"'
    yield from [".SH NAME", rf"{escaped(name)} \- {escaped(summary)}"]
    yield from [".SH SYNOPSIS", synopsis(command, title, arguments)]
    yield from [".SH DESCRIPTION", escaped(abstract)]
    yield from prose(description)
    if commands:
        yield ".SH COMMANDS"
        for item in commands:
            yield from [".TP", bold(f"{title} {item['commandName']}"), escaped(item.get("abstract", ""))]
    if arguments:
        yield ".SH OPTIONS"
        section = None
        for argument in arguments:
            if argument.get("sectionTitle") != section:
                section = argument.get("sectionTitle")
                if section:
                    yield f".SS {escaped(section)}"
            yield from [".TP", term(argument), described(argument)]
    if examples.strip():
        yield ".SH EXAMPLES"
        # A heading begins a paragraph itself.
        yield from list(prose(examples))[1:]
    related = [path[:-1]] if parent else []
    related += [path + [item["commandName"]] for item in commands]
    related += [path[:-1] + [item["commandName"]] for item in subcommands(parent or {}) if item is not command]
    if related:
        yield ".SH SEE ALSO"
        yield ",\n".join(rf"\fB{escaped('-'.join(other))}\fR(1)" for other in related)


def write(command, path, parent, folder, version, date):
    lines = page(command, path, parent, version, date)
    (folder / f"{'-'.join(path)}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for item in subcommands(command):
        write(item, path + [item["commandName"]], command, folder, version, date)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    version, date, folder = sys.argv[1:]
    try:
        description = json.load(sys.stdin)
        found = description["serializationVersion"]
        command = description["command"]
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"man-page: standard input is not the output of `till --experimental-dump-help`: {error!r}.")
    if found != SERIALIZATION_VERSION:
        sys.exit(f"man-page: the help has the format {found}. Adapt this script, which reads {SERIALIZATION_VERSION}.")
    write(command, [command["commandName"]], None, pathlib.Path(folder), version, date)


main()
