"""The clock and the resets of the local App Store. They come last: the months go by for everybody."""

import datetime
import unittest

from browser import Window, logged_in
from shop import shop


class End(unittest.TestCase):
    def recurring_revenue(self):
        """The monthly recurring revenue at the store's time, by storefront and currency."""
        now = shop().till("store", "time")["millisecondsSince1970"] / 1000
        day = datetime.datetime.fromtimestamp(now, datetime.UTC).date().isoformat()
        series = shop().till("figures", "mrr", "--by", "day", "--from", day, "--to", day, "--group", "storefront")["series"]
        return {(one["group"], one["currency"]): one["values"][0] for one in series}

    def test_the_clock(self):
        before = self.recurring_revenue()
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("support"), has_script=has_script) as window:
                window.open("store/clock")
                for step in ("1d", "1w", "1mo"):
                    window.send("store/clock", button=step)
                self.assertRegex(window.text(), r"renewed|ended")
                self.assertEqual(window.take_faults() + window.examine(), [])
                # The session goes by the service's clock.
                self.assertEqual(window.open("account").status, 200)
                self.assertIn("/console/account", window.page.url)
        # Customers renew in the countries in which they have bought.
        after = self.recurring_revenue()
        for country in (("DEU", "EUR"), ("USA", "USD")):
            with self.subTest(country):
                self.assertGreater(after[country], before[country] / 2)

    def test_the_reset(self):
        """Clears the transactions, then everything. The service keeps what it granted."""
        with Window(logged_in("support")) as window:
            for action in ("clear", "reset"):
                window.open("store/settings")
                self.assertTrue(window.send("store/" + action))
            window.open("store")
            self.assertEqual(window.take_faults() + window.examine(), [])
            window.open("customers/-/collector")
            self.assertIn("collector", window.page.locator("h1").inner_text())
