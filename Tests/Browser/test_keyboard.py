"""The console by keyboard alone: the order of Tab reaches every control and shows the focus, and work gets done."""

import unittest

from browser import Window, logged_in
from shop import shop
from test_pages import shown

# The controls of a page from its top and from its end. Between them is a long list, in which they repeat.
FIRST, LAST = 25, 12

# Numbers the controls, and notes each that gets the focus: its number, True if the focus shows, and its beginning.
# The frame of the pages is the same, so that only the controls of `main` count unless `isWhole`.
WATCH = """(isWhole) => {
    const isVisible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
    const part = isWhole ? document : document.getElementById("main");
    const controls = [...part.querySelectorAll("a[href], button:not(:disabled), input:not([type=hidden]):not(:disabled), select, textarea, summary, [tabindex='0']")]
        .filter((element) => isVisible(element) && element.tabIndex >= 0);
    window.focused = [];
    document.addEventListener("focusin", ({ target }) => {
        const style = getComputedStyle(target);
        const box = target.getBoundingClientRect();
        const isShown = target.matches(":focus-visible") && (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none");
        const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
        window.focused.push([controls.indexOf(target), isShown && isInside, target.outerHTML.slice(0, 120)]);
    });
    window.controls = controls;
    if (isWhole) document.activeElement?.blur(); else part.focus();
    return controls.map((element) => element.outerHTML.slice(0, 120));
}"""


class Keyboard(unittest.TestCase):
    def test_tab_reaches_every_control_in_order(self):
        with Window(logged_in("demo")) as window:
            for index, path in enumerate(shown().values()):
                with self.subTest(path):
                    window.open(path)
                    controls = window.page.evaluate(WATCH, index == 0)
                    count = len(controls)
                    # A date has several stops.
                    for _ in range(min(count, FIRST) + 3):
                        window.page.keyboard.press("Tab")
                    start = max(count - LAST, FIRST)
                    if start < count:
                        window.page.evaluate("(number) => window.controls[number].focus()", start - 1)
                        for _ in range(count - start + 3):
                            window.page.keyboard.press("Tab")
                    focused = window.page.evaluate("window.focused")
                    reached = list(dict.fromkeys(number for number, _, _ in focused if number >= 0))
                    missed = [controls[number] for number in range(count) if number not in reached and not FIRST <= number < start]
                    # After the last control, Tab begins again.
                    reached = reached[:reached.index(0, 1)] if 0 in reached[1:] else reached
                    hidden = [text for number, is_shown, text in focused if number >= 0 and not is_shown]
                    self.assertEqual(missed, [], "not reached")
                    self.assertEqual(reached, sorted(reached), "not in the order of the page")
                    self.assertEqual(hidden, [], "the focus does not show")

    def press(self, *keys):
        for key in keys:
            self.window.page.keyboard.press(key)

    def type(self, text):
        self.window.page.keyboard.type(text)

    def focus(self, test, presses=80):
        """Presses Tab until the focused element passes a test in the browser."""
        for _ in range(presses):
            if self.window.page.evaluate(f"(() => {{ const element = document.activeElement; return {test}; }})()"):
                return
            self.press("Tab")
        self.fail(f"Tab does not reach {test}")

    def test_a_customer_gets_an_item(self):
        """Logs in, finds a customer, opens her and gives her an item, with keys only."""
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(has_script=has_script) as self.window:
                page = self.window.page
                self.window.open("log-in")
                self.focus("element.id === 'name'")
                self.type(shop().name)
                self.press("Tab")
                self.type(shop().password)
                self.press("Enter")
                page.locator(".sections").wait_for()
                self.focus("element.id === 'search'")
                self.type("mina")
                self.press("Enter")
                page.locator("#main a[href*='/customers/'][href$='/mina']").first.wait_for()
                self.focus("element.closest('#main') && /\\/customers\\/[^/]+\\/mina$/.test(element.href ?? '')")
                self.press("Enter")
                page.wait_for_url("**/mina")
                self.focus("element.localName === 'summary' && element.parentElement.querySelector('form[action$=\"/grants\"]')", 200)
                self.press("Enter")
                self.focus("element.localName === 'select' && element.closest('form')?.action.endsWith('/grants')")
                self.press("ArrowDown")
                self.focus("element.name === 'give-reason'")
                reason = "By keyboard, " + ("with" if has_script else "without") + " the script"
                self.type(reason)
                self.press("Enter")
                page.locator("#main [role=status]").wait_for()
                self.assertIn(reason, self.window.text())
                self.assertEqual(self.window.take_faults(), [])

    def test_the_first_tab_skips_the_navigation(self):
        with Window(logged_in("demo")) as self.window:
            self.window.open("account")
            self.press("Tab", "Enter")
            self.window.page.wait_for_function("document.activeElement.id === 'main'")
            self.assertEqual(self.window.take_faults(), [])

    def test_the_menu_of_a_phone(self):
        """The menu is a panel that opens from its button; Escape closes it."""
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("demo"), is_phone=True, has_script=has_script) as self.window:
                page = self.window.page
                self.window.open("team")
                self.assertFalse(page.locator(".sections").is_visible())
                page.get_by_role("button", name="Menu").click()
                page.locator(".sections a[aria-current]", has_text="Team").wait_for()
                self.assertEqual(self.window.examine(), [])
                self.press("Escape")
                page.locator(".sections").wait_for(state="hidden")
                page.get_by_role("button", name="Menu").click()
                page.locator(".sections a", has_text="Health").click()
                page.wait_for_url("**/console/health")
                self.assertEqual(self.window.take_faults(), [])

    def test_the_menu_stays_and_shows_the_present_entry(self):
        """Also in a low window, whose menu scrolls by itself."""
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("demo"), has_script=has_script) as self.window:
                page = self.window.page
                page.set_viewport_size({"width": 1280, "height": 360})
                self.window.open("health")
                page.mouse.move(800, 200)
                page.mouse.wheel(0, 1500)
                page.wait_for_function("scrollY > 1000")
                box = page.locator(".sections a[aria-current]").bounding_box()
                self.assertTrue(0 < box["y"] and box["y"] + box["height"] <= 360, box)

    def test_the_palette(self):
        with Window(logged_in("demo")) as self.window:
            page = self.window.page
            self.window.open("account")
            self.press("/")
            page.locator("dialog[open]").wait_for()
            self.assertEqual(page.evaluate("document.activeElement.type"), "search")
            self.assertEqual(self.window.examine(), [])
            self.type("heal")
            self.press("ArrowDown", "Enter")
            page.wait_for_url("**/console/health")
            self.press("/")
            page.locator("dialog[open]").wait_for()
            self.press("Escape")
            page.locator("dialog").wait_for(state="detached")
            self.press("/")
            self.type("mina")
            self.press("Enter")
            page.wait_for_url("**/console/customers?search=mina")
            # In a field, the key is a character.
            page.locator("#search").focus()
            self.press("/")
            self.assertEqual(page.locator("dialog").count(), 0)
            self.assertTrue(page.locator("#search").input_value().endswith("/"))
            self.assertEqual(self.window.take_faults(), [])
