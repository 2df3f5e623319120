"""Text from outside is shown as text: markup, quotes, right-to-left text, and the longest value of each field.

Each field that a customer, a back end or a member of the team can fill gets such values. Then the pages that show them are
opened on a desktop and on a phone, and examined.
"""

import base64
import functools
import json
import re
import unittest
import urllib.parse

from browser import Window, arranged, logged_in, receiver
from shop import shop

PREFIX = "com.memolease.sesac1."
SCRIPT = '"><script>window.hacked=1</script>'
QUOTES = "'\"`&lt;<img src=x onerror=window.hacked=1><svg/onload=window.hacked=1>{{7*7}}"
HEBREW = "שלום <b>עולם</b> مرحبا"
# Without spaces, as the names of users are.
NAME = '"><script>window.hacked=1</script>\'&'
LONG_NAME = "W" * 127 + "<"
RTL_NAME = "שלום<b>مرحبا"
NAMES = [NAME, LONG_NAME, RTL_NAME]
LONG_REASON = "Wi" * 249 + "\"<"
REASONS = [SCRIPT, QUOTES, HEBREW, LONG_REASON]

INJECTED = """() => [
    ...(window.hacked === undefined ? [] : ["a script ran"]),
    ...[...document.querySelectorAll("main script, main img[onerror], main svg[onload], main b, header script, nav script, title *")].map((element) => element.outerHTML),
]"""


def segment(name):
    return urllib.parse.quote(name, safe="")


@functools.cache
def filled():
    """Fills every field, and returns the pages that show a value, with the value."""
    arranged()
    shown = []
    with Window(logged_in("demo")) as window:
        window.open("store/buy")
        fields = window.fields("store/buy")
        for name in NAMES:
            # A user, and an account of the store with the same name.
            window.open("store/buy")
            answer = window.post("/console/store/buy", fields | {
                "account": name, "product": PREFIX + "seeds10", "user": name, "then": "redeem"})
            if answer.status != 303:
                raise AssertionError(f"a purchase is refused: {answer.status} {answer.text()[-1500:]}")
            customer = "/console/customers/-/" + segment(name)
            for reason in REASONS:
                window.open(customer)
                window.send("/grants", {"give-item": "sprout 1", "give-reason": reason})
                window.open(customer)
                window.send("/balances", {"amount": "1", "balance-reason": reason})
                shown.append((customer, reason))
            window.open(customer)
            transaction = next(link for link in window.links() if re.search(r"/transactions/\d+", link))
            window.open(transaction)
            window.send("/revocation", {"reason": SCRIPT})
            window.send("/reinstatement", {"reason": QUOTES})
            window.open(customer)
            window.send("/revocation", {})
            shown += [
                (customer, name), (customer + "/timeline", name), (customer + "/grants", name), (customer + "/transactions", name),
                (customer + "/explanation", name), (transaction, name), ("/console/customers?search=" + segment(name), name),
                ("/console/store?account=" + segment(name), name),
                ("/console/store/buy?account=" + segment(name), name), ("/console", None), ("/console/health/team", None),
                ("/console/store?state=queue", None), ("/console/store", None)]
            window.open(customer)
            shown += [(link, None) for link in window.links() if "/events/" in link or "/notifications/" in link][:6]

        # Products: names, descriptions and the other keys.
        for index, (name, text) in enumerate(((SCRIPT, QUOTES), (QUOTES, SCRIPT), (HEBREW, HEBREW), ("W" * 500 + "<", "W" * 2000 + "<"))):
            product = f"{PREFIX}text{index}"
            window.open("new-product?type=Consumable")
            window.send("new-product", {
                "productID": product, "referenceName": name[:60], "displayPrice": "1200", "balance": "seeds", "amount": "1",
                "locale-0": "en_US", "displayName-0": name[:30], "description-0": text[:45]})
            shown += [
                (f"/console/products/{product}", name[:30]), (f"/console/products/{product}/edit", name[:30]),
                (f"/console/products/{product}/history", None), ("/console/products", name[:30]), ("/console/catalog-history", None),
                ("/console/store/buy", None)]
        window.open("new-product?type=Consumable")
        window.send("new-product", {"productID": SCRIPT, "referenceName": SCRIPT, "displayPrice": SCRIPT, "locale-0": SCRIPT}, fails=True)
        if window.page.evaluate(INJECTED):
            raise AssertionError("the problems of a product are shown as markup")

        # Webhooks: the address, as its URL encodes it.
        window.open("webhooks")
        address = receiver().url + "/" + "%22%3E%3Cscript%3E" + "w" * 1900
        window.send("webhooks", {"url": address})
        shown += [("/console/webhooks", address), (urllib.parse.urlsplit(window.page.url).path.removesuffix("/secret"), address)]
        window.open("webhooks")
        window.send("webhooks", {"url": f'{receiver().url}/"><script>window.hacked=1</script>'}, fails=True)

        # The store's settings.
        window.open("store/settings")
        window.send("store/settings", {"shared-secret": SCRIPT})
        shown += [("/console/store/settings", SCRIPT)]

        # Names of keys and of members, which act.
        shop().till("keys", "make", SCRIPT, "--scope", "grant")
        shown.append(("/console/health", SCRIPT))
        for name in (SCRIPT, HEBREW, "M" * 64):
            try:
                link = shop().invite(name, "support")
            except RuntimeError:
                # A name with such characters is refused.
                continue
            with Window() as member:
                member.accept(link)
                member.log_in(name)
                member.open("customers/-/collector")
                member.send("/grants", {"give-reason": "By a member"})
                shown.append(("/console/team", name))
                shown.append(("/console/customers/-/collector", name))

        # What a link or a search contains is shown, too.
        for text in (SCRIPT, QUOTES, HEBREW, "W" * 256):
            quoted = segment(text)
            shown += [
                (f"/console/customers?search={quoted}", None), (f"/console/products?text={quoted}", None), (f"/console/unclaimed?search={quoted}", None),
                (f"/console/store?account={quoted}", None), (f"/console/log-in?next={quoted}", None), (f"/console/health/team?member={quoted}", None)]
        faults = [fault for fault in window.take_faults() if "status of 4" not in fault]
        if faults:
            raise AssertionError(f"filling the fields: {faults}")
    return list(dict.fromkeys(shown))


