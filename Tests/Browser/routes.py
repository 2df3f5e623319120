"""The routes of the console with their permissions, as the sources of its pages declare them.

The tests compare them with what the pages show and what the service answers: a route that no page leads to, and an action
that no page offers, are found.
"""

import dataclasses
import functools
import pathlib
import re

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Console/Pages"
# The permissions of each role, as Documentation/Console.md states them.
PERMISSIONS = {
    "viewer": {"view"},
    "support": {"view", "support", "store"},
    "catalog": {"view", "catalog", "store"},
    "admin": {"view", "support", "catalog", "store", "administer"},
}
DECLARATION = re.compile(
    r'(\bpages\.|^\s*)(get|post)(?:Store)?\(\s*(?:RouterPath\(\s*)?"((?:[^"\\]|\\\([^"]*?\))*)"\)?\s*(?:,\s*\.(\w+))?', re.MULTILINE)
# Forms of one kind stand in a list: path, notice, action.
LISTED_FORM = re.compile(r'^\s*\(\s*"(store/[a-z/]+)", \.\w+,\s*\{', re.MULTILINE)
# Forms with several paths stand below a list of them.
LISTED_PATHS = re.compile(r'for path: RouterPath in \[([^\]]*)\] \{\s*pages\.post\(path, \.(\w+)\)')
# The actions on a product are declared by the end of their path.
PRODUCT = "products/:product/"
PRODUCT_FORM = re.compile(r'^\s*post\("(\w+)"\)', re.MULTILINE)
PRODUCT_FORMS = re.compile(r'for \(action, \w+\) in \[(.*?)\] \{\s*post\(action\)')
# The pages of a customer are declared by the part of their path after the customer's.
CUSTOMER = "customers/:issuer/:user"
# The routes that answer with a file or a stream.
ANSWERS = {
    "activity", "store/stream", "store/account/receipt", f"{CUSTOMER}/export", "item-pictures/:collection/:number",
    "customers/csv", "figures/:figure/csv", "products/:product/picture",
}


@dataclasses.dataclass(frozen=True)
class Route:
    kind: str
    path: str
    permission: str

    @property
    def is_form(self):
        return self.kind == "post"

    @functools.cached_property
    def pattern(self):
        return re.compile("/".join("[^/]+" if segment.startswith(":") else re.escape(segment) for segment in self.path.split("/")))


@functools.cache
def all_routes():
    """Every route, the ones with the fewest parameters first."""
    found = []
    for file in sorted(PAGES.rglob("*.swift")):
        text = file.read_text()
        default = "store" if {"LocalStore", "LocalPlay"} & set(file.parts) else "view"
        ends = []
        if f'RouterPath("{PRODUCT}" + action)' in text:
            ends = PRODUCT_FORM.findall(text) + re.findall(r'"(\w+)"', "".join(PRODUCT_FORMS.findall(text)))
            found += [Route("post", PRODUCT + end, "catalog") for end in ends]
        for group, kind, path, permission in DECLARATION.findall(text):
            if path == PRODUCT or path in ends:
                continue
            path = re.sub(r"\\\(.*?\)", ":action", path)
            if not group.strip():
                path = CUSTOMER + path
            if kind == "get" and path in ANSWERS:
                kind = "answer"
            found.append(Route(kind, path, permission if permission in PERMISSIONS["admin"] else default))
        found += [Route("post", path, default) for path in LISTED_FORM.findall(text)]
        for paths, permission in LISTED_PATHS.findall(text):
            found += [Route("post", path, permission) for path in re.findall(r'"([^"]+)"', paths)]
    return sorted(found, key=lambda route: (route.path.count(":"), route.path))


@functools.cache
def route(path, is_form):
    """The route of a path of the console, without its query; None for an unknown one, such as the log-in."""
    path = path.split("?")[0].removeprefix("/console").strip("/")
    return next((route for route in all_routes() if route.is_form == is_form and route.pattern.fullmatch(path)), None)


def reading(path):
    return route(path, False)


def posting(path):
    return route(path, True)
