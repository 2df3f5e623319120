"""Years of the local App Store, read whole by Apple's own app-store-server-library.

The library drops a field that it does not know, and keeps a value that it does not know beside an empty enumeration. After a
year, each notification, transaction, renewal and answer is compared with what the library has made of it. So these tests fail
for a field of the store's that Apple's library does not have, and for a new version of the library that knows the fields of seats.
"""

import unittest

import attr
from appstoreserverlibrary.api_client import GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from test_app_store import BUNDLE, MONTHLY, PREMIUM, YEARLY, Receiver, Store


class ReadingVerifier(SignedDataVerifier):
    """Apple's verifier, which notes the fields and the values that the library does not know."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.unknown = set()

    def _decode_signed_object(self, signed):
        self.stated = super()._decode_signed_object(signed)
        return self.stated

    def note(self, model, stated=None):
        """Notes what the library has lost of a statement; by default, of the last signed one."""
        stated = self.stated if stated is None else stated
        self.compare(_get_cattrs_converter(type(model)).unstructure(model), stated)
        self.values(model)
        return model

    def compare(self, read, stated):
        if isinstance(stated, dict):
            for name, value in stated.items():
                if name not in read:
                    self.unknown.add(name)
                else:
                    self.compare(read[name], value)
        elif isinstance(stated, list):
            assert len(read) == len(stated), (read, stated)
            for one, other in zip(read, stated):
                self.compare(one, other)
        else:
            assert read == stated, (read, stated)

    def values(self, model):
        if isinstance(model, list):
            for element in model:
                self.values(element)
        if not attr.has(type(model)):
            return
        for field in attr.fields(type(model)):
            value = getattr(model, field.name)
            self.values(value)
            # A field of an enumeration, with the field of its raw value.
            if field.metadata.get("typeOfField") == "main" and value is None:
                raw = getattr(model, field.metadata["correspondingFieldName"])
                if raw is not None:
                    self.unknown.add(f"{field.name} {raw}")


class YearTests(unittest.TestCase):
    def setUp(self):
        self.receiver = Receiver()
        self.store = Store("--notifications-url", self.receiver.url)
        self.verifier = ReadingVerifier(self.store.roots(), False, Environment.SANDBOX, BUNDLE)
        self.client = self.store.client()
        self.client._execute_request = self.noting(self.client._execute_request)
        self.types = []

    def tearDown(self):
        self.store.close()
        self.receiver.close()

    def noting(self, execute):
        """Keeps the JSON of the last answer."""
        def execute_and_note(*arguments):
            response = execute(*arguments)
            self.answer = response.json()
            return response

        return execute_and_note

    def buy(self, product, **fields):
        self.sold = self.store.buy(product, "alice", **fields)["transactionId"]

    def act(self, action, transaction=None, **fields):
        self.store.sandbox("POST", f"transactions/{transaction or self.sold}/{action}", fields)

    def advance(self, *steps):
        for step in steps:
            self.store.sandbox("POST", "time/advance", {"by": step})

    def settings(self, **changes):
        self.store.sandbox("PATCH", "settings", changes)

    def sales(self):
        sales = self.store.sandbox("GET", "accounts/alice/transactions")["transactions"]
        return [sale["transactionId"] for sale in sales]

    def transaction(self, signed):
        return self.verifier.note(self.verifier.verify_and_decode_signed_transaction(signed))

    def renewal(self, signed):
        return self.verifier.note(self.verifier.verify_and_decode_renewal_info(signed))

    def read(self):
        """Reads all notifications and answers through the library.

        Returns the fields and values that it does not know, and the types of the notifications."""
        count = len(self.store.sandbox("GET", "notifications")["notifications"])
        for _ in range(count):
            notification = self.verifier.note(self.verifier.verify_and_decode_notification(self.receiver.next()))
            self.types.append(" ".join(filter(None, [notification.rawNotificationType, notification.rawSubtype])))
            self.transaction(notification.data.signedTransactionInfo)
            self.renewal(notification.data.signedRenewalInfo)
        statuses = self.client.get_all_subscription_statuses(self.sold)
        for last in self.verifier.note(statuses, self.answer).data[0].lastTransactions:
            self.transaction(last.signedTransactionInfo)
            self.renewal(last.signedRenewalInfo)
        history = self.client.get_transaction_history(
            self.sold, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        self.verifier.note(history, self.answer)
        sold = [self.transaction(signed).transactionId for signed in history.signedTransactions]
        self.assertEqual(sorted(sold), sorted(self.sales()))
        refunds = self.client.get_refund_history(self.sold, None)
        for signed in self.verifier.note(refunds, self.answer).signedTransactions:
            self.transaction(signed)
        info = self.client.get_transaction_info(self.sold)
        self.transaction(self.verifier.note(info, self.answer).signedTransactionInfo)
        return self.verifier.unknown, self.types

    def test_a_subscription(self):
        """A trial, an upgrade, a downgrade, a grace period, a higher price, billing retry, a refund, a new beginning, the end."""
        self.buy(MONTHLY)
        self.advance("7d", "31d", "10d")
        self.store.buy(PREMIUM, "alice")
        self.store.buy(MONTHLY, "alice")
        self.advance("31d")
        self.settings(shouldEnterBillingRetryOnRenewal=True, isBillingGracePeriodEnabled=True)
        self.advance("31d")
        self.settings(shouldEnterBillingRetryOnRenewal=False)
        self.act("billingResolution")
        self.act("priceIncrease", price=5990)
        self.act("priceConsent")
        self.advance("31d")
        self.settings(shouldEnterBillingRetryOnRenewal=True, isBillingGracePeriodEnabled=False)
        self.advance("31d")
        self.settings(shouldEnterBillingRetryOnRenewal=False)
        self.act("billingResolution")
        latest = self.sales()[-1]
        self.act("refundRequest", latest)
        self.act("refund", latest)
        self.store.buy(MONTHLY, "alice")
        self.act("cancellation")
        self.advance("31d")
        unknown, types = self.read()
        self.assertEqual(unknown, set())
        self.assertEqual(
            types,
            [
                "SUBSCRIBED INITIAL_BUY", "DID_RENEW", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF UPGRADE",
                "DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_RENEW", "DID_FAIL_TO_RENEW GRACE_PERIOD",
                "DID_RENEW BILLING_RECOVERY", "PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED", "DID_RENEW",
                "DID_FAIL_TO_RENEW", "DID_RENEW BILLING_RECOVERY", "CONSUMPTION_REQUEST", "REFUND",
                "SUBSCRIBED RESUBSCRIBE", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY",
            ],
        )

    def test_a_commitment(self):
        """A failed charge, a recovery, a cancellation, and the end after twelve months."""
        self.settings(storefront="DEU")
        self.buy(YEARLY, billingPlanType="monthly")
        self.settings(shouldEnterBillingRetryOnRenewal=True)
        self.advance("31d")
        self.settings(shouldEnterBillingRetryOnRenewal=False)
        self.act("billingResolution")
        self.act("cancellation")
        self.advance("1y")
        unknown, types = self.read()
        self.assertEqual(unknown, set())
        self.assertEqual(
            types,
            [
                "SUBSCRIBED INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RENEW BILLING_RECOVERY",
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", *["DID_RENEW"] * 10, "EXPIRED VOLUNTARY",
            ],
        )

    def test_seats_have_fields_that_the_library_does_not_know_yet(self):
        """Seats bought, added, partly refunded and fewer at the renewal."""
        self.buy(PREMIUM, quantity=3)
        self.advance("10d")
        self.act("seats", quantity=5)
        self.act("refund", seats=1)
        self.act("seats", quantity=2)
        self.advance("31d")
        unknown, types = self.read()
        self.assertEqual(
            unknown,
            {
                "multiSeatInfo", "additionalTransactionReason", "renewalQuantity", "subtype INCREASE_QUANTITY",
                "subtype DECREASE_QUANTITY", "subtype SEATS",
            },
        )
        self.assertEqual(
            types,
            [
                "SUBSCRIBED INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY", "REFUND SEATS",
                "DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY", "DID_RENEW",
            ],
        )


if __name__ == "__main__":
    unittest.main()