class Text(unittest.TestCase):
    def check(self, window, path, value):
        with window.expecting(404, 422, 400):
            window.open(path)
        self.assertEqual(window.page.evaluate(INJECTED), [])
        if value is not None:
            content = window.page.evaluate("""() => document.documentElement.textContent + [...document.querySelectorAll("input, textarea")].map((field) => "\\n" + field.value).join("")""")
            self.assertIn(" ".join(value.split()), " ".join(content.split()))
        self.assertEqual(window.take_faults() + window.examine() + window.examine(opened=True), [])

    def test_values_are_shown_as_text(self):
        for is_phone in (False, True):
            with Window(logged_in("demo"), is_phone=is_phone) as window:
                for path, value in filled():
                    with self.subTest(path[:120], value=value and value[:30], phone=is_phone):
                        self.check(window, path, value)

    def test_a_person_is_addressed_by_a_name_with_markup(self):
        """The path of a customer is encoded, so that it leads to her and to nobody else."""
        filled()
        with Window(logged_in("support")) as window:
            for name in NAMES:
                with self.subTest(name[:30]):
                    window.open("customers?search=" + segment(name))
                    link = next(link for link in window.links() if re.search("/customers/[^/?]+/[^/?]+$", link))
                    window.open(link)
                    self.assertEqual(window.page.locator("h1").inner_text().strip("\u2068\u2069"), name)

    def test_a_decoded_proof_is_text(self):
        """A proof that nobody signed, with markup in its header and payload."""

        def part(value):
            return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

        proof = ".".join([
            part({"alg": SCRIPT, "x5c": [SCRIPT, QUOTES], SCRIPT: QUOTES}),
            part({"bundleId": SCRIPT, "transactionId": QUOTES, "productId": HEBREW, SCRIPT: [SCRIPT, {QUOTES: SCRIPT}], "long": "W" * 5000}),
            part("no signature")])
        for has_script in (True, False):
            with self.subTest(script=has_script), Window(logged_in("viewer"), has_script=has_script) as window:
                window.open("proofs")
                window.form("console/proofs").locator("textarea").fill(proof)
                window.send("console/proofs")
                self.assertEqual(window.page.evaluate(INJECTED), [])
                self.assertIn(SCRIPT, window.page.locator("#main").text_content())
                self.assertEqual(window.take_faults() + window.examine(), [])

    def test_notices_come_from_a_list(self):
        """The parameters of an address choose among sentences, and add none."""
        with Window(logged_in("viewer")) as window:
            for text in (SCRIPT, "saved" + SCRIPT, "The account is blocked, call 555"):
                window.open("account?done=" + segment(text))
                self.assertEqual(window.page.locator("[role=status]").count(), 0)
                self.assertEqual(window.page.evaluate(INJECTED), [])
