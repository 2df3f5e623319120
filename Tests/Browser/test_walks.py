"""What support does most, with the number of clicks that it takes at most."""

import datetime
import re
import unittest
import zoneinfo

from browser import Window, logged_in


class Clicks:
    """Clicks in a window, which are counted."""

    def __init__(self, window):
        self.page, self.count = window.page, 0

    def __call__(self, place):
        (self.page.locator(place) if isinstance(place, str) else place).first.click()
        self.count += 1

    def type(self, *texts):
        """Types into the field that has the focus, and into those after it. None leaves one as it is."""
        for index, text in enumerate(texts):
            if index:
                self.page.keyboard.press("Tab")
            if text:
                self.page.keyboard.type(text)


class Walks(unittest.TestCase):
    def customers(self, window):
        """The addresses of customers of the demonstration, and of none that another test has made, whose names end with its window."""
        window.open("customers?search=m")
        return [link for link in window.links() if re.search(r"/customers/-/[^/?]+(?<!with)(?<!without)$", link)]

    def test_a_purchase_is_moved_with_five_clicks(self):
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("support"), has_script=has_script) as window:
                for customer in self.customers(window):
                    window.open(customer)
                    if not customer.endswith("/finn") and window.page.locator("#move-purchase").count():
                        break
                product = window.page.locator("#move-purchase option").first.inner_text().split(" · ")[0].strip("\u2068\u2069")
                # The header stays while the page scrolls.
                window.page.evaluate("scrollTo(0, document.body.scrollHeight)")
                click = Clicks(window)
                click(window.page.get_by_text("Move a purchase", exact=True))
                click("#user")
                click.type("finn", None, "A new phone")
                click("form[action$='/move'] button.primary")
                window.page.locator("#main [role=status]").wait_for()
                self.assertLessEqual(click.count, 5)
                self.assertTrue(window.page.url.split("?")[0].endswith("/finn"))
                text = window.text()
                for words in ("The purchase was moved to this customer.", "A new phone", product):
                    self.assertIn(words, text)
                self.assertEqual(window.take_faults(), [])

    def test_the_purchases_of_a_month_are_two_clicks_away(self):
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("viewer"), has_script=has_script) as window:
                zone = zoneinfo.ZoneInfo("Asia/Seoul" if has_script else "UTC")
                window.open("customers/-/mina")
                last = window.page.locator("ol.timeline time.moment").first.get_attribute("datetime")
                wanted = datetime.datetime.fromisoformat(last).astimezone(zone)
                click = Clicks(window)
                window.open("customers?search=mina")
                click("#main a[href$='/customers/-/mina']")
                click(window.page.get_by_role("link", name=wanted.strftime("%B %Y"), exact=True))
                window.page.wait_for_url("**/timeline?*")
                self.assertLessEqual(click.count, 2)
                moments = window.page.locator("ol.timeline time.moment").evaluate_all("(all) => all.map((one) => one.dateTime)")
                self.assertTrue(moments)
                for moment in moments:
                    local = datetime.datetime.fromisoformat(moment).astimezone(zone)
                    self.assertEqual((local.year, local.month), (wanted.year, wanted.month))
                self.assertIn(f"Time zone: {zone.key}", window.text())

    def test_a_purchase_of_the_local_store_is_refunded_with_three_clicks(self):
        for has_script, is_phone in ((True, False), (True, True), (False, False), (False, True)):
            with self.subTest(script=has_script, phone=is_phone), \
                    Window(logged_in("support"), is_phone=is_phone, has_script=has_script) as window:
                window.open("store/buy")
                window.send("store/buy", {"account": "regretful", "product": "com.memolease.sesac1.seeds10", "user": "regretful"}, button="redeem")
                window.open("store")
                click = Clicks(window)
                click(window.page.locator("#live tr", has_text="regretful").first.locator("a[data-swap]"))
                inspector = window.page.locator("#inspector h3").first
                inspector.wait_for()
                # A loaded page scrolls to its fragment a moment later.
                window.page.wait_for_function(
                    "(() => { const box = document.querySelector('#inspector h2').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; })()")
                self.assertEqual(window.page.locator("#live a[aria-current]").count(), 1)
                click(window.page.locator("#inspector summary").get_by_text("Refund", exact=True))
                click("#inspector form[action$='/refund'] button.primary")
                window.page.locator("#main [role=status]").wait_for()
                self.assertLessEqual(click.count, 3)
                # The list is as before, with the same row.
                self.assertIn("Refunded", window.page.locator("#live tr", has=window.page.locator("a[aria-current]")).inner_text())
                self.assertEqual(window.take_faults(), [])

    def test_the_money_of_a_purchase_is_two_clicks_away(self):
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("support"), has_script=has_script) as window:
                window.open("customers/-/mina")
                click = Clicks(window)
                click(window.page.get_by_text("Money back?", exact=True))
                click("a[href*='/money-back?']")
                window.page.wait_for_url("**/money-back?*")
                self.assertLessEqual(click.count, 2)
                text = window.text()
                # The customer buys at both stores, and the year decides where last.
                expected = (
                    ("Refund the order in the Play Console", "https://play.google.com/store/account/orderhistory")
                    if "Google Play" in text else ("Only Apple returns money.", "https://reportaproblem.apple.com"))
                for words in expected:
                    self.assertIn(words, text)
                for action in ("/revocation?", "/grants"):
                    self.assertTrue(window.page.locator(f"form[action*='{action}'] button").first.is_visible())
                self.assertEqual(window.take_faults(), [])

    def open_until(self, window, address, words):
        """Opens a page until it has the words: the store's notification comes a moment after the action."""
        for _ in range(100):
            window.open(address)
            if words in window.text():
                return
            window.page.wait_for_timeout(100)
        self.fail(f"{words!r} is not on {address}: {window.text()[:2000]}")

    def test_the_status_of_a_refund_is_two_clicks_away(self):
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("support"), has_script=has_script) as window:
                name = "asker" + ("with" if has_script else "without")
                window.open("store/buy")
                window.send("store/buy", {"account": name, "product": "com.memolease.sesac1.seeds10", "user": name}, button="redeem")
                steps = (
                    ("requestRefund", "Refund requested of Apple", "The customer asked Apple for a refund on"),
                    ("declineRefund", "Refund declined by Apple", "Only Apple returns money."),
                    ("refund", "Refunded by Apple", "Apple refunded it on"),
                )
                for action, entry, answer in steps:
                    window.open("store?account=" + name)
                    window.open(next(link for link in window.links() if "transaction=" in link))
                    window.send("/" + action)
                    self.open_until(window, "customers/-/" + name, entry)
                    click = Clicks(window)
                    click(window.page.get_by_text("Money back?", exact=True))
                    click("a[href*='/money-back?']")
                    window.page.wait_for_url("**/money-back?*")
                    self.assertLessEqual(click.count, 2)
                    for words in (entry, answer):
                        self.assertIn(words, window.text())
                self.assertEqual(window.take_faults(), [])

    def test_an_unclaimed_purchase_is_assigned_with_four_clicks(self):
        with Window(logged_in("support")) as window:
            window.open("unclaimed")
            click = Clicks(window)
            click(window.page.locator("#main a[href*='/unclaimed/']"))
            click(window.page.get_by_text("Assign the purchase to a user", exact=True))
            click("#user")
            click.type("finn", None, "Invoice 7")
            click("form[action$='/assignment'] button.primary")
            window.page.locator("#main [role=status]").wait_for()
            self.assertLessEqual(click.count, 4)
            self.assertIn("assigned", window.text())
