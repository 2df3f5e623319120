"""The store's receipts and signed data, judged by apple-purchase-receipt-verifier.

That package is not Apple's, and shares no code with Apple's library or Till: it verifies with a module of its own in Rust.
"""

import base64
import json
import unittest

from apple_purchase_receipt_verifier import Config, Environment, Reason, Verifier
from test_app_store import BUNDLE, GATE, MONTHLY, PREMIUM, SEASON, SEEDS, Store

# Of the answer of verifyReceipt, the package knows neither the time of the request nor what the store knows besides the receipt.
LATEST = {"latest_receipt", "latest_receipt_info", "pending_renewal_info"}


class ReceiptVerifierTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = Store()
        cls.verifier = Verifier(Config(roots=cls.store.roots()))

    @classmethod
    def tearDownClass(cls):
        cls.store.close()

    def setUp(self):
        # A customer of the test's own.
        self.account = self.id().split(".")[-1]

    def buy(self, product, **fields):
        return self.store.buy(product, self.account, **fields)

    def act(self, action, transaction, **fields):
        self.store.sandbox("POST", f"transactions/{transaction}/{action}", fields)

    def receipt(self, store=None):
        return (store or self.store).sandbox("GET", f"accounts/{self.account}/receipt")["receipt"]

    def verified(self, signed, verifier=None):
        """The payload of signed data, with its environment."""
        result = (verifier or self.verifier).verify_signed_data(signed)
        self.assertIsNone(result.failure)
        return json.loads(result.payload.json), result.payload.environment

    def test_a_receipt_has_the_purchases(self):
        self.buy(SEEDS, quantity=3)
        self.act("refund", self.buy(GATE)["transactionId"], reason="issue")
        self.buy(SEASON)
        self.buy(MONTHLY)
        self.store.sandbox("POST", "time/advance", {"by": "1mo"})
        result = self.verifier.verify_receipt(self.receipt())
        self.assertIsNone(result.failure)
        receipt = result.payload
        self.assertEqual((receipt.bundle_id, receipt.app_item_id), (BUNDLE, 0))
        self.assertEqual(receipt.environment, Environment.SANDBOX)
        sales = self.store.sandbox("GET", f"accounts/{self.account}/transactions")["transactions"]
        self.assertGreater(len(sales), 4)
        self.assertEqual(
            sorted((entry.transaction_id, entry.product_id, entry.quantity) for entry in receipt.in_app),
            sorted((sale["transactionId"], sale["productId"], sale["quantity"]) for sale in sales),
        )
        refunded = [entry.product_id for entry in receipt.in_app if entry.cancellation_date_ms is not None]
        self.assertEqual(refunded, [GATE])
        trials = [entry.product_id for entry in receipt.in_app if entry.is_trial_period]
        self.assertEqual(trials, [MONTHLY])

    def test_the_answer_of_verify_receipt_is_the_same(self):
        self.act("refund", self.buy(GATE)["transactionId"])
        self.buy(MONTHLY)
        self.buy(SEEDS, quantity=2)
        receipt = self.receipt()
        damaged = bytearray(base64.b64decode(receipt))
        damaged[-1] ^= 1
        for data, status in [(receipt, 0), (base64.b64encode(damaged).decode(), 21003), ("none", 21002)]:
            request = {"receipt-data": data}
            for path, environment in [("sandbox", Environment.SANDBOX), ("production", Environment.PRODUCTION)]:
                answer = self.store.verify_receipt(path=f"/{path}/verifyReceipt", **request)
                expected = json.loads(self.verifier.verify_receipt_endpoint(environment, json.dumps(request)))
                self.assertEqual(answer["status"], 21007 if status == 0 and path == "production" else status)
                # A receipt has no such attribute, so a verifier of receipts alone cannot answer it.
                for entry in answer.get("receipt", {}).get("in_app", []):
                    self.assertEqual(entry.pop("in_app_ownership_type"), "PURCHASED")
                for text in [answer, expected]:
                    for field in [field for field in text.get("receipt", {}) if field.startswith("request_date")]:
                        del text["receipt"][field]
                self.assertEqual({key: value for key, value in answer.items() if key not in LATEST}, expected)

    def test_signed_data_of_a_customers_life(self):
        bought = self.buy(MONTHLY)
        gate = self.buy(GATE)
        member = f"{self.account}_member"
        self.act("share", gate["transactionId"], account=member)
        shared = self.store.sandbox("GET", f"accounts/{member}/transactions")["transactions"][0]
        self.act("familyRevocation", shared["transactionId"])
        self.act("renewal", bought["transactionId"])
        self.act("priceIncrease", bought["transactionId"], price=7990)
        self.act("refund", gate["transactionId"])
        self.buy(PREMIUM)
        statuses = self.store.sandbox("GET", f"accounts/{self.account}/subscriptions")["subscriptions"]
        last = statuses[0]["lastTransactions"][0]
        transaction, environment = self.verified(last["signedTransactionInfo"])
        self.assertEqual((transaction["productId"], environment), (PREMIUM, Environment.SANDBOX))
        renewal, environment = self.verified(last["signedRenewalInfo"])
        self.assertEqual((renewal["autoRenewProductId"], environment), (PREMIUM, Environment.SANDBOX))
        app = self.store.sandbox("GET", f"accounts/{self.account}/appTransaction")["signedAppTransaction"]
        self.assertEqual(self.verified(app)[0]["appTransactionId"], transaction["appTransactionId"])
        types = set()
        for notification in self.store.sandbox("GET", "notifications")["notifications"]:
            payload, environment = self.verified(notification["signedPayload"])
            self.assertEqual((payload["data"]["bundleId"], environment), (BUNDLE, Environment.SANDBOX))
            for name in ["signedTransactionInfo", "signedRenewalInfo"]:
                if name in payload["data"]:
                    self.verified(payload["data"][name])
            types.add(payload["notificationType"])
        self.assertLessEqual(
            {"SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW", "PRICE_INCREASE", "REFUND", "REVOKE"}, types
        )

    def test_a_store_of_production(self):
        store = Store("--environment", "Production", "--app-apple-id", "1234567890")
        try:
            verifier = Verifier(Config(roots=store.roots()))
            signed = store.buy(MONTHLY, self.account)["signedTransaction"]
            self.assertEqual(self.verified(signed, verifier)[1], Environment.PRODUCTION)
            receipt = self.receipt(store)
            payload = verifier.verify_receipt(receipt).payload
            self.assertEqual((payload.environment, payload.app_item_id), (Environment.PRODUCTION, 1234567890))
            request = json.dumps({"receipt-data": receipt})
            for environment, status in [(Environment.PRODUCTION, 0), (Environment.SANDBOX, 21008)]:
                answer = json.loads(verifier.verify_receipt_endpoint(environment, request))
                self.assertEqual(answer["status"], status)
            # Neither store is trusted for the other.
            self.assertEqual(self.verifier.verify_receipt(receipt).failure.reason, Reason.UNTRUSTED_CHAIN)
            self.assertEqual(self.verifier.verify_signed_data(signed).failure.reason, Reason.UNTRUSTED_CHAIN)
        finally:
            store.close()

    def test_what_is_not_the_stores_is_refused(self):
        signed = self.buy(GATE)["signedTransaction"]
        header, payload, signature = signed.split(".")
        other = self.buy(SEEDS)["signedTransaction"].split(".")[2]
        for text, reason in [
            (".".join([header, payload, other]), Reason.INVALID_SIGNATURE),
            (".".join([header, payload]), Reason.MALFORMED),
        ]:
            self.assertEqual(self.verifier.verify_signed_data(text).failure.reason, reason)
        # Apple's own roots are not the store's.
        apple = Verifier(Config())
        self.assertEqual(apple.verify_signed_data(signed).failure.reason, Reason.UNTRUSTED_CHAIN)
        self.assertEqual(apple.verify_receipt(self.receipt()).failure.reason, Reason.UNTRUSTED_CHAIN)


if __name__ == "__main__":
    unittest.main()
