"""Every action works through the page, with the script and without, and is kept under the name of the person."""

import re
import unittest
import urllib.parse

from browser import PNG, Window, arranged, logged_in, receiver
from shop import shop

PREFIX = "com.memolease.sesac1."


class Actions(unittest.TestCase):
    def run_with_and_without_script(self, role, work):
        for has_script in (True, False):
            with self.subTest(role=role, script=has_script), Window(logged_in(role), has_script=has_script) as window:
                work(window, f"by {role} {'with' if has_script else 'without'} script")
                self.assertEqual(window.take_faults(), [])

    def buy(self, window, product, user, **values):
        """Buys at the local store, and redeems for a user."""
        window.open("store/buy")
        window.send("store/buy", {"account": user, "product": PREFIX + product, "user": user, **values}, button=None if values.get("outcome") else "redeem")

    def open_customer(self, window, name):
        window.open("customers?search=" + name)
        link = next(link for link in window.links() if re.search(f"/customers/[^/]+/{name}$", link))
        window.open(link)
        self.assertIn(name, window.page.locator("h1").inner_text())

    def audited(self, window, words):
        """Checks that the customer's timeline names the person and has a text."""
        text = window.text()
        for word in words:
            self.assertIn(word, text)

    def test_a_given_item(self):
        def work(window, reason):
            self.open_customer(window, "dahee")
            self.assertIn("given", window.send("/grants", {"give-item": True, "give-until": "2030-12-31", "give-reason": reason}))
            # The gift ends with the last day of the form, in the time zone of the page.
            self.audited(window, [reason, "support", "2030-12-31"])
            self.assertNotIn("2031-01-01", window.text())
            self.open_customer(window, "dahee")
            self.audited(window, [reason])
            window.send("/grants", {"give-reason": "A hidden \u202e direction"}, fails=True)
            self.open_customer(window, "dahee")
            self.assertIn("Revoked", window.send("/revocation", {}))

        self.run_with_and_without_script("support", work)

    def test_a_balance(self):
        def work(window, reason):
            self.open_customer(window, "eunji")
            self.assertIn("increased", window.send("/balances", {"amount": "7", "balance-reason": reason}))
            self.audited(window, [reason, "support"])
            window.send("/balances", {"amount": "-1", "balance-reason": reason}, fails=True)

        self.run_with_and_without_script("support", work)

    def test_a_revoked_and_reinstated_purchase(self):
        def work(window, reason):
            self.buy(window, "sprout1", "gaeul" + reason.split()[2])
            self.open_customer(window, "gaeul" + reason.split()[2])
            window.open(next(link for link in window.links() if re.search(r"/transactions/\d+", link)))
            self.assertIn("Revoked", window.send("/revocation", {"reason": reason}))
            self.assertIn("Reinstated", window.send("/reinstatement", {"reason": reason + " again"}))
            self.open_customer(window, "gaeul" + reason.split()[2])
            self.audited(window, [reason, reason + " again", "support"])

        self.run_with_and_without_script("support", work)

    def open_transaction(self, window, name, kind):
        """Opens the newest transaction of a customer that has the form of an action. The store tells the service of it a moment later."""
        with window.expecting(404):
            for _ in range(600):
                window.open(f"customers/-/{name}/transactions")
                for link in dict.fromkeys(link for link in window.links() if re.search(r"/transactions/[^/?]+[?]", link)):
                    window.open(link)
                    if window.page.locator(f"#main input[name=kind][value={kind}]").count():
                        return
                window.page.wait_for_timeout(100)
        self.fail(f"{name} has no transaction with the form of {kind}")

    def ask_store(self, window, kind, reason, values=None):
        """Sends the form of an action at a store. The page shows the answer."""
        self.assertTrue(window.send("/store-actions", {f"{kind}-reason": reason, **(values or {})}, kind=kind))
        row = window.page.locator("#main table tbody tr").first.inner_text()
        self.assertIn(reason, row)
        self.assertRegex(row, "Done|Accepted by the store")

    def subscribe(self, window, name):
        """Sells a monthly subscription, of which a period was paid: Apple changes nothing in a free trial."""
        self.buy(window, "gardener.monthly", name)
        window.open("store?account=" + name)
        window.open(next(link for link in window.links() if "transaction=" in link))
        self.send_store(window, "forceRenewal")

    def test_actions_at_the_stores(self):
        """The service of the demonstration has the keys of its local stores."""
        def work(window, reason):
            number = reason.split()[2]
            self.subscribe(window, "asker" + number)
            self.open_transaction(window, "asker" + number, "extend")
            window.send("/store-actions", {"extend-days": "91", "extend-reason": reason}, kind="extend", fails=True)
            self.ask_store(window, "extend", reason, {"extend-days": "3", "extend-cause": "serviceIssue"})
            app = PREFIX.rstrip(".")
            for name, product in (("player", "gardener.monthly"), ("gamer", "seeds10")):
                window.open("play")
                window.send("play/buy", {"product": f"{app} {PREFIX}{product}", "customer": name + number})
            self.open_transaction(window, "player" + number, "revoke")
            self.ask_store(window, "extend", reason, {"extend-days": "3"})
            self.ask_store(window, "cancel", reason, {"cancel-stops": "payments"})
            self.ask_store(window, "revoke", reason, {"revoke-share": "full"})
            self.open_transaction(window, "gamer" + number, "refund")
            self.ask_store(window, "refund", reason, {"refund-takesGoods": True})

        self.run_with_and_without_script("support", work)

    def test_a_subscription_that_a_server_has_described(self):
        """A migration makes one. Each request of Apple's then has a form."""
        def work(window, reason):
            name = "migrant" + reason.split()[2]
            self.subscribe(window, name)
            self.open_transaction(window, name, "migrate")
            self.assertEqual(window.examine(opened=True), [])
            self.ask_store(window, "migrate", reason, {"migrate-request-targetProductId": PREFIX + "gardener.yearly"})
            self.open_transaction(window, name, "changePrice")
            self.assertEqual(window.examine(opened=True), [])
            window.send("/store-actions", {"changePrice-reason": reason}, kind="changePrice", fails=True)
            self.ask_store(window, "changePrice", reason, {"changePrice-0-price": "5900"})
            self.ask_store(window, "changeMetadata", reason, {"changeMetadata-descriptors-displayName": "Shed"})
            self.assertIn("Shed", window.text())
            self.ask_store(window, "cancel", reason)
            self.ask_store(window, "revoke", reason, {"revoke-request-refundType": "PRORATED"})

        self.run_with_and_without_script("admin", work)

    def test_an_assigned_purchase(self):
        def work(window, reason):
            window.open("unclaimed")
            window.open(next(link for link in window.links() if re.search(r"/unclaimed/\d+", link)))
            window.send("/assignment", {"user": "nobody-has-this-name", "reason": reason}, fails=True)
            window.send("/assignment", {"user": "finn", "reason": reason})
            self.open_customer(window, "finn")
            self.audited(window, [reason, "support"])

        self.run_with_and_without_script("support", work)

    def test_webhook_messages_of_a_customer(self):
        def work(window, reason):
            self.open_customer(window, "collector")
            window.send("/webhooks")

        arranged()
        self.run_with_and_without_script("support", work)

    def test_the_export_of_a_customer(self):
        with Window(logged_in("support")) as window:
            self.open_customer(window, "mina")
            link = next(link for link in window.links() if link.endswith("/export"))
            answer = window.context.request.get(link)
            self.assertEqual(answer.status, 200)
            self.assertIn("mina", answer.text())
            self.assertIn("attachment", answer.headers["content-disposition"])

    def test_an_erased_customer(self):
        def work(window, reason):
            name = "gone" + reason.split()[2]
            self.buy(window, "background1", name)
            self.open_customer(window, name)
            transaction = next(found[1] for link in window.links() if (found := re.search(r"/transactions/(\d+)", link)))
            window.send("/erasure", {"erase-name": "somebody else"}, fails=True)
            self.assertIn("erased", window.send("/erasure", {"erase-name": name}))
            with window.expecting(404):
                self.assertEqual(window.open("customers/-/" + name).status, 404)
            # The purchase has no page of a customer any more. The search finds it, and offers to give it to another one.
            window.open("customers?search=" + transaction)
            window.send("customers/move", {"user": "finn", "move-reason": reason})
            self.open_customer(window, "finn")
            self.audited(window, [reason, "admin"])

        self.run_with_and_without_script("admin", work)

    def test_the_reason_why_a_customer_has_an_item(self):
        def work(window, _):
            self.open_customer(window, "collector")
            window.open(next(link for link in window.links() if link.endswith("/explanation")))
            items = window.page.locator("#item option").all_inner_texts()
            self.assertGreater(len(items), 5)
            sentences = set()
            for item in items:
                window.page.locator("#item").select_option(label=item)
                with window.page.expect_navigation():
                    window.page.locator("#main form[method=get] button").first.click()
                sentences.add(window.text())
            self.assertGreater(len(sentences), 5)

        arranged()
        self.run_with_and_without_script("viewer", work)

    def test_a_product(self):
        def work(window, reason):
            number = "1" if window.has_script else "2"
            product = PREFIX + "browser" + number
            window.open("new-product?type=Consumable")
            values = {"productID": product, "referenceName": "Browser", "displayPrice": "1200", "balance": "seeds", "amount": "3",
                      "locale-0": "en_US", "displayName-0": "A browser's seeds", "description-0": reason}
            if window.has_script:
                # The preview follows the typing.
                for name, value in values.items():
                    window.page.locator(f"[name='{name}']").fill(value)
                window.page.locator("#preview").get_by_text("A browser's seeds").first.wait_for()
            window.send("new-product", {**values, "displayPrice": "free of charge"}, fails=True)
            window.send("new-product", values)
            window.open("products/" + product)
            self.assertIn("A browser's seeds", window.text())
            window.open(f"products/{product}/edit")
            window.send("/definition", {"displayPrice": "2500"})
            window.open("products/" + product)
            self.assertIn("2,500", window.text())
            self.assertIn("Withdrawn", window.send("/withdrawal"))
            window.send("/return")
            window.open(f"products/{product}/history")
            self.assertIn("catalog", window.text())
            changes = [link for link in window.links() if re.search(r"/history/\d+", link)]
            self.assertGreaterEqual(len(changes), 3)
            window.open(changes[-2])
            self.assertIn("2,500" if "2,500" in window.text() else "2500", window.text())
            window.send("/undo")
            window.open("products/" + product)
            self.assertIn("1,200", window.text())
            window.send("/reversion")
            window.open("products/" + product)
            self.assertIn("was removed", window.text())

        self.run_with_and_without_script("catalog", work)

    def test_a_picture_of_an_item(self):
        def work(window, _):
            window.open("products/" + PREFIX + "sprout3")
            window.send("/picture", {"picture": {"name": "x.png", "mimeType": "image/png", "buffer": b"<html>no picture"}}, fails=True)
            window.send("/picture", {"picture": {"name": "x.png", "mimeType": "image/png", "buffer": PNG}})
            window.open("products/" + PREFIX + "sprout3")
            self.assertTrue(window.page.locator("img").first.evaluate("(image) => image.complete && image.naturalWidth > 0"))

        self.run_with_and_without_script("catalog", work)

    def test_reconciliation(self):
        """The App Store of the demonstration is the local one, which has sent every notification."""
        def work(window, _):
            window.open("app-store/reconciliation")
            window.send("/notifications")
            for _ in range(600):
                window.open("app-store/reconciliation")
                if "Done" in window.text():
                    break
                window.page.wait_for_timeout(200)
            self.assertIn("Done", window.text())

        self.run_with_and_without_script("admin", work)

    def test_webhooks(self):
        def work(window, reason):
            window.open("webhooks")
            window.send("webhooks", {"url": "ftp://example.com"}, fails=True)
            path = "/hooks-" + reason.split()[2]
            window.send("webhooks", {"url": receiver().url + path})
            secrets = window.page.locator("code").all_inner_texts()
            self.assertTrue(any(secret.startswith("whsec_") for secret in secrets), secrets)
            endpoint = window.page.url.split("/webhooks/")[1].split("/")[0]
            self.buy(window, "seeds10", "hooked")
            while receiver().messages.get(timeout=120)[0] != path:
                pass
            window.open("webhooks/" + endpoint)
            delivery = next(link for link in window.links() if "/deliveries/" in link)
            window.open(delivery)
            text = window.text()
            self.assertIn("204", text)
            self.assertIn("curl", text)
            window.send("/resending")
            while receiver().messages.get(timeout=120)[0] != path:
                pass
            if window.has_script:
                # The page follows the state by itself.
                window.page.locator("#delivery .badge.good", has_text="Delivered").wait_for()
            window.open("webhooks/" + endpoint)
            self.assertIn("204", window.send("/test"))
            window.open("webhooks/" + endpoint)
            window.send("/period/resending")
            window.open("webhooks/" + endpoint)
            window.send("/failed/resending")
            window.open("webhooks/" + endpoint)
            window.send("/secret")
            self.assertNotEqual(secrets, window.page.locator("code").all_inner_texts())
            window.open("webhooks/" + endpoint)
            window.send("/address", {"url": receiver().url + path + "-moved"})
            self.assertIn(path + "-moved", window.text())
            window.open("webhooks/" + endpoint)
            window.send("/messages", {"types": "item.given"})
            self.assertIn("item.given", window.text())
            window.open("webhooks/" + endpoint)
            self.assertIn("Removed", window.send("/removal"))
            self.assertNotIn(path + "-moved", window.text())

        self.run_with_and_without_script("admin", work)

    def test_purchases_at_the_local_store(self):
        def work(window, reason):
            name = "shopper" + reason.split()[2]
            self.buy(window, "sprout2", name)
            self.open_customer(window, name)
            self.assertIn("sprout", window.text())
            for outcome, action in (("deferred", "approve"), ("deferred", "decline"), ("interrupted", "resolve")):
                self.buy(window, "seeds10", name, outcome=outcome)
                if "payment=" not in window.page.url:
                    window.open("store?state=queue&account=" + name)
                    window.open(next(link for link in window.links() if "payment=" in link))
                self.assertTrue(window.send("/" + action))

        self.run_with_and_without_script("support", work)

    def test_subscriptions_at_the_local_store(self):
        def work(window, reason):
            name = "subscriber" + reason.split()[2]
            self.buy(window, "gardener.monthly", name)
            self.open_customer(window, name)
            window.open("store?account=" + name)
            inspector = next(link for link in window.links() if "transaction=" in link)
            window.open(inspector)
            # The shop has no rules for retention messages, so its service chooses none.
            window.send("/retention")
            self.assertIn("/v1/retention/apple", window.text())
            window.open(inspector)
            for steps in (
                ["forceRenewal"], ["failRenewal", "resolveBillingIssue"], ["turnAutoRenewOff"], ["turnAutoRenewOn"],
                ["changeSeats", "acceptInvitation"], ["requestPriceIncrease", "consentToPriceIncrease"], ["requestRefund", "declineRefund"], ["refund", "reverseRefund"], ["expire"],
            ):
                for step in steps:
                    self.send_store(window, step)
            name = "mover" + reason.split()[2]
            self.buy(window, "gardener.monthly", name)
            window.open("store?account=" + name)
            window.open(next(link for link in window.links() if "transaction=" in link))
            self.send_store(window, "moveSubscription")

        self.run_with_and_without_script("support", work)

    def test_a_family_at_the_local_store(self):
        def work(window, reason):
            name = "parent" + reason.split()[2]
            window.open("store?account=" + name)
            self.assertTrue(window.send("store/account/family", {"relative": "child of " + name}))
            self.assertIn("child of " + name, window.text())
            window.send("store/account/family", {"relative": "child of " + name}, fails=True)
            window.open("store?account=" + name)
            self.assertTrue(window.send("store/account/family/leave"))
            self.assertNotIn("child of " + name, window.text())

        self.run_with_and_without_script("support", work)

    def send_store(self, window, action):
        """Sends the form of an action on a transaction, whatever the spelling of its address."""
        spelled = re.sub(r"(?<!^)([A-Z])", r"-\1", action).lower()
        forms = [urllib.parse.urlsplit(address).path for address in window.page.evaluate(
            "[...document.querySelectorAll('#main form[method=post]')].map((form) => form.action)")]
        address = next((form for form in forms if form.rsplit("/", 1)[1] in (action, spelled)), None)
        if not address:
            self.fail(f"{action} is not offered, but {[form.rsplit('/', 1)[1] for form in forms]}")
        fields = {"requestPriceIncrease": {"price": "5900"}, "changeSeats": {"seats": "2"}, "acceptInvitation": {"member": "friend"}}
        self.assertTrue(window.send(address, fields.get(action, {})))

    def test_settings_and_faults_of_the_local_store(self):
        def work(window, _):
            window.open("store/settings")
            window.send("store/settings", {"failing-renewals": True, "locale": "en_US"})
            self.assertTrue(window.page.locator("#failing-renewals").is_checked())
            window.send("store/settings", {"failing-renewals": False})
            window.send("store/faults", {"fault": "duplicate", "count": "2"})
            window.send("store/faults/clear")
            window.send("store/faults", {"count": "99"}, fails=True)
            window.open("store/notifications")
            window.send("store/notifications", {"notification": "RESCIND_CONSENT", "account": "alice"})
            window.open("store/notifications")
            window.open(next(link for link in window.links() if re.search(r"/store/notifications/[^?]", link)))
            window.send("/replay")

        self.run_with_and_without_script("catalog", work)

    def test_the_proof_inspector(self):
        def work(window, _):
            window.open("store")
            window.open(next(link for link in window.links() if "transaction=" in link))
            proof = next(text for text in window.page.locator("pre, code, textarea").evaluate_all(
                "(all) => all.map((one) => one.value ?? one.textContent)") if text.startswith("eyJ"))
            for text, words in ((proof, ["ES256", "transactionId"]), (proof[:-5] + "AAAAA", ["refused"]), ("nonsense", ["refused"])):
                window.open("proofs")
                fields = window.form("console/proofs").locator("textarea")
                fields.fill(text)
                window.send("console/proofs")
                for word in words:
                    self.assertIn(word.lower(), window.text().lower())

        self.run_with_and_without_script("support", work)

    def test_health(self):
        def work(window, _):
            window.open("health")
            window.send("health/checks")
            window.send("health/verification")
            for _ in range(600):
                window.open("health")
                if window.page.locator("form[action$='health/verification']").count():
                    break
                window.page.wait_for_timeout(100)
            self.assertRegex(window.text(), r"(?i)sound|verified|unbroken|complete|intact")

        self.run_with_and_without_script("admin", work)

    def test_the_team(self):
        def work(window, reason):
            name = "colleague-" + reason.split()[2]
            window.open("team")
            window.send("team/members", {"name": name, "role": "viewer"})
            link = next(text for text in window.page.locator("code").all_inner_texts() if "/console/invitation#" in text)
            with Window() as other:
                other.accept(shop().url + "/console" + link.split("/console")[1])
                other.log_in(name)
            window.open("team")
            window.send(f"{name}/role", {"role": "catalog"})
            window.open("team")
            window.send(f"{name}/invitation")
            self.assertIn("/console/invitation#", window.text())
            window.open("team")
            self.assertIn("Removed", window.send(f"{name}/removal"))
            window.send("team/members", {"name": name, "role": "viewer"}, fails=True)

        self.run_with_and_without_script("admin", work)

    def test_the_language(self):
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("viewer"), has_script=has_script) as window:
                window.open("account")
                window.page.get_by_role("button", name="한국어").click()
                window.page.locator("html[lang=ko]").wait_for()
                self.assertIn("/console/account", window.page.url)
                window.page.get_by_role("button", name="English").click()
                window.page.locator("html[lang=en]").wait_for()
