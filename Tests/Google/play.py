"""A running `till play`, and Google's own client for it."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from google.oauth2 import service_account
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

import discovery

SCOPE = "https://www.googleapis.com/auth/androidpublisher"
GARDEN = "com.example.garden"
SHED = "com.example.shed"


def price(currency, units, nanos=0):
    money = {"currencyCode": currency}
    if units:
        money["units"] = str(units)
    if nanos:
        money["nanos"] = nanos
    return money


def product(product_id, title, several=False, state="ACTIVE", package=GARDEN):
    """A one-time product in Google's JSON."""
    buy = {"legacyCompatible": True}
    if several:
        buy["multiQuantityEnabled"] = True
    option = {
        "purchaseOptionId": "buy",
        "buyOption": buy,
        "regionalPricingAndAvailabilityConfigs": [
            {"regionCode": "US", "price": price("USD", 1, 990_000_000), "availability": "AVAILABLE"},
            {"regionCode": "KR", "price": price("KRW", 2900), "availability": "AVAILABLE"},
        ],
        "offerTags": [{"tag": "spring"}],
    }
    if state:
        option["state"] = state
    return {
        "packageName": package,
        "productId": product_id,
        "listings": [{"languageCode": "en-US", "title": title, "description": "For the garden."}],
        "purchaseOptions": [option],
    }


def base_plan(plan_id, period, units, **kind):
    plan = {
        "basePlanId": plan_id,
        "state": "ACTIVE",
        "regionalConfigs": [{"regionCode": "US", "newSubscriberAvailability": True, "price": price("USD", units)}],
    }
    plan.update(kind or {
        "autoRenewingBasePlanType": {
            "billingPeriodDuration": period, "gracePeriodDuration": "P3D", "accountHoldDuration": "P30D"}})
    return plan


PREMIUM = {
    "packageName": GARDEN,
    "productId": "premium",
    "listings": [{"languageCode": "en-US", "title": "Premium"}],
    "basePlans": [
        base_plan("monthly", "P1M", 10),
        base_plan("prepaid", "P1M", 12, prepaidBasePlanType={"billingPeriodDuration": "P1M"}),
    ],
}
TRIAL = {
    "packageName": GARDEN,
    "productId": "premium",
    "basePlanId": "monthly",
    "offerId": "trial",
    "state": "ACTIVE",
    "phases": [
        {"duration": "P1W", "recurrenceCount": 1, "regionalConfigs": [{"regionCode": "US", "free": {}}]},
        {"duration": "P1M", "recurrenceCount": 2, "regionalConfigs": [{"regionCode": "US", "relativeDiscount": 0.5}]},
    ],
}

VIP = {
    "packageName": GARDEN,
    "productId": "vip",
    "listings": [{"languageCode": "en-US", "title": "VIP"}],
    "basePlans": [
        base_plan("monthly", "P1M", 20),
        base_plan("yearly", "P1Y", 200),
        base_plan("prepaid", "P1M", 24, prepaidBasePlanType={"billingPeriodDuration": "P1M"}),
    ],
}
WORKSHOP = {
    "packageName": GARDEN,
    "productId": "workshop",
    "listings": [{"languageCode": "en-US", "title": "Workshop"}],
    "basePlans": [
        base_plan(
            "installments", "P1M", 8, installmentsBasePlanType={
                "billingPeriodDuration": "P1M", "committedPaymentsCount": 3,
                "renewalType": "RENEWAL_TYPE_RENEWS_WITHOUT_COMMITMENT"}),
        base_plan("monthly", "P1M", 10),
    ],
}

CATALOG = {
    "oneTimeProducts": [
        product("seeds", "Seeds", several=True),
        product("spade", "A spade"),
        product("paint", "Paint", package=SHED),
    ],
    "subscriptions": [PREMIUM, VIP, WORKSHOP],
    "subscriptionOffers": [TRIAL],
}


