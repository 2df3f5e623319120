"""Every page of the console in every kind of window.

The pages are found by following links from the navigation, one of each kind: a kind is a route with the names of its
parameters. Each is opened on a desktop and on a phone, in light and dark, in English and Korean, with and without the
script, and examined by examination.js. Each pair of these meets in a window; with WINDOWS=all, each three. With SCREENSHOTS=1,
a screenshot of each is saved in .build/screenshots, in all windows.
"""

import collections
import functools
import html.parser
import itertools
import os
import re
import unittest
import urllib.parse

import routes
from browser import Window, arranged, logged_in
from shop import ROOT, shop

SCREENSHOTS = ROOT / ".build/screenshots"
# The pages of a kind that are followed; more have no other links.
PAGES_OF_A_KIND = 2
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def kind(path):
    """The kind of a page: its route and the names of its parameters."""
    parts = urllib.parse.urlsplit(path)
    route = routes.reading(parts.path)
    name = route.path if route else parts.path.removeprefix("/console").strip("/")
    parameters = sorted({key for key, _ in urllib.parse.parse_qsl(parts.query)} - {"done"})
    return (name, *parameters)


def file_name(kind):
    """The name of a page's screenshot, such as `customers-user`."""
    route, *parameters = kind
    words = [segment.strip(":") for segment in route.split("/") if segment not in ("", ":issuer")]
    return "-".join([*words, *parameters]) or "overview"


@functools.cache
def pages():
    """The first page of each kind, by kind, and all that were followed."""
    found, followed, queue = {}, [], ["/console", *arranged()]
    known, kinds = set(queue), collections.Counter(map(kind, queue))
    with Window(logged_in("demo")) as window:
        while queue:
            path = queue.pop(0)
            name = kind(path)
            route = routes.reading(path)
            if route and route.kind == "answer":
                found.setdefault(name, path)
                continue
            response = window.open(path)
            followed.append((path, response.status, window.take_faults() + window.examine()))
            found.setdefault(name, path)
            for link in window.links(with_pictures=True):
                if link in known:
                    continue
                known.add(link)
                kinds[kind(link)] += 1
                if kinds[kind(link)] <= PAGES_OF_A_KIND:
                    queue.append(link)
    return found, followed


def shown():
    """The first page of each kind that is a page, by kind."""
    return {name: path for name, path in pages()[0].items() if not ((route := routes.reading(path)) and route.kind == "answer")}


class Outline(html.parser.HTMLParser):
    """The elements of a page as they were written, each with its depth."""

    def __init__(self, text):
        super().__init__()
        self.depth, self.elements = 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((self.depth, tag))
        self.depth += tag not in VOID

    def handle_endtag(self, tag):
        self.depth -= 1


OUTLINE = """() => {
    const elements = [];
    const walk = (element, depth) => { elements.push([depth, element.localName]); for (const child of element.children) walk(child, depth + 1); };
    walk(document.documentElement, 0);
    return elements;
}"""


class Pages(unittest.TestCase):
    def assert_none(self, defects):
        if defects:
            self.fail("\n  ".join(["", *defects]))

    def test_each_followed_page_is_found_and_has_no_defect(self):
        for path, status, defects in pages()[1]:
            with self.subTest(path):
                self.assertEqual(status, 200)
                self.assert_none(defects)

    def test_links_lead_to_every_route(self):
        reached = {routes.reading(path) for path in pages()[0].values()}
        for route in routes.all_routes():
            if not route.is_form and route.path not in ("store/stream", "activity"):
                with self.subTest(route.path):
                    self.assertTrue(route in reached, "no page leads to it")

    def test_files_and_pictures_are_served(self):
        with Window(logged_in("demo")) as window:
            for name, path in pages()[0].items():
                if name in shown() or "stream" in path or "activity" in path:
                    continue
                with self.subTest(path):
                    response = window.context.request.get(path)
                    self.assertEqual(response.status, 200)
                    self.assertRegex(response.headers["content-type"], r"^(image/(png|jpeg|svg\+xml|webp)|text/(csv|plain)|application/)")
                    self.assertEqual(response.headers.get("x-content-type-options"), "nosniff")

    def test_the_browser_reads_the_elements_as_they_are_written(self):
        with Window(logged_in("demo"), has_script=False) as window:
            for name, path in shown().items():
                with self.subTest(path):
                    written = Outline(window.open(path).text()).elements
                    self.assertEqual(written, [tuple(element) for element in window.page.evaluate(OUTLINE)])

    def test_pages_for_visitors(self):
        link = shop().invite("visitor", "viewer")
        for path, name in (("/console/log-in", "log-in"), (link.removeprefix(shop().url), "invitation"), ("/console/unknown", "error")):
            for is_phone, is_dark, is_korean in itertools.product((False, True), repeat=3):
                with self.subTest(name, phone=is_phone, dark=is_dark, korean=is_korean), \
                        Window(None, is_phone, is_dark, is_korean) as window, window.expecting(404):
                    window.open(path)
                    if not is_korean:
                        save(window, name, is_phone, is_dark)
                    self.assert_none(window.take_faults() + window.examine())


def save(window, name, is_phone, is_dark, language=""):
    # Nobody looks at those of most runs, and they take a tenth of the time.
    if "SCREENSHOTS" not in os.environ:
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    file = f"{name}-{'phone' if is_phone else 'desktop'}-{'dark' if is_dark else 'light'}{language}.png"
    height = min(window.page.evaluate("document.documentElement.scrollHeight"), 2400)
    size = window.page.viewport_size
    window.page.screenshot(
        caret="initial",
        path=SCREENSHOTS / file, full_page=True, clip={"x": 0, "y": 0, "width": size["width"], "height": max(height, size["height"])})


def in_window(is_phone, is_dark, is_korean, has_script):
    """A test of all pages in a kind of window."""

    def test(self):
        with Window(logged_in("demo"), is_phone, is_dark, is_korean, has_script) as window:
            for name, path in shown().items():
                with self.subTest(path):
                    self.assertEqual(window.open(path).status, 200)
                    defects = window.take_faults() + window.examine()
                    if has_script and not (is_korean and (is_phone or is_dark)):
                        save(window, file_name(name), is_phone, is_dark, "-korean" if is_korean else "")
                    defects += [defect for defect in window.examine(opened=True) if defect not in defects]
                    self.assert_none(defects)

    return test


HAS_ALL_WINDOWS = os.environ.get("WINDOWS") == "all" or "SCREENSHOTS" in os.environ
for phone, dark, korean, script in itertools.product((False, True), repeat=4):
    # With the script, four windows have each pair. Without it, light and dark differ in nothing else: two windows are enough.
    if (HAS_ALL_WINDOWS or phone ^ dark == korean) if script else phone == dark == korean:
        words = ["phone" if phone else "desktop", "dark" if dark else "light", "korean" if korean else "english"]
        title = "test_" + "_".join(words + ([] if script else ["without_script"]))
        setattr(Pages, title, in_window(phone, dark, korean, script))
