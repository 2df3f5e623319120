"""Names and values that the Swift sources of a folder read and write."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"^\s*//.*$|\s//\s.*$", re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\[^(]|\\\((?:[^()"]|\([^()]*\)|"[^"]*")*\))*)"')
INTERPOLATION = re.compile(r"\\\((?:[^()\"]|\([^()]*\)|\"[^\"]*\")*\)")
TYPE = re.compile(r"\b(struct|enum|class|extension) ([\w.]+)([^{\n]*)\{")
PROPERTY = re.compile(r"\b(?:let|var) (\w+)(?:: \[?(?:String: )?([\w.]+)| =)")
CASES = re.compile(r"^\s*case (\w[^:\n]*)$", re.MULTILINE)
CASE = re.compile(r'(\w+)(?: = ("[^"]*"|-?\d+))?')
RANGE = re.compile(r"\((\w+)(?: \?\? 0)?, (\d+)\.\.\.(\d+)|\((\d+)\.\.\.(\d+)\)\.contains\((\w+)\)")
CHOICES = re.compile(r"case \.(\w+):((?:(?!\n\s*case \.).)*)", re.DOTALL)
STATED = re.compile(r"stated: \.integer\((\d+)\)")
NUMBERED = re.compile(r"let (\w+): \[Int64: String\] = \[([^\]]*)\]")


def read(pattern):
    """The sources of a folder or a file without their comments, by path."""
    path = ROOT / "Sources" / pattern
    files = sorted(path.rglob("*.swift")) if path.is_dir() else sorted(path.parent.glob(path.name))
    assert files, f"there is no Swift source in Sources/{pattern}"
    return {file: COMMENT.sub("", file.read_text()) for file in files}


def block(text, start):
    """The text from an opening brace to the one that closes it, and its end."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1:place], place
    return text[start + 1:], len(text)


class Enumeration:
    """The cases of an enumeration by their raw values."""

    def __init__(self, name, body):
        self.name = name
        self.cases = {}
        for line in CASES.findall(body):
            for case, raw in CASE.findall(re.split(r"\(", line)[0]):
                self.cases[raw.strip('"') if raw else case] = case


class Sources:
    """What the sources of some folders and files name."""

    def __init__(self, *patterns):
        self.texts = {}
        for pattern in patterns:
            self.texts.update(read(pattern))
        self.text = "\n".join(self.texts.values())
        self.literals, self.forms = set(), []
        for literal in LITERAL.findall(self.text):
            parts = INTERPOLATION.split(literal)
            if len(parts) == 1:
                self.literals.add(literal)
            elif " " not in literal and sum(map(len, parts)) > 6:
                self.forms.append(re.compile("[A-Za-z]+".join(map(re.escape, parts))))
        self.structures, self.enumerations = {}, collections.defaultdict(list)
        for text in self.texts.values():
            self.types(text, "")
        # A table of Apple's fields: each case is one, and is read by its name.
        self.facts = {
            raw for name in ("TransactionFact", "RenewalFact") for table in self.enumerations[name]
            for raw in table.cases
        }
        for name, body in NUMBERED.findall(self.text):
            table = Enumeration(name, "")
            table.cases = {number: "" for number in re.findall(r"(\d+):", body)}
            self.enumerations[name].append(table)
        # The numbers that a request may have.
        self.ranges = collections.defaultdict(list)
        for name, first, last, other_first, other_last, other in RANGE.findall(self.text):
            self.ranges[(name or other).lower()].append(range(int(first or other_first), int(last or other_last) + 1))
        # The numbers that the choices of a field state to a store.
        self.stated = collections.defaultdict(set)
        for name, body in CHOICES.findall(self.text):
            self.stated[name].update(map(int, STATED.findall(body)))
        self.used = set(re.findall(r"\.(\w+)", self.text))

    def types(self, text, outer):
        place = 0
        while found := TYPE.search(text, place):
            kind, name, _ = found.groups()
            body, end = block(text, found.end() - 1)
            inner = name if kind == "extension" else f"{outer}.{name}".strip(".")
            self.types(body, inner)
            own = self.own(body)
            if kind == "enum":
                self.enumerations[name].append(Enumeration(name, own))
            self.structures.setdefault(inner, {}).update(
                dict(PROPERTY.findall(own)))
            place = end

    @staticmethod
    def own(body):
        """A body without the bodies in it."""
        depth, kept = 0, []
        for letter in body:
            depth -= letter == "}"
            if depth == 0:
                kept.append(letter)
            depth += letter == "{"
        return "".join(kept)

    def quotes(self, name):
        """True for a name that stands in quotes, also one that is put together."""
        return name in self.literals or any(form.fullmatch(name) for form in self.forms)

    def has_property(self, name):
        return any(name in properties for properties in self.structures.values())

    def structure(self, name, outer=""):
        """The path of a type that a property of another one names: of an inner type first."""
        parts = outer.split(".") if outer else []
        for count in range(len(parts), -1, -1):
            path = ".".join(parts[:count] + [name])
            if path in self.structures:
                return path
        return None
