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
    r'\bpages\.(get|post|postPage|postAnswer|answer)\(\s*(?:RouterPath\(\s*)?"((?:[^"\\]|\\\([^"]*?\))*)"\)?\s*(?:,\s*\.(\w+))?')


@dataclasses.dataclass(frozen=True)
class Route:
    kind: str
    path: str
    permission: str

    @property
    def is_form(self):
        return self.kind in ("post", "postPage", "postAnswer")

    @functools.cached_property
    def pattern(self):
        return re.compile("/".join("[^/]+" if segment.startswith(":") else re.escape(segment) for segment in self.path.split("/")))


@functools.cache
def all_routes():
    """Every route, the ones with the fewest parameters first."""
    found = [
        Route(kind, re.sub(r"\\\(.*?\)", ":action", path), permission or "view")
        for file in sorted(PAGES.rglob("*.swift"))
        for kind, path, permission in DECLARATION.findall(file.read_text())
    ]
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
