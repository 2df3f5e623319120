"""What `till demo` promises, before other tests change it: log-ins, storefronts, notifications on time, webhooks, orders."""

import json
import re
import unittest
import urllib.error
import urllib.request

from browser import Window, logged_in
from shop import shop

COUNTRIES = [("DEU", "EUR"), ("KOR", "KRW"), ("USA", "USD")]


class Demonstration(unittest.TestCase):
    def test_each_role_logs_in_with_its_password(self):
        self.assertEqual(set(shop().passwords), {"demo", "support", "catalog", "viewer"})
        for name, password in shop().passwords.items():
            with self.subTest(name), Window() as window:
                window.log_in(name, password)
                self.assertEqual(window.page.locator("a[href$='/console/team']").count() > 0, name == "demo")

    def test_three_storefronts_sell_in_their_currencies(self):
        series = shop().till("figures", "revenue", "--by", "month", "--group", "storefront")["series"]
        self.assertEqual(sorted((one["group"], one["currency"]) for one in series), COUNTRIES)
        for one in series:
            self.assertGreater(sum(one["values"]), 0)
        with Window(logged_in("viewer")) as window:
            window.open("")
            self.assertRegex(window.text(), r"Together .*, at the rates of")

    def test_customers_buy_at_both_stores(self):
        subscriptions = shop().till("play", "subscriptions")["subscriptions"]
        purchases = shop().till("play", "purchases")["purchases"]
        self.assertGreater(len(subscriptions), 5)
        self.assertGreater(len(purchases), 5)
        self.assertTrue(all(one["isAcknowledged"] for one in subscriptions + purchases))
        notifications = shop().till("play", "notifications")["notifications"]
        renewals = [one for one in notifications if one.get("subscriptionNotification", {}).get("notificationType") == 2]
        self.assertGreater(len(renewals), 10)
        self.assertTrue(any("voidedPurchaseNotification" in one for one in notifications))
        # The first customer at home has bought something at Google Play, too.
        request = urllib.request.Request(
            shop().url + "/v1/users/bora/transactions", headers={"Authorization": f"Bearer {shop().key}"})
        with urllib.request.urlopen(request) as answer:
            origins = {one["origin"] for one in json.load(answer)["transactions"]}
        self.assertEqual(origins, {"local/Production", "localPlay/Production"})

    def test_notifications_come_on_time(self):
        with Window(logged_in("viewer")) as window:
            window.open("app-store")
            rows = window.page.locator("#main tbody tr")
            self.assertGreater(rows.count(), 10)
            self.assertEqual(window.page.locator("#main .badge", has_text=re.compile("Late|Repeated")).count(), 0)

    def test_the_receiver_verifies_signatures(self):
        with Window(logged_in("support")) as window:
            window.open("webhooks")
            window.open(next(link for link in window.links() if re.search(r"/webhooks/wh_[0-9a-f]+$", link)))
            endpoint = window.page.url
            self.assertIn("200", window.send("/test"))
            window.page.goto(endpoint)
            window.page.locator("#main .badge.good", has_text="Delivered").first.wait_for()
            window.open(next(link for link in window.links() if "/deliveries/" in link))
            self.assertIn("The signature is valid.", window.text())
        forged = urllib.request.Request(shop().webhook, b"{}", {
            "webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(forged)
        with refused.exception as answer:
            self.assertEqual(answer.code, 401)

    def test_an_order_number_leads_to_the_customer(self):
        with Window(logged_in("support")) as window:
            window.open("store")
            window.open(next(link for link in window.links() if re.search(r"/store(/transactions/|\?.*transaction=)\d+", link)))
            order = re.search(r"\bM[A-Z0-9]{9}\b", window.text()).group()
            window.open("customers")
            window.page.locator("#customer-search").fill(order)
            window.page.locator("#customer-search").press("Enter")
            window.page.wait_for_url("**/customers?*")
            self.assertIn("Purchases of this order", window.text())
            self.assertEqual(window.take_faults(), [])

    def test_purchases_wait_for_their_users(self):
        with Window(logged_in("support")) as window:
            window.open("unclaimed")
            self.assertGreaterEqual(len({link for link in window.links() if re.search(r"/unclaimed/\d+", link)}), 3)
