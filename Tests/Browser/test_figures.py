"""The figures of Till beside those that figures.py computes from the export of the same ledger."""

import csv
import datetime
import decimal
import io
import pathlib
import re
import tempfile
import unittest

import figures
from browser import Window, logged_in
from shop import shop

SUMS = ["units", "transactions", "without-price", "revenue", "refunds", "refunded-revenue", "new-customers", "renewals", "new-trials", "conversions"]
LEVELS = ["active-subscriptions", "active-trials", "mrr", "arr"]
# The numerator is what figures.py computes; the denominator is another of its figures.
RATES = {"refund-rate": "transactions", "trial-conversion": "new-trials"}


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        file = pathlib.Path(folder) / "ledger.jsonl"
        shop().till("ledger", "export", str(file))
        cls.now = datetime.datetime.now(datetime.UTC)
        cls.computed = figures.Figures(file, now=int(cls.now.timestamp() * 1000))
        cls.first = (cls.now - datetime.timedelta(days=370)).date().isoformat()

    def answer(self, figure, interval):
        return shop().till(
            "figures", figure, "--by", interval, "--from", self.first, "--to", self.now.date().isoformat())

    def values(self, figure, interval, part="values"):
        """The values of each period by currency, with its first and last day."""
        answer = self.answer(figure, interval)
        self.assertTrue(answer["isBackfilled"])
        self.assertEqual(answer["pendingUsers"], 0)
        days = [(figures.first_day(period["from"]), figures.first_day(period["to"])) for period in answer["periods"]]
        series = {one.get("currency", ""): one[part] for one in answer["series"]}
        self.assertTrue(any(any(values) for values in series.values()) or figure == "without-price", f"{figure} is zero")
        return days, series

    def compare(self, figure, interval, computed, part="values"):
        days, series = self.values(figure, interval, part)
        for currency, values in series.items():
            expected = [computed(first, last, currency) for first, last in days]
            self.assertEqual(values, expected, f"{figure} {currency} by {interval}: (first, second) are Till's and the script's")

    def test_sums(self):
        for figure in SUMS:
            for interval in ("day", "week", "month"):
                with self.subTest(figure, by=interval):
                    self.compare(figure, interval, lambda first, last, currency: self.computed.sums(first, last)[figure, currency])

    def test_levels(self):
        for figure in LEVELS:
            for interval in ("day", "week", "month"):
                with self.subTest(figure, by=interval):
                    self.compare(figure, interval, lambda first, last, currency: self.computed.levels(min(last, figures.day(self.computed.now)))[figure, currency])

    def test_rates(self):
        for figure, denominator in RATES.items():
            for interval in ("week", "month"):
                with self.subTest(figure, by=interval):
                    self.compare(figure, interval, lambda first, last, currency: self.computed.sums(first, last)[figure, currency])
                    self.compare(figure, interval, lambda first, last, currency: self.computed.sums(first, last)[denominator, currency], "denominators")

    def test_churn(self):
        for interval in ("week", "month"):
            with self.subTest(interval):
                self.compare("churn", interval, lambda first, last, currency: self.computed.sums(first, last)["churn", currency])
                self.compare("churn", interval, lambda first, last, currency: self.computed.levels(first - 1)["active-subscriptions", currency], "denominators")

    def test_averages(self):
        """The revenue of a month by the users who paid in it, and of all days by those who ever paid."""
        self.compare("arppu", "month", lambda first, last, currency: self.computed.sums(first, last)["revenue", currency])
        self.compare("arppu", "month", lambda first, last, currency: self.computed.payers(first, last)[currency], "denominators")
        self.compare(
            "lifetime-value", "month",
            lambda first, last, currency: self.computed.sums(0, last)["revenue", currency] - self.computed.sums(0, last)["refunded-revenue", currency])
        self.compare("lifetime-value", "month", lambda first, last, currency: self.computed.payers(0, last)[currency], "denominators")

    def test_retention(self):
        answer, cohorts = self.answer("retention", "month"), self.computed.cohorts()
        months = [figures.month_of(figures.first_day(period["from"])) for period in answer["periods"]]
        self.assertTrue(answer["series"])
        for series in answer["series"]:
            after = int(series["group"])
            with self.subTest(after):
                for month, value, size in zip(months, series["values"], series["denominators"]):
                    if month + after > figures.month_of(figures.day(self.computed.now)):
                        self.assertEqual((value, size), (0, 0))
                    else:
                        self.assertEqual((value, size), (cohorts[month, after], cohorts[month, 0]))

    def test_this_month_beside_the_last_takes_one_click(self):
        with Window(logged_in("viewer")) as window:
            window.open("")
            window.page.locator("#main nav a", has_text="This month").click()
            window.page.locator("#main nav a[aria-current]", has_text="This month").wait_for()
            if self.now.day > 1:
                self.assertEqual(window.text().count("compared with"), 1)
            self.assertEqual(window.take_faults(), [])

    def test_the_values_of_a_chart_are_told_to_pointer_finger_and_keyboard(self):
        path = f"figures/revenue?by=month&from={self.first}"
        with Window(logged_in("viewer")) as window:
            window.open(path)
            chart = window.page.locator("svg.chart[role=img]").first
            chart.locator(".slot").nth(2).hover()
            periods = window.page.locator("#main table th[scope=row]").all_inner_texts()[::-1]
            self.assertIn(periods[2], chart.locator(".tip text").text_content())
            chart.focus()
            for key, place in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0)):
                window.page.keyboard.press(key)
                self.assertIn(periods[place], chart.locator(".tip text").text_content())
                self.assertIn(periods[place], window.page.locator("#main [aria-live=polite]").first.text_content())
            self.assertEqual(window.examine(), [])
            self.assertEqual(window.take_faults(), [])
        with Window(logged_in("viewer"), is_phone=True) as window:
            window.open(path)
            chart = window.page.locator("svg.chart[role=img]").first
            chart.locator(".slot").nth(1).tap()
            self.assertIn(periods[1], chart.locator(".tip text").text_content())

    def test_the_console_shows_the_same_in_its_tables(self):
        """The CSV file and the table of each chart have the values of the script."""
        query = f"by=month&from={self.first}&to={self.now.date().isoformat()}"
        with Window(logged_in("viewer")) as window:
            for figure in [*SUMS, *LEVELS]:
                with self.subTest(figure):
                    text = window.context.request.get(f"/console/figures/{figure}/csv?{query}").text()
                    window.open(f"figures/{figure}?{query}")
                    cells = window.page.locator("#main table td").all_inner_texts()
                    for row in csv.DictReader(io.StringIO(text)):
                        last = min(figures.first_day(row["to"]), figures.day(self.computed.now))
                        of = self.computed.levels(last) if figure in LEVELS else self.computed.sums(figures.first_day(row["from"]), last)
                        expected = of[figure, row.get("currency", "")]
                        value = decimal.Decimal(row["value"])
                        self.assertEqual(value * 1000 if row.get("currency") else value, expected)
                        shown = [re.sub(r"[^\d.-]", "", cell) for cell in cells]
                        self.assertTrue(any(cell and abs(decimal.Decimal(cell) - value) < 1 for cell in shown), f"{value} in {cells}")