class Play:
    """A local Google Play in a folder of its own."""

    # The identifiers of the methods that were called, of all Plays.
    called = set()

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.data = pathlib.Path(self.folder.name, "data")
        catalog = pathlib.Path(self.folder.name, "Garden.play.json")
        catalog.write_text(json.dumps(CATALOG))
        self.process, started = self.serve(catalog)
        self.url, self.key = started["url"], started["sandboxKey"]
        self.packages = started["packageNames"]

    def serve(self, catalog):
        """A process that sells the products of a catalog from now on, and what it prints at its start."""
        process = subprocess.Popen(
            [
                os.environ["TILL"], "play", "--json", "--port", "0", "--log-level", "warning", "--products", str(catalog),
                "--data", str(self.data),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("}"):
                break
        return process, json.loads(text)

    def sell(self, *subscriptions, offers=()):
        """Replaces subscriptions of the catalog, as another process on the same Play does."""
        file = pathlib.Path(self.folder.name, "More.play.json")
        file.write_text(json.dumps({"subscriptions": subscriptions, "subscriptionOffers": offers}))
        process, _ = self.serve(file)
        process.terminate()
        assert process.wait(timeout=120) == 0
        process.stdout.close()

    def stop(self):
        self.process.terminate()
        status = self.process.wait(timeout=120)
        self.process.stdout.close()
        self.folder.cleanup()
        return status

    def run(self, *arguments):
        """A command of `till play` in the same data directory, with its JSON."""
        result = subprocess.run(
            [os.environ["TILL"], "play", *arguments, "--json", "--data", str(self.data)],
            capture_output=True, text=True, check=False,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def sandbox(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + "/sandbox/v1/" + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            with error:
                return json.loads(error.read())

    def buy(self, product_id, account, **more):
        more.setdefault("packageName", GARDEN)
        bought = self.sandbox("POST", "purchases", {"productId": product_id, "account": account, **more})
        assert "purchaseToken" in bought, bought
        return bought

    def subscribe(self, account, **more):
        order = {"packageName": GARDEN, "productId": "premium", "account": account, **more}
        bought = self.sandbox("POST", "subscriptions", order)
        assert "purchaseToken" in bought, bought
        return bought

    def account(self, packages=None):
        """The key file of a new service account, as `service_account` reads it."""
        return self.sandbox("POST", "service-accounts", {"packageNames": packages} if packages else {})

    def credentials(self, account=None, scopes=(SCOPE,)):
        return service_account.Credentials.from_service_account_info(account or self.account(), scopes=list(scopes))

    def client(self, credentials=None):
        return build(
            "androidpublisher", "v3", credentials=credentials or self.credentials(), static_discovery=True,
            client_options={"api_endpoint": self.url}, cache_discovery=False,
        )

    def execute(self, request):
        """Runs a request of the client, and holds its answer against the schema of its method."""
        identifier = request.methodId.removeprefix("androidpublisher.")
        self.called.add(identifier)
        answer = request.execute()
        schema = discovery.methods()[identifier].get("response")
        if schema is None:
            assert answer in ("", b"", {}), answer
        else:
            discovery.check(answer, schema, identifier)
        return answer


class PlayTests(unittest.TestCase):
    """Tests with a Play of their own."""

    @classmethod
    def setUpClass(cls):
        cls.play = Play()
        cls.client = cls.play.client()
        cls.products = cls.client.purchases().products()
        cls.second = cls.client.purchases().productsv2()
        cls.voided = cls.client.purchases().voidedpurchases()
        cls.orders = cls.client.orders()
        cls.catalog = cls.client.monetization().onetimeproducts()

    @classmethod
    def tearDownClass(cls):
        assert cls.play.stop() == 0

    def ok(self, request):
        return self.play.execute(request)

    def refused(self, request, status, reason, location=None):
        """Runs a request that is refused, with the form of Google's errors."""
        with self.assertRaises(HttpError) as caught:
            request.execute()
        error = json.loads(caught.exception.content)["error"]
        self.assertEqual(caught.exception.resp.status, status, error)
        self.assertEqual(error["code"], status)
        self.assertEqual(error["message"], error["errors"][0]["message"])
        self.assertEqual(error["errors"][0]["reason"], reason)
        self.assertEqual(error["errors"][0].get("location"), location)
        self.assertEqual(caught.exception.error_details, error["errors"])
        return error["message"]
