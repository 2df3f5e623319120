"""Apple's own app-store-server-library, unmodified, against a running `till store`.

    TILL=.build/release/till python -m unittest discover Tests/Apple

Every call of its client is made with an answer and with an error that Apple documents, everything the store signs goes
through its verifier with its strict checks on, and the store's receipts through its ReceiptUtility.
"""

import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import uuid
import zlib

import jwt
import requests
import watched
from appstoreserverlibrary.api_client import APIException, APIError, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator, IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.models.AdvancedCommerceDescriptors import AdvancedCommerceDescriptors
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeCreateRequest import (
    AdvancedCommerceOneTimeChargeCreateRequest,
)
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeItem import AdvancedCommerceOneTimeChargeItem
from appstoreserverlibrary.models.AdvancedCommercePeriod import AdvancedCommercePeriod
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionCreateItem import AdvancedCommerceSubscriptionCreateItem
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionCreateRequest import (
    AdvancedCommerceSubscriptionCreateRequest,
)
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionModifyAddItem import (
    AdvancedCommerceSubscriptionModifyAddItem,
)
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionModifyInAppRequest import (
    AdvancedCommerceSubscriptionModifyInAppRequest,
)
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionReactivateInAppRequest import (
    AdvancedCommerceSubscriptionReactivateInAppRequest,
)
from appstoreserverlibrary.models.AdvancedCommerceSubscriptionReactivateItem import (
    AdvancedCommerceSubscriptionReactivateItem,
)
from appstoreserverlibrary.models.AlternateProduct import AlternateProduct
from appstoreserverlibrary.models.AutoRenewStatus import AutoRenewStatus
from appstoreserverlibrary.models.BillingPlanType import BillingPlanType
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.Message import Message
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OfferType import OfferType
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PromotionalOffer import PromotionalOffer
from appstoreserverlibrary.models.PromotionalOfferSignatureV1 import PromotionalOfferSignatureV1
from appstoreserverlibrary.models.RealtimeResponseBody import RealtimeResponseBody
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.RenewalBillingPlanType import RenewalBillingPlanType
from appstoreserverlibrary.models.RevocationType import RevocationType
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier, VerificationException, VerificationStatus,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLE = "com.example.garden"
MONTHLY = "garden.basic.monthly"
PREMIUM = "garden.premium.monthly"
YEARLY = "garden.basic.yearly"
SEEDS = "garden.seeds"
GATE = "garden.gate"
SEASON = "garden.season"


def png(width, height):
    """A black picture."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(width + 1) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


PNG = png(3840, 160)


class Receiver:
    """A developer's server: keeps the notifications that come, and answers each with the next of its statuses and its body."""

    def __init__(self):
        self.notifications = queue.Queue()
        self.statuses = []
        self.body = b""
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.notifications.put(json.loads(body)["signedPayload"])
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Content-Length", str(len(receiver.body)))
                self.end_headers()
                self.wfile.write(receiver.body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/apple"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        return self.notifications.get(timeout=120)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Store:
    """A running `till store`, and the developer's key to it."""

    def __init__(self, *options, products=ROOT / "Tests/Support/Garden.storekit"):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, TILL_DATA=self.folder.name + "/data")
        self.till = os.environ.get("TILL", str(ROOT / ".build/release/till"))
        port = () if "--as-apple" in options else ("--port", "0")
        self.process = subprocess.Popen(
            [self.till, "store", *port, "--products", str(products), "--bundle-id", BUNDLE, "--json", *options],
            stdout=subprocess.PIPE,
            env=self.environment,
            text=True,
        )
        started = ""
        while not started.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, "the store did not start"
            started += line
        answer = json.loads(started)
        self.url, self.sandbox_key = answer["url"], answer["sandboxKey"]
        self.authority = answer.get("authority")
        self.nsenter = answer.get("nsenter")
        self.key = json.loads(self.run("store", "keys", "--json"))

    def run(self, *arguments):
        return subprocess.run(
            [self.till, *arguments], env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def client(self, bundle=BUNDLE, issuer=None, key_id=None, key=None, environment=Environment.SANDBOX, store=None):
        client = AppStoreServerAPIClient(
            key or pathlib.Path(self.key["privateKey"]).read_bytes(),
            key_id or self.key["keyId"],
            issuer or self.key["issuerId"],
            bundle,
            environment,
        )
        client._base_url = self.base(store)
        return client

    def base(self, store):
        """The base address of a named store, or of the one without a name."""
        return self.url if store is None else f"{self.url}/stores/{store}"

    def roots(self):
        folder = pathlib.Path(self.folder.name) / "data/store/keys"
        return [(folder / f"{chain}-root.cer").read_bytes() for chain in ("transactions", "receipts")]

    def sandbox(self, method, path, body=None, store=None):
        request = urllib.request.Request(
            self.base(store) + "/sandbox/v1/" + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.sandbox_key}"},
        )
        trust = ssl.create_default_context(cafile=self.authority) if self.authority else None
        with urllib.request.urlopen(request, timeout=120, context=trust) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def buy(self, product, account, **fields):
        return self.sandbox("POST", "purchases", {"account": account, "productId": product, **fields})

    def verify_receipt(self, path="/verifyReceipt", **fields):
        request = urllib.request.Request(self.url + path, data=json.dumps(fields).encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def close(self):
        self.process.terminate()
        status = self.process.wait(timeout=120)
        self.process.stdout.close()
        self.folder.cleanup()
        assert status == 0, f"the store ended with {status}"


class AppStoreTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = Store()
        cls.client = cls.store.client()
        cls.verifier = SignedDataVerifier(cls.store.roots(), False, Environment.SANDBOX, BUNDLE)

    @classmethod
    def tearDownClass(cls):
        cls.store.close()

    def setUp(self):
        # A customer of the test's own.
        self.account = self.id().split(".")[-1]

    def buy(self, product, **fields):
        return self.store.buy(product, self.account, **fields)

    def transaction(self, signed):
        return self.verifier.verify_and_decode_signed_transaction(signed)

    def refused(self, error, call, *arguments, **options):
        with self.assertRaises(APIException) as context:
            call(*arguments, **options)
        self.assertEqual(context.exception.api_error, error)
        self.assertEqual(context.exception.http_status_code, int(error) // 10000)

    # Transactions

    def test_transaction_info(self):
        token = str(uuid.uuid4())
        bought = self.buy(SEEDS, quantity=3, appAccountToken=token)
        info = self.transaction(self.client.get_transaction_info(bought["transactionId"]).signedTransactionInfo)
        self.assertEqual(info.productId, SEEDS)
        self.assertEqual(info.quantity, 3)
        self.assertEqual(info.price, 2970)
        self.assertEqual(info.currency, "USD")
        self.assertEqual(info.appAccountToken, token)
        self.assertEqual(info.rawType, "Consumable")
        self.assertEqual(info.rawTransactionReason, "PURCHASE")
        self.assertEqual(self.transaction(bought["signedTransaction"]).transactionId, info.transactionId)
        self.refused(APIError.INVALID_TRANSACTION_ID, self.client.get_transaction_info, "abc")
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, self.client.get_transaction_info, "1234")

    def test_named_stores(self):
        """A store of its own behind another base address, with the same roots and the same team key."""
        self.buy(GATE)
        client, other = self.store.client(store="suite-7"), self.store.client(store="suite-8")
        body = {"account": self.account, "productId": MONTHLY}
        bought = self.store.sandbox("POST", "purchases", body, store="suite-7")["transactionId"]
        info = self.transaction(client.get_transaction_info(bought).signedTransactionInfo)
        self.assertEqual(info.productId, MONTHLY)
        request = TransactionHistoryRequest()
        history = client.get_transaction_history(bought, None, request, GetTransactionHistoryVersion.V2)
        self.assertEqual(len(history.signedTransactions), 1)
        for stranger in (other, self.client):
            self.refused(APIError.TRANSACTION_ID_NOT_FOUND, stranger.get_transaction_info, bought)
        # The team's key signs an offer for the named store.
        creator = PromotionalOfferSignatureCreator(
            pathlib.Path(self.store.key["privateKey"]).read_bytes(), self.store.key["keyId"], BUNDLE
        )
        nonce, now = uuid.uuid4(), self.store.sandbox("GET", "time", store="suite-7")["millisecondsSince1970"]
        signature = {
            "keyIdentifier": self.store.key["keyId"], "nonce": str(nonce), "timestamp": now,
            "signature": creator.create_signature(MONTHLY, "spring", "", nonce, now),
        }
        body.update(offerType="promotional", offerIdentifier="spring", offerSignature=signature)
        self.assertEqual(self.store.sandbox("POST", "purchases", body, store="suite-7")["state"], "purchased")
        self.store.sandbox("DELETE", "store", store="suite-7")
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, client.get_transaction_info, bought)
        with self.assertRaises(urllib.error.HTTPError) as context:
            self.store.sandbox("DELETE", "store")
        self.assertEqual(context.exception.code, 409)

    def test_app_transaction_info(self):
        bought = self.buy(GATE)
        info = self.client.get_app_transaction_info(bought["transactionId"])
        app = self.verifier.verify_and_decode_app_transaction(info.signedAppTransactionInfo)
        self.assertEqual(app.bundleId, BUNDLE)
        transaction = self.transaction(bought["signedTransaction"])
        self.assertEqual(app.appTransactionId, transaction.appTransactionId)
        # The app's own number leads to the customer, too.
        history = self.client.get_transaction_history(
            app.appTransactionId, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        self.assertEqual(len(history.signedTransactions), 1)
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, self.client.get_app_transaction_info, "1234")
        # An account that has bought nothing has an app transaction, too.
        signed = self.store.sandbox("GET", f"accounts/{self.account}_visitor/appTransaction")["signedAppTransaction"]
        visitor = self.verifier.verify_and_decode_app_transaction(signed).appTransactionId
        for number in [app.appTransactionId, visitor]:
            self.refused(APIError.APP_TRANSACTION_ID_NOT_SUPPORTED_ERROR, self.client.get_transaction_info, number)
            info = self.client.get_app_transaction_info(number)
            read = self.verifier.verify_and_decode_app_transaction(info.signedAppTransactionInfo)
            self.assertEqual(read.appTransactionId, number)
        history = self.client.get_transaction_history(
            visitor, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        self.assertEqual((history.signedTransactions, history.hasMore, history.appAppleId), ([], False, None))
        self.assertEqual(self.client.get_all_subscription_statuses(visitor).data, [])
        self.assertEqual(self.client.get_refund_history(visitor, None).signedTransactions, [])

    def test_order_lookup(self):
        bought = self.buy(GATE)
        sale = next(
            sale
            for sale in self.store.sandbox("GET", f"accounts/{self.account}/transactions")["transactions"]
            if sale["transactionId"] == bought["transactionId"]
        )
        found = self.client.look_up_order_id(sale["orderId"])
        self.assertEqual(found.status, OrderLookupStatus.VALID)
        self.assertEqual(self.transaction(found.signedTransactions[0]).productId, GATE)
        self.assertEqual(self.client.look_up_order_id("MNOSUCHORD").status, OrderLookupStatus.INVALID)

    def test_history(self):
        ids = [self.buy(SEEDS)["transactionId"] for _ in range(23)]
        ids.append(self.buy(GATE)["transactionId"])
        monthly = self.buy(MONTHLY)
        ids.append(monthly["transactionId"])
        version = GetTransactionHistoryVersion.V2

        def pages(request, version=version):
            revision, found = None, []
            while True:
                page = self.client.get_transaction_history(ids[0], revision, request, version)
                self.assertEqual(page.bundleId, BUNDLE)
                self.assertEqual(page.environment, Environment.SANDBOX)
                found += [self.transaction(signed) for signed in page.signedTransactions]
                if not page.hasMore:
                    return found, page.revision
                self.assertEqual(len(page.signedTransactions), 20)
                revision = page.revision

        found, revision = pages(TransactionHistoryRequest(sort=Order.ASCENDING))
        self.assertEqual([transaction.transactionId for transaction in found], ids)
        found, _ = pages(TransactionHistoryRequest(sort=Order.DESCENDING))
        self.assertEqual([transaction.transactionId for transaction in found], ids[::-1])
        for request, expected in [
            (TransactionHistoryRequest(productIds=[GATE, MONTHLY]), 2),
            (TransactionHistoryRequest(productTypes=[ProductType.CONSUMABLE]), 23),
            (TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE, ProductType.NON_CONSUMABLE]), 2),
            (TransactionHistoryRequest(subscriptionGroupIdentifiers=["6A0DE104"]), 1),
            (TransactionHistoryRequest(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED), 0),
            (TransactionHistoryRequest(revoked=True), 0),
            (TransactionHistoryRequest(revoked=False), 25),
            (TransactionHistoryRequest(startDate=4000000000000), 0),
            (TransactionHistoryRequest(endDate=4000000000000), 25),
        ]:
            self.assertEqual(len(pages(request)[0]), expected, request)
        # What changes later comes after the revision that was kept.
        self.store.sandbox("POST", f"transactions/{ids[3]}/refund", {})
        page = self.client.get_transaction_history(ids[0], revision, TransactionHistoryRequest(), version)
        self.assertEqual([self.transaction(signed).transactionId for signed in page.signedTransactions], [ids[3]])
        self.assertEqual(len(pages(TransactionHistoryRequest(revoked=True))[0]), 1)
        # The first version leaves out consumables that were finished.
        self.client.finish_transaction(ids[0])
        self.assertEqual(len(pages(TransactionHistoryRequest(), GetTransactionHistoryVersion.V1)[0]), 24)
        history = self.client.get_transaction_history
        for request, revision, error in [
            (TransactionHistoryRequest(), "nonsense", APIError.INVALID_REQUEST_REVISION),
            (TransactionHistoryRequest(startDate=2, endDate=1), None, APIError.START_DATE_AFTER_END_DATE),
            (TransactionHistoryRequest(startDate=-1), None, APIError.INVALID_START_DATE),
            (TransactionHistoryRequest(endDate=-1), None, APIError.INVALID_END_DATE),
        ]:
            self.refused(error, history, ids[0], revision, request, version)

    def test_refunds(self):
        seeds, gate = self.buy(SEEDS), self.buy(GATE)
        self.assertEqual(self.client.get_refund_history(gate["transactionId"], None).signedTransactions, [])
        self.store.sandbox("POST", f"transactions/{gate['transactionId']}/refund", {"reason": "issue"})
        found = self.client.get_refund_history(seeds["transactionId"], None)
        self.assertFalse(found.hasMore)
        refunded = self.transaction(found.signedTransactions[0])
        self.assertEqual(refunded.transactionId, gate["transactionId"])
        self.assertEqual(refunded.rawRevocationReason, 1)
        self.assertEqual(refunded.rawRevocationType, "REFUND_FULL")
        self.store.sandbox("POST", f"transactions/{gate['transactionId']}/refundReversal", {})
        self.assertEqual(self.client.get_refund_history(gate["transactionId"], None).signedTransactions, [])
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, self.client.get_refund_history, "1234", None)

    def test_prorated_refund(self):
        seeds = self.buy(SEEDS)["transactionId"]
        request = ConsumptionRequest(
            customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
            refundPreference=RefundPreference.GRANT_PRORATED, consumptionPercentage=40_000)
        self.client.send_consumption_information(seeds, request)
        self.store.sandbox("POST", f"transactions/{seeds}/refund", {"isProrated": True})
        refunded = self.transaction(self.client.get_refund_history(seeds, None).signedTransactions[0])
        self.assertEqual(refunded.revocationType, RevocationType.REFUND_PRORATED)
        self.assertEqual(refunded.revocationPercentage, 60_000)

    def test_app_account_token(self):
        bought = self.buy(MONTHLY)
        token = str(uuid.uuid4())
        self.client.set_app_account_token(bought["transactionId"], UpdateAppAccountTokenRequest(appAccountToken=token))
        info = self.client.get_transaction_info(bought["transactionId"])
        self.assertEqual(self.transaction(info.signedTransactionInfo).appAccountToken, token)
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/renewal", {})
        status = self.client.get_all_subscription_statuses(bought["transactionId"]).data[0].lastTransactions[0]
        renewed = self.transaction(status.signedTransactionInfo)
        self.assertEqual(renewed.appAccountToken, token)
        request = UpdateAppAccountTokenRequest(appAccountToken=token)
        call = self.client.set_app_account_token
        self.refused(APIError.TRANSACTION_ID_IS_NOT_ORIGINAL_TRANSACTION_ID_ERROR, call, renewed.transactionId, request)
        self.refused(APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND, call, "1234", request)
        self.refused(
            APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR,
            call,
            bought["transactionId"],
            UpdateAppAccountTokenRequest(appAccountToken="nobody"),
        )

    def test_finish(self):
        bought = self.buy(SEEDS)
        self.assertEqual(bought["state"], "purchased")
        self.client.finish_transaction(bought["transactionId"])
        states = [entry["state"] for entry in self.store.sandbox("GET", f"queue?account={self.account}")["transactions"]]
        self.assertEqual(states, ["finished"])
        self.client.finish_transaction(bought["transactionId"])
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, self.client.finish_transaction, "1234")

    def test_consumption(self):
        seeds, gate = self.buy(SEEDS), self.buy(GATE)
        request = ConsumptionRequest(
            customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
            consumptionPercentage=50000,
        )
        call = self.client.send_consumption_information
        call(seeds["transactionId"], request)
        kept = self.store.sandbox("GET", f"transactions/{seeds['transactionId']}/consumption")
        self.assertEqual(kept["consumptionPercentage"], 50000)
        call(gate["transactionId"], request)
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, call, "1234", request)
        declined = ConsumptionRequest(
            customerConsented=False, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED
        )
        self.refused(APIError.INVALID_CUSTOMER_CONSENTED, call, seeds["transactionId"], declined)
        first = self.client.send_consumption_data
        undeclared = {
            f"raw{field}": 0
            for field in [
                "ConsumptionStatus", "Platform", "DeliveryStatus", "AccountTenure", "PlayTime", "LifetimeDollarsRefunded",
                "LifetimeDollarsPurchased", "UserStatus",
            ]
        }

        def complete(**fields):
            return ConsumptionRequestV1(
                customerConsented=True, sampleContentProvided=True, appAccountToken="", **{**undeclared, **fields}
            )

        first(seeds["transactionId"], complete())
        self.refused(APIError.INVALID_TRANSACTION_TYPE_NOT_SUPPORTED, first, gate["transactionId"], complete())
        for field, value, error in [
            ("rawConsumptionStatus", 9, APIError.INVALID_CONSUMPTION_STATUS),
            ("rawPlatform", 9, APIError.INVALID_PLATFORM),
            ("rawDeliveryStatus", 9, APIError.INVALID_DELIVERY_STATUS),
            ("rawAccountTenure", 9, APIError.INVALID_ACCOUNT_TENURE),
            ("rawPlayTime", 9, APIError.INVALID_PLAY_TIME),
            ("rawLifetimeDollarsRefunded", 9, APIError.INVALID_LIFETIME_DOLLARS_REFUNDED),
            ("rawLifetimeDollarsPurchased", 9, APIError.INVALID_LIFETIME_DOLLARS_PURCHASED),
            ("rawUserStatus", 9, APIError.INVALID_USER_STATUS),
        ]:
            for wrong in [value, None]:
                self.refused(error, first, seeds["transactionId"], complete(**{field: wrong}))

    # Subscriptions

    def test_subscription_statuses(self):
        bought = self.buy(MONTHLY)
        statuses = self.client.get_all_subscription_statuses(bought["transactionId"])
        self.assertEqual(statuses.bundleId, BUNDLE)
        item = statuses.data[0]
        self.assertEqual(item.subscriptionGroupIdentifier, "6A0DE104")
        last = item.lastTransactions[0]
        self.assertEqual(last.status, Status.ACTIVE)
        self.assertEqual(last.originalTransactionId, bought["originalTransactionId"])
        transaction = self.transaction(last.signedTransactionInfo)
        self.assertEqual(transaction.rawOfferType, 1)
        self.assertEqual(transaction.rawOfferDiscountType, "FREE_TRIAL")
        renewal = self.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        self.assertEqual(renewal.autoRenewProductId, MONTHLY)
        self.assertEqual(renewal.renewalPrice, 4990)
        self.assertEqual(renewal.renewalDate, transaction.expiresDate)
        call = self.client.get_all_subscription_statuses
        self.assertEqual(call(bought["transactionId"], [Status.EXPIRED, Status.REVOKED]).data, [])
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/expiry", {})
        self.assertEqual(call(bought["transactionId"], [Status.EXPIRED]).data[0].lastTransactions[0].status, Status.EXPIRED)
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, call, "1234")

    def test_seats(self):
        bought = self.buy(PREMIUM, quantity=3)
        sold = self.transaction(bought["signedTransaction"])
        self.assertEqual((sold.quantity, sold.price), (3, 9990))
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/seats", {"quantity": 5})
        history = self.client.get_transaction_history(
            bought["transactionId"], None, TransactionHistoryRequest(sort=Order.ASCENDING), GetTransactionHistoryVersion.V2
        )
        periods = [self.transaction(signed) for signed in history.signedTransactions]
        self.assertEqual([each.quantity for each in periods], [3, 2])
        self.assertEqual(len({(each.webOrderLineItemId, each.expiresDate) for each in periods}), 1)


    def test_seats_by_invitation(self):
        bought = self.buy(PREMIUM, quantity=3)
        member = f"{self.account}_member"
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/invitation", {"account": member})
        sale = self.store.sandbox("GET", f"accounts/{member}/transactions")["transactions"][-1]
        seat = self.transaction(self.client.get_transaction_info(sale["transactionId"]).signedTransactionInfo)
        # The client does not know the value yet.
        self.assertEqual((seat.rawInAppOwnershipType, seat.quantity, seat.price), ("ASSIGNED", 3, 9990))
        self.assertEqual(seat.originalTransactionId, sale["transactionId"])
        self.assertNotEqual(seat.originalTransactionId, bought["originalTransactionId"])
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/renewal", {})
        call = self.client.get_all_subscription_statuses
        last = call(sale["transactionId"]).data[0].lastTransactions[0]
        renewed = self.transaction(last.signedTransactionInfo)
        self.assertEqual((last.status, renewed.rawInAppOwnershipType), (Status.ACTIVE, "ASSIGNED"))
        self.assertNotEqual(renewed.transactionId, seat.transactionId)
        renewal = self.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        self.assertEqual(renewal.originalTransactionId, seat.originalTransactionId)
        request = ExtendRenewalDateRequest(
            extendByDays=1, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier="one"
        )
        self.refused(
            APIError.FAMILY_SHARED_SUBSCRIPTION_EXTENSION_INELIGIBLE, self.client.extend_subscription_renewal_date,
            sale["transactionId"], request,
        )
        self.store.sandbox("POST", f"transactions/{sale['transactionId']}/seatRevocation", {})
        last = call(sale["transactionId"]).data[0].lastTransactions[0]
        ended = self.transaction(last.signedTransactionInfo)
        self.assertEqual((last.status, ended.rawRevocationType), (Status.REVOKED, "ASSIGNMENT_REVOKE"))
        self.assertIsNotNone(ended.revocationDate)
        # The purchaser keeps the subscription.
        last = call(bought["transactionId"]).data[0].lastTransactions[0]
        self.assertEqual(last.status, Status.ACTIVE)

    def test_a_family(self):
        """Each member has transactions of their own, until the purchaser's refund; the family shares PREMIUM here."""
        garden = json.loads((ROOT / "Tests/Support/Garden.storekit").read_text())
        for product in garden["subscriptionGroups"][0]["subscriptions"]:
            product["familyShareable"] = product["productID"] == PREMIUM
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        products = pathlib.Path(folder.name) / "Family.storekit"
        products.write_text(json.dumps(garden))
        store = Store(products=products)
        self.addCleanup(store.close)
        client = store.client()
        verifier = SignedDataVerifier(store.roots(), False, Environment.SANDBOX, BUNDLE)
        seeds, gate = store.buy(SEEDS, "parent"), store.buy(GATE, "parent")
        family = store.sandbox("POST", "accounts/parent/family", {"account": "child"})
        self.assertEqual(family, {"organizer": "parent", "members": ["child"]})
        premium = store.buy(PREMIUM, "parent")
        store.sandbox("POST", f"transactions/{premium['transactionId']}/renewal", {})

        def history(identifier, **filters):
            page = client.get_transaction_history(
                identifier, None, TransactionHistoryRequest(sort=Order.ASCENDING, **filters),
                GetTransactionHistoryVersion.V2,
            )
            return [verifier.verify_and_decode_signed_transaction(signed) for signed in page.signedTransactions]

        sales = store.sandbox("GET", "accounts/child/transactions")["transactions"]
        shared = history(sales[0]["transactionId"], inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED)
        self.assertEqual([each.productId for each in shared], [GATE, PREMIUM, PREMIUM])
        self.assertEqual({each.inAppOwnershipType for each in shared}, {InAppOwnershipType.FAMILY_SHARED})
        self.assertEqual({each.price for each in shared}, {0})
        own = history(gate["transactionId"], inAppOwnershipType=InAppOwnershipType.PURCHASED)
        self.assertEqual([each.productId for each in own], [SEEDS, GATE, PREMIUM, PREMIUM])
        self.assertEqual([each.expiresDate for each in shared], [each.expiresDate for each in own[1:]])
        self.assertFalse(
            {each.originalTransactionId for each in shared} & {each.originalTransactionId for each in own}
        )
        self.assertEqual(len({each.appTransactionId for each in shared + own}), 2)
        statuses = client.get_all_subscription_statuses(shared[-1].transactionId).data
        self.assertEqual([last.status for last in statuses[0].lastTransactions], [Status.ACTIVE])
        renewal = verifier.verify_and_decode_renewal_info(statuses[0].lastTransactions[0].signedRenewalInfo)
        self.assertEqual(renewal.originalTransactionId, shared[-1].originalTransactionId)
        self.refused(
            APIError.FAMILY_SHARED_SUBSCRIPTION_EXTENSION_INELIGIBLE, client.extend_subscription_renewal_date,
            shared[-1].originalTransactionId,
            ExtendRenewalDateRequest(
                extendByDays=1, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="family"
            ),
        )
        # The reason of the end is that of the purchaser's refund.
        for sale in [gate["transactionId"], own[-1].transactionId]:
            store.sandbox("POST", f"transactions/{sale}/refund", {"reason": "issue"})
        revoked = history(shared[0].transactionId, revoked=True)
        self.assertEqual(
            [each.transactionId for each in revoked], [shared[0].transactionId, shared[-1].transactionId]
        )
        self.assertEqual({(each.rawRevocationReason, each.rawRevocationType) for each in revoked}, {(1, "FAMILY_REVOKE")})
        statuses = client.get_all_subscription_statuses(shared[-1].transactionId).data
        self.assertEqual([last.status for last in statuses[0].lastTransactions], [Status.REVOKED])
        told = []
        for notification in store.sandbox("GET", "notifications")["notifications"]:
            payload = verifier.verify_and_decode_notification(notification["signedPayload"])
            sale = verifier.verify_and_decode_signed_transaction(payload.data.signedTransactionInfo)
            if sale.inAppOwnershipType == InAppOwnershipType.FAMILY_SHARED:
                told.append((payload.rawNotificationType, payload.rawSubtype, sale.productId))
        self.assertEqual(
            told,
            [
                ("ONE_TIME_CHARGE", None, GATE), ("SUBSCRIBED", "INITIAL_BUY", PREMIUM), ("DID_RENEW", None, PREMIUM),
                ("REVOKE", None, GATE), ("REVOKE", None, PREMIUM),
            ],
        )

    def test_extension(self):
        bought = self.buy(PREMIUM)
        call = self.client.extend_subscription_renewal_date
        before = self.transaction(bought["signedTransaction"]).expiresDate

        def request(days=10, identifier="one", reason=ExtendReasonCode.CUSTOMER_SATISFACTION):
            return ExtendRenewalDateRequest(extendByDays=days, extendReasonCode=reason, requestIdentifier=identifier)

        answer = call(bought["transactionId"], request())
        self.assertTrue(answer.success)
        self.assertEqual(answer.originalTransactionId, bought["transactionId"])
        self.assertEqual(answer.effectiveDate, before + 10 * 86400000)
        self.assertTrue(call(bought["transactionId"], request()).success)
        self.refused(APIError.SUBSCRIPTION_MAX_EXTENSION, call, bought["transactionId"], request())
        self.refused(APIError.INVALID_EXTEND_BY_DAYS, call, bought["transactionId"], request(days=91))
        self.refused(APIError.INVALID_REQUEST_IDENTIFIER, call, bought["transactionId"], request(identifier="x" * 129))
        self.refused(APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND, call, "1234", request())
        self.refused(APIError.INVALID_ORIGINAL_TRANSACTION_ID, call, "abc", request())
        gate = self.buy(GATE)
        self.refused(APIError.SUBSCRIPTION_EXTENSION_INELIGIBLE, call, gate["transactionId"], request())

    def test_mass_extension(self):
        bought = self.buy("garden.basic.yearly")
        identifier = str(uuid.uuid4())
        call = self.client.extend_renewal_date_for_all_active_subscribers

        def request(**fields):
            fields = {"productId": "garden.basic.yearly", "storefrontCountryCodes": ["USA"], **fields}
            return MassExtendRenewalDateRequest(
                extendByDays=5, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
                requestIdentifier=identifier, **fields,
            )

        self.assertEqual(call(request()).requestIdentifier, identifier)
        status = self.client.get_status_of_subscription_renewal_date_extensions
        answer = status(identifier, "garden.basic.yearly")
        self.assertTrue(answer.complete)
        self.assertEqual((answer.succeededCount, answer.failedCount), (1, 0))
        info = self.transaction(self.client.get_transaction_info(bought["transactionId"]).signedTransactionInfo)
        before = self.transaction(bought["signedTransaction"]).expiresDate
        self.assertEqual(info.expiresDate, before + 5 * 86400000)
        self.refused(APIError.STATUS_REQUEST_NOT_FOUND, status, str(uuid.uuid4()), "garden.basic.yearly")
        self.refused(APIError.INVALID_STOREFRONT_COUNTRY_CODE, call, request(storefrontCountryCodes=["XXX"]))
        self.refused(APIError.INVALID_EMPTY_STOREFRONT_COUNTRY_CODE_LIST, call, request(storefrontCountryCodes=[]))
        self.refused(APIError.INVALID_PRODUCT_ID, call, request(productId=SEEDS))

    # Retention messaging

    def test_messaging(self):
        image, message = uuid.uuid4(), uuid.uuid4()
        client = self.client
        client.upload_image(image, PNG, ImageSize.FULL_SIZE)
        self.assertIn(str(image), [str(item.imageIdentifier) for item in client.get_image_list().imageIdentifiers])
        self.refused(APIError.IMAGE_ALREADY_EXISTS, client.upload_image, image, PNG)
        for invalid in [b"GIF89a", PNG[:32], png(3840, 159), png(60000, 160), png(1024, 1024)]:
            self.refused(APIError.INVALID_IMAGE, client.upload_image, uuid.uuid4(), invalid)
        self.refused(APIError.INVALID_IMAGE, client.upload_image, uuid.uuid4(), PNG, ImageSize.BULLET_POINT)
        point = uuid.uuid4()
        client.upload_image(point, png(1024, 1024), ImageSize.BULLET_POINT)
        client.delete_image(point)
        body = UploadMessageRequestBody(
            header="Stay", body="Much is in bloom.", image=UploadMessageImage(imageIdentifier=image, altText="A garden")
        )
        client.upload_message(message, body)
        self.assertIn(str(message), [str(item.messageIdentifier) for item in client.get_message_list().messageIdentifiers])
        self.refused(APIError.MESSAGE_ALREADY_EXISTS, client.upload_message, message, body)
        self.refused(APIError.IMAGE_IN_USE, client.delete_image, image)
        request = DefaultConfigurationRequest(messageIdentifier=message)
        client.configure_default_message(MONTHLY, "en-US", request)
        self.assertEqual(str(client.get_default_message(MONTHLY, "en-US").messageIdentifier), str(message))
        client.delete_default_message(MONTHLY, "en-US")
        for call in (client.get_default_message, client.delete_default_message):
            self.refused(APIError.DEFAULT_MESSAGE_NOT_FOUND, call, MONTHLY, "en-US")
        self.refused(APIError.INVALID_LOCALE, client.configure_default_message, MONTHLY, "1", request)
        client.delete_message(message)
        self.refused(APIError.MESSAGE_NOT_FOUND, client.delete_message, message)
        client.delete_image(image)
        self.refused(APIError.IMAGE_NOT_FOUND, client.delete_image, image)

    def test_realtime_url_and_performance_test(self):
        client, bought = self.client, self.buy(PREMIUM)
        self.refused(APIError.REALTIME_URL_NOT_FOUND, client.get_realtime_url)
        self.refused(
            APIError.BAD_REQUEST_REALTIME_URL, client.configure_realtime_url, RealtimeUrlRequest(realtimeURL="http://x")
        )
        client.configure_realtime_url(RealtimeUrlRequest(realtimeURL="https://example.com/realtime"))
        self.assertEqual(client.get_realtime_url().realtimeURL, "https://example.com/realtime")
        started = client.initiate_performance_test(
            PerformanceTestRequest(originalTransactionId=bought["originalTransactionId"])
        )
        result = client.get_performance_test_results(started.requestId)
        self.assertEqual(result.target, "https://example.com/realtime")
        self.refused(APIError.PERFORMANCE_TEST_RUN_NOT_FOUND, client.get_performance_test_results, str(uuid.uuid4()))
        self.refused(APIError.INVALID_REQUEST_ID, client.get_performance_test_results, "one")
        unknown = PerformanceTestRequest(originalTransactionId="1234")
        self.refused(APIError.INVALID_PERFORMANCE_TEST_REQUEST, client.initiate_performance_test, unknown)
        client.delete_realtime_url()
        self.refused(APIError.REALTIME_URL_NOT_FOUND, client.delete_realtime_url)

    def test_realtime_requests(self):
        client, bought = self.client, self.buy(MONTHLY)
        path = f"transactions/{bought['transactionId']}/retentionMessage"
        message, default = uuid.uuid4(), uuid.uuid4()
        for identifier in (message, default):
            client.upload_message(identifier, UploadMessageRequestBody(header="Stay", body="Much is in bloom."))
        client.configure_default_message(MONTHLY, "ko-KR", DefaultConfigurationRequest(messageIdentifier=default))
        receiver = Receiver()
        client.configure_realtime_url(RealtimeUrlRequest(realtimeURL=receiver.url))

        def ask(answer):
            fields = _get_cattrs_converter(RealtimeResponseBody).unstructure(answer)
            receiver.body = json.dumps(fields).encode()
            shown = self.store.sandbox("POST", path, {"locale": "ko-KR"})
            request = self.verifier.verify_and_decode_realtime_request(receiver.next())
            self.assertEqual(request.originalTransactionId, bought["originalTransactionId"])
            self.assertEqual((request.productId, request.userLocale), (MONTHLY, "ko-KR"))
            self.assertEqual((request.environment, request.appAppleId), (Environment.SANDBOX, 0))
            return shown["shown"], shown.get("messageIdentifier"), shown.get("refusal")

        try:
            self.assertEqual(
                ask(RealtimeResponseBody(message=Message(messageIdentifier=message))), ("message", str(message), None)
            )
            alternate = AlternateProduct(messageIdentifier=message, productId=PREMIUM)
            self.assertEqual(
                ask(RealtimeResponseBody(alternateProduct=alternate)), ("alternateProduct", str(message), None)
            )
            shown, identifier, refusal = ask(RealtimeResponseBody())
            self.assertEqual((shown, identifier), ("defaultMessage", str(default)))
            self.assertIn("must have one of", refusal)
            key = self.store.key
            creator = PromotionalOfferSignatureCreator(
                pathlib.Path(key["privateKey"]).read_bytes(), key["keyId"], BUNDLE
            )
            now = self.store.sandbox("GET", "time")["millisecondsSince1970"]

            def offer(identifier):
                nonce, token = uuid.uuid4(), uuid.uuid4()
                signed = creator.create_signature(MONTHLY, "spring", str(token), nonce, now)
                return RealtimeResponseBody(
                    promotionalOffer=PromotionalOffer(
                        messageIdentifier=message,
                        promotionalOfferSignatureV1=PromotionalOfferSignatureV1(
                            encodedSignature=signed, productId=MONTHLY, nonce=nonce, timestamp=now, keyId=key["keyId"],
                            offerIdentifier=identifier, appAccountToken=token,
                        ),
                    )
                )

            self.assertEqual(ask(offer("spring")), ("promotionalOffer", str(message), None))
            self.assertIn("no promotional offer", ask(offer("autumn"))[2])
            signer = PromotionalOfferV2SignatureCreator(
                pathlib.Path(key["privateKey"]).read_bytes(), key["keyId"], key["issuerId"], BUNDLE
            )
            for identifier, expected in [("spring", "promotionalOffer"), ("autumn", "defaultMessage")]:
                signed = signer.create_signature(MONTHLY, identifier, bought["transactionId"])
                answer = PromotionalOffer(messageIdentifier=message, promotionalOfferSignatureV2=signed)
                self.assertEqual(ask(RealtimeResponseBody(promotionalOffer=answer))[0], expected)
        finally:
            client.delete_realtime_url()
            client.delete_default_message(MONTHLY, "ko-KR")
            receiver.close()

    # Tokens and receipts

    def test_tokens_are_checked(self):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        stranger = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        # A token that names no key.
        unnamed = self.store.client()
        claims = jwt.decode(unnamed._generate_token(), options={"verify_signature": False})
        own = pathlib.Path(self.store.key["privateKey"]).read_bytes()
        unnamed._generate_token = lambda: jwt.encode(claims, own, algorithm="ES256")
        for client in [
            self.store.client(bundle="com.example.other"),
            self.store.client(issuer=str(uuid.uuid4())),
            self.store.client(key_id="NOSUCHKEY1"),
            self.store.client(key=stranger),
            unnamed,
        ]:
            with self.assertRaises(APIException) as context:
                client.get_transaction_info("1234")
            self.assertEqual(context.exception.http_status_code, 401)
            self.assertIsNone(context.exception.raw_api_error)

    def test_rate_limit(self):
        self.store.sandbox("PATCH", "settings", {"serverAPIRequestsPerMinute": 1})
        try:
            with self.assertRaises(APIException) as context:
                for _ in range(3):
                    self.client.get_image_list()
            self.assertEqual(context.exception.api_error, APIError.RATE_LIMIT_EXCEEDED)
            # These two have no error of their own.
            self.refused(APIError.RATE_LIMIT_EXCEEDED, self.client.get_message_list)
            self.refused(APIError.RATE_LIMIT_EXCEEDED, self.client.look_up_order_id, "MNOSUCHORD")
        finally:
            self.store.sandbox("PATCH", "settings", {"serverAPIRequestsPerMinute": 0})

    def test_each_of_apples_errors_is_in_the_table_and_comes_on_demand(self):
        page = (ROOT / "Documentation/AppStoreErrors.md").read_text()
        rows = re.findall(r"^\| (\d{7}) \| `(\w+)` \| \S.* \|$", page, re.MULTILINE)
        self.assertEqual([(int(number), name) for number, name in rows], [(int(error), error.name) for error in APIError])
        try:
            for error in APIError:
                self.store.sandbox("PATCH", "settings", {"serverAPIError": str(int(error))})
                self.refused(error, self.client.get_image_list)
        finally:
            self.store.sandbox("PATCH", "settings", {"serverAPIError": ""})

    def test_receipts(self):
        bought = self.buy(GATE)
        receipt = self.store.sandbox("GET", f"accounts/{self.account}/receipt")["receipt"]
        found = ReceiptUtility().extract_transaction_id_from_app_receipt(receipt)
        self.assertEqual(found, bought["transactionId"])
        answer = self.store.verify_receipt(**{"receipt-data": receipt})
        self.assertEqual(answer["status"], 0)
        self.assertEqual(answer["environment"], "Sandbox")
        self.assertNotIn("latest_receipt_info", answer)
        self.buy(MONTHLY)
        self.store.sandbox("POST", f"accounts/{self.account}/restore", {})
        receipt = self.store.sandbox("GET", f"accounts/{self.account}/receipt")["receipt"]
        answer = self.store.verify_receipt(**{"receipt-data": receipt})
        self.assertEqual([entry["product_id"] for entry in answer["latest_receipt_info"]], [MONTHLY])
        self.assertEqual(answer["latest_receipt_info"][0]["is_trial_period"], "true")
        self.assertEqual(answer["pending_renewal_info"][0]["auto_renew_status"], "1")
        self.assertEqual(
            self.store.verify_receipt(path="/production/verifyReceipt", **{"receipt-data": receipt}), {"status": 21007}
        )
        self.assertEqual(self.store.verify_receipt(**{"receipt-data": "none"}), {"status": 21002})

    def test_the_guides_lines_run_as_they_stand(self):
        guide = (ROOT / "Documentation/Testing.md").read_text()
        blocks = [block.split("```")[0] for block in guide.split("```python\n")[1:]]
        code = next(block for block in blocks if "appstoreserverlibrary" in block)
        bought = self.buy(SEEDS)
        names = {
            "private_key": self.store.key["privateKey"],
            "key_id": self.store.key["keyId"],
            "issuer_id": self.store.key["issuerId"],
            "bundle_id": self.store.key["bundleId"],
            "store_url": self.store.url,
            "folder": self.store.folder.name + "/data/store/keys",
            "transaction_id": bought["transactionId"],
        }
        exec(code, names)
        self.assertEqual(names["transaction"].transactionId, bought["transactionId"])

    def test_promotional_offers_that_apples_library_signs(self):
        account = str(uuid.uuid4())
        self.store.buy(MONTHLY, account)
        creator = PromotionalOfferSignatureCreator(
            pathlib.Path(self.store.key["privateKey"]).read_bytes(), self.store.key["keyId"], BUNDLE
        )
        token = str(uuid.uuid4()).upper()
        now = self.store.sandbox("GET", "time")["millisecondsSince1970"]

        def buy(product=MONTHLY, offer="spring", token=token, timestamp=now, key=self.store.key["keyId"], **changed):
            nonce = uuid.uuid4()
            signature = {
                "keyIdentifier": key,
                "nonce": str(changed.get("nonce", nonce)),
                "timestamp": timestamp,
                "signature": creator.create_signature(product, offer, token, nonce, timestamp),
            }
            fields = {"appAccountToken": changed.get("bought_for", token)} if token else {}
            return self.store.buy(
                changed.get("bought", MONTHLY), account, offerType="promotional", offerIdentifier="spring",
                offerSignature=signature, **fields,
            )

        for wrong in [
            {"product": PREMIUM}, {"offer": "autumn"}, {"bought_for": str(uuid.uuid4())}, {"nonce": uuid.uuid4()},
            {"timestamp": now - 25 * 3600 * 1000}, {"timestamp": now + 25 * 3600 * 1000}, {"key": "ABCDEFGHJK"},
        ]:
            self.assertEqual(buy(**wrong)["error"], "invalidSignature", wrong)
        self.assertEqual(buy()["state"], "purchased")
        self.assertEqual(buy(token="")["state"], "purchased")

    def test_requests_that_apples_library_signs(self):
        key = self.store.key
        private = pathlib.Path(key["privateKey"]).read_bytes()
        bought = self.buy(MONTHLY)
        transaction = bought["transactionId"]
        visitor = self.store.sandbox("GET", f"accounts/{self.account}_visitor/appTransaction")["signedAppTransaction"]
        visitor = self.verifier.verify_and_decode_app_transaction(visitor).appTransactionId

        def judge(signed):
            verdict = self.store.sandbox("POST", "signedRequests", {"signedRequest": signed})
            self.assertEqual(verdict["isAccepted"], "refusal" not in verdict)
            return verdict

        def accepted(signed, audience):
            verdict = judge(signed)
            self.assertTrue(verdict["isAccepted"], verdict)
            self.assertEqual((verdict["audience"], verdict["claims"]["bid"]), (audience, BUNDLE))
            return verdict

        def refused(signed, reason):
            self.assertIn(reason, judge(signed)["refusal"])

        def creator(kind, **changes):
            values = {"key_id": key["keyId"], "issuer_id": key["issuerId"], "bundle_id": BUNDLE, **changes}
            return kind(private, **values)

        promotional = creator(PromotionalOfferV2SignatureCreator)
        accepted(promotional.create_signature(MONTHLY, "spring", transaction), "promotional-offer")
        accepted(promotional.create_signature(MONTHLY, "spring", None), "promotional-offer")
        refused(promotional.create_signature(MONTHLY, "autumn", transaction), "offerIdentifier")
        refused(promotional.create_signature(SEEDS, "spring", transaction), "productId")
        refused(promotional.create_signature(MONTHLY, "spring", "1234"), "transactionId")
        for changes, reason in [
            ({"key_id": "ABCDEFGHJK"}, "kid"), ({"issuer_id": str(uuid.uuid4())}, "iss"),
            ({"bundle_id": "com.example.other"}, "bid"),
        ]:
            other = creator(PromotionalOfferV2SignatureCreator, **changes)
            refused(other.create_signature(MONTHLY, "spring", transaction), reason)

        introductory = creator(IntroductoryOfferEligibilitySignatureCreator)
        for allows in (True, False):
            for customer in (transaction, visitor):
                signed = introductory.create_signature(MONTHLY, allows, customer)
                verdict = accepted(signed, "introductory-offer-eligibility")
                self.assertEqual(verdict["claims"]["allowIntroductoryOffer"], allows)
        refused(introductory.create_signature(PREMIUM, True, transaction), "no introductory offer")

        advanced = creator(AdvancedCommerceAPIInAppSignatureCreator)
        charge = AdvancedCommerceOneTimeChargeCreateRequest(
            requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=uuid.uuid4()),
            currency="USD",
            item=AdvancedCommerceOneTimeChargeItem(SKU="bench", description="A bench", displayName="Bench", price=9990),
            taxCode="C003-00-2",
        )
        verdict = accepted(advanced.create_signature(charge), "advanced-commerce-api")
        self.assertEqual(verdict["request"]["operation"], "CREATE_ONE_TIME_CHARGE")

        # A token for the server API is none for StoreKit.
        refused(self.client._generate_token(), "aud")

    def test_purchases_with_offers_that_apples_library_signs(self):
        private = pathlib.Path(self.store.key["privateKey"]).read_bytes()
        identity = (private, self.store.key["keyId"], self.store.key["issuerId"], BUNDLE)
        promotional = PromotionalOfferV2SignatureCreator(*identity)
        introductory = IntroductoryOfferEligibilitySignatureCreator(*identity)
        former = self.buy(MONTHLY)["transactionId"]
        self.store.sandbox("POST", f"transactions/{former}/expiry", {})

        def spring(signed):
            return self.buy(MONTHLY, offerType="promotional", offerIdentifier="spring", promotionalOfferJWS=signed)

        def eligibility(signed, product=MONTHLY):
            return self.buy(product, introductoryOfferEligibilityJWS=signed)

        for wrong, error in [
            (promotional.create_signature(MONTHLY, "autumn", former), "invalidOfferIdentifier"),
            (promotional.create_signature(PREMIUM, "spring", former), "invalidOfferIdentifier"),
            (introductory.create_signature(MONTHLY, True, former), "invalidSignature"),
            (promotional.create_signature(MONTHLY, "spring", former)[:-8] + "AAAAAAAA", "invalidSignature"),
        ]:
            bought = spring(wrong)
            self.assertEqual((bought["state"], bought["error"]), ("failed", error))
        signed = promotional.create_signature(MONTHLY, "spring", former)
        info = self.transaction(spring(signed)["signedTransaction"])
        self.assertEqual((info.offerType, info.offerIdentifier, info.price), (OfferType.PROMOTIONAL_OFFER, "spring", 1990))
        self.assertEqual(spring(signed)["error"], "invalidSignature")

        # The customer has had the introductory offer, and the server allows it again.
        self.store.sandbox("POST", f"transactions/{former}/expiry", {})
        self.assertEqual(eligibility(introductory.create_signature(MONTHLY, True, former), YEARLY)["error"], "invalidSignature")
        bought = eligibility(introductory.create_signature(MONTHLY, True, former))
        info = self.transaction(bought["signedTransaction"])
        self.assertEqual((info.offerType, info.price), (OfferType.INTRODUCTORY_OFFER, 0))
        # A visitor would get the offer, and the server denies it.
        account = self.account + "_visitor"
        app = self.store.sandbox("GET", f"accounts/{account}/appTransaction")["signedAppTransaction"]
        visitor = self.verifier.verify_and_decode_app_transaction(app).appTransactionId
        denied = introductory.create_signature(MONTHLY, False, visitor)
        bought = self.store.buy(MONTHLY, account, introductoryOfferEligibilityJWS=denied)
        info = self.transaction(bought["signedTransaction"])
        self.assertEqual((info.offerType, info.price), (None, 4990))

    def test_a_charge_that_apples_library_signs(self):
        creator = AdvancedCommerceAPIInAppSignatureCreator(
            pathlib.Path(self.store.key["privateKey"]).read_bytes(), self.store.key["keyId"], self.store.key["issuerId"],
            BUNDLE,
        )

        def sign(reference, currency="USD"):
            return creator.create_signature(AdvancedCommerceOneTimeChargeCreateRequest(
                requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=reference),
                currency=currency,
                item=AdvancedCommerceOneTimeChargeItem(
                    SKU="bench", description="A bench", displayName="Bench", price=9990
                ),
                taxCode="C003-00-2",
            ))

        reference = uuid.uuid4()
        signed = sign(reference)
        bought = self.buy(SEEDS, advancedCommerceJWS=signed)
        info = self.transaction(bought["signedTransaction"])
        self.assertEqual((info.productId, info.price, info.currency), (SEEDS, 9990, "USD"))
        commerce = info.advancedCommerceInfo
        self.assertEqual((commerce.requestReferenceId, commerce.taxCode), (str(reference), "C003-00-2"))
        self.assertEqual((commerce.taxExclusivePrice, commerce.estimatedTax, commerce.taxRate), (9990, 0, "0"))
        item = commerce.items[0]
        self.assertEqual(
            (item.SKU, item.displayName, item.description, item.price, item.revocationDate),
            ("bench", "Bench", "A bench", 9990, None),
        )
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/refund", {})
        answer = self.client.get_transaction_info(bought["transactionId"]).signedTransactionInfo
        refunded = self.transaction(answer)
        self.assertEqual(refunded.advancedCommerceInfo.items[0].revocationDate, refunded.revocationDate)
        for wrong, error in [(signed, "invalidSignature"), (sign(uuid.uuid4(), "KRW"), "paymentInvalid")]:
            self.assertEqual(self.buy(SEEDS, advancedCommerceJWS=wrong)["error"], error)
        self.assertEqual(self.buy(MONTHLY, advancedCommerceJWS=sign(uuid.uuid4()))["error"], "paymentInvalid")

    def test_a_subscription_that_apples_library_signs(self):
        creator = AdvancedCommerceAPIInAppSignatureCreator(
            pathlib.Path(self.store.key["privateKey"]).read_bytes(), self.store.key["keyId"], self.store.key["issuerId"],
            BUNDLE,
        )
        reference, token = uuid.uuid4(), uuid.uuid4()
        signed = creator.create_signature(AdvancedCommerceSubscriptionCreateRequest(
            requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=reference, appAccountToken=token),
            currency="USD",
            descriptors=AdvancedCommerceDescriptors(displayName="Tools", description="All tools"),
            items=[
                AdvancedCommerceSubscriptionCreateItem(SKU=sku, displayName=sku, description="A tool", price=price)
                for sku, price in [("bench", 9990), ("shears", 1990)]
            ],
            period=AdvancedCommercePeriod.P1M,
            taxCode="C003-00-2",
        ))
        # The period is the request's, not that of the generic product.
        bought = self.buy(YEARLY, advancedCommerceJWS=signed)
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/renewal", {})
        last = self.client.get_all_subscription_statuses(bought["transactionId"]).data[0].lastTransactions[0]
        for sale in [self.transaction(bought["signedTransaction"]), self.transaction(last.signedTransactionInfo)]:
            self.assertEqual((sale.productId, sale.price, sale.appAccountToken), (YEARLY, 11980, str(token)))
            self.assertLess(sale.expiresDate - sale.purchaseDate, 32 * 86400000)
            commerce = sale.advancedCommerceInfo
            self.assertEqual((commerce.period, commerce.requestReferenceId), (AdvancedCommercePeriod.P1M, str(reference)))
            self.assertEqual((commerce.descriptors.displayName, commerce.taxExclusivePrice), ("Tools", 11980))
            self.assertEqual([(item.SKU, item.price) for item in commerce.items], [("bench", 9990), ("shears", 1990)])
        renewal = self.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        commerce = renewal.advancedCommerceInfo
        self.assertEqual((renewal.renewalPrice, renewal.autoRenewProductId), (11980, YEARLY))
        self.assertEqual((commerce.period, commerce.taxCode), (AdvancedCommercePeriod.P1M, "C003-00-2"))
        self.assertEqual([item.SKU for item in commerce.items], ["bench", "shears"])
        self.assertTrue(commerce.consistencyToken)
        rake = AdvancedCommerceSubscriptionModifyAddItem(
            SKU="rake", displayName="rake", description="A tool", price=4990, proratedPrice=100
        )
        added = self.buy(YEARLY, advancedCommerceJWS=creator.create_signature(
            AdvancedCommerceSubscriptionModifyInAppRequest(
                requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=uuid.uuid4()),
                transactionId=bought["transactionId"], retainBillingCycle=True, addItems=[rake],
            )
        ))
        sale = self.transaction(added["signedTransaction"])
        self.assertEqual(sale.price, 100)
        self.assertEqual([item.SKU for item in sale.advancedCommerceInfo.items], ["bench", "shears", "rake"])
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/cancellation", {})
        self.buy(YEARLY, advancedCommerceJWS=creator.create_signature(
            AdvancedCommerceSubscriptionReactivateInAppRequest(
                requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=uuid.uuid4()),
                transactionId=bought["transactionId"], items=[AdvancedCommerceSubscriptionReactivateItem(SKU="rake")],
            )
        ))
        last = self.client.get_all_subscription_statuses(bought["transactionId"]).data[0].lastTransactions[0]
        renewal = self.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        self.assertEqual([item.SKU for item in renewal.advancedCommerceInfo.items], ["rake"])
        # The mass extension counts the subscriptions of this product.
        self.store.sandbox("POST", f"transactions/{bought['transactionId']}/expiry", {})

    def test_a_store_of_production(self):
        store = Store("--environment", "Production", "--app-apple-id", "1234567890")
        try:
            verifier = SignedDataVerifier(store.roots(), False, Environment.PRODUCTION, BUNDLE, 1234567890)
            bought = store.buy(MONTHLY, "alice")
            verifier.verify_and_decode_signed_transaction(bought["signedTransaction"])
            app = store.sandbox("GET", "accounts/alice/appTransaction")["signedAppTransaction"]
            self.assertEqual(verifier.verify_and_decode_app_transaction(app).appAppleId, 1234567890)
            told = store.sandbox("GET", "notifications")["notifications"][0]["signedPayload"]
            self.assertEqual(verifier.verify_and_decode_notification(told).data.appAppleId, 1234567890)
            client = store.client(environment=Environment.PRODUCTION)
            statuses = client.get_all_subscription_statuses(bought["transactionId"])
            self.assertEqual((statuses.environment, statuses.appAppleId), (Environment.PRODUCTION, 1234567890))
            for version in GetTransactionHistoryVersion:
                history = client.get_transaction_history(
                    bought["transactionId"], None, TransactionHistoryRequest(), version
                )
                self.assertEqual((history.environment, history.appAppleId), (Environment.PRODUCTION, 1234567890))
            other = SignedDataVerifier(store.roots(), False, Environment.PRODUCTION, BUNDLE, 1234567891)
            with self.assertRaises(VerificationException):
                other.verify_and_decode_notification(told)
            receipt = store.sandbox("GET", "accounts/alice/receipt")["receipt"]
            self.assertEqual(store.verify_receipt(**{"receipt-data": receipt})["receipt"]["app_item_id"], 1234567890)
        finally:
            store.close()

    def test_a_store_of_local_testing(self):
        receiver = Receiver()
        store = Store("--environment", "LocalTesting", "--notifications-url", receiver.url)
        try:
            verifier = SignedDataVerifier(store.roots(), False, Environment.LOCAL_TESTING, BUNDLE)
            sandbox = SignedDataVerifier(store.roots(), False, Environment.SANDBOX, BUNDLE)
            client = store.client(environment=Environment.LOCAL_TESTING)
            client._base_url = store.url
            bought = store.buy(MONTHLY, "alice")
            signed = client.get_transaction_info(bought["transactionId"]).signedTransactionInfo
            transaction = verifier.verify_and_decode_signed_transaction(signed)
            self.assertEqual(
                (transaction.transactionId, transaction.environment), (bought["transactionId"], Environment.LOCAL_TESTING)
            )

            def refused(verify, signed):
                with self.assertRaises(VerificationException) as context:
                    verify(signed)
                self.assertEqual(context.exception.status, VerificationStatus.INVALID_ENVIRONMENT)

            refused(sandbox.verify_and_decode_signed_transaction, signed)
            app = client.get_app_transaction_info(bought["transactionId"]).signedAppTransactionInfo
            refused(sandbox.verify_and_decode_app_transaction, app)
            self.assertEqual(verifier.verify_and_decode_app_transaction(app).receiptType, Environment.LOCAL_TESTING)
            told = verifier.verify_and_decode_notification(receiver.next())
            self.assertEqual(told.notificationType, NotificationTypeV2.SUBSCRIBED)
            renewal = verifier.verify_and_decode_renewal_info(told.data.signedRenewalInfo)
            self.assertEqual(renewal.environment, Environment.LOCAL_TESTING)
            refused(sandbox.verify_and_decode_renewal_info, told.data.signedRenewalInfo)
            statuses = client.get_all_subscription_statuses(bought["transactionId"])
            self.assertEqual((statuses.environment, statuses.appAppleId), (Environment.LOCAL_TESTING, None))
            client.configure_realtime_url(RealtimeUrlRequest(realtimeURL=receiver.url))
            store.sandbox("POST", f"transactions/{bought['transactionId']}/retentionMessage", {})
            asked = receiver.next()
            self.assertEqual(verifier.verify_and_decode_realtime_request(asked).environment, Environment.LOCAL_TESTING)
            refused(sandbox.verify_and_decode_realtime_request, asked)
            # Receipts and verifyReceipt know the sandbox and production alone.
            receipt = store.sandbox("GET", "accounts/alice/receipt")["receipt"]
            self.assertEqual(store.verify_receipt(**{"receipt-data": receipt})["status"], 0)
        finally:
            store.close()
            receiver.close()

    def test_verifier_refuses_what_is_not_the_stores(self):
        signed = self.buy(SEEDS)["signedTransaction"]
        header, payload, signature = signed.split(".")
        other = SignedDataVerifier(self.store.roots(), False, Environment.SANDBOX, "com.example.other")
        with self.assertRaises(VerificationException):
            other.verify_and_decode_signed_transaction(signed)
        with self.assertRaises(VerificationException):
            self.transaction(".".join([header, payload, signature[::-1]]))


class NotificationTests(unittest.TestCase):
    """What the store tells a developer's server by itself."""

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.store = Store("--notifications-url", cls.receiver.url)
        cls.client = cls.store.client()
        cls.verifier = SignedDataVerifier(cls.store.roots(), False, Environment.SANDBOX, BUNDLE)

    @classmethod
    def tearDownClass(cls):
        cls.store.close()
        cls.receiver.close()

    def told(self):
        return self.verifier.verify_and_decode_notification(self.receiver.next())

    def expect(self, type, subtype=None):
        notification = self.told()
        self.assertEqual((notification.notificationType, notification.subtype), (type, subtype))
        return notification

    def test_a_subscription_is_told_of_as_it_goes_on(self):
        bought = self.store.buy(MONTHLY, "alice")
        first = self.expect(NotificationTypeV2.SUBSCRIBED, Subtype.INITIAL_BUY)
        self.assertEqual(first.data.status, Status.ACTIVE)
        self.assertEqual(
            self.verifier.verify_and_decode_signed_transaction(first.data.signedTransactionInfo).transactionId,
            bought["transactionId"],
        )
        self.verifier.verify_and_decode_renewal_info(first.data.signedRenewalInfo)
        self.store.sandbox("POST", "time/advance", {"by": "1w"})
        self.expect(NotificationTypeV2.DID_RENEW)
        self.store.buy(PREMIUM, "alice")
        self.expect(NotificationTypeV2.DID_CHANGE_RENEWAL_PREF, Subtype.UPGRADE)
        path = f"transactions/{bought['transactionId']}/"
        self.store.sandbox("POST", path + "priceIncrease", {"price": 11990})
        self.expect(NotificationTypeV2.PRICE_INCREASE, Subtype.PENDING)
        self.store.sandbox("POST", path + "priceConsent", {})
        self.expect(NotificationTypeV2.PRICE_INCREASE, Subtype.ACCEPTED)
        self.store.sandbox("POST", path + "cancellation", {})
        self.expect(NotificationTypeV2.DID_CHANGE_RENEWAL_STATUS, Subtype.AUTO_RENEW_DISABLED)
        # What is not taken is sent once by the sandbox, and its history says so.
        self.receiver.statuses = [500]
        self.store.sandbox("POST", path + "expiry", {})
        self.expect(NotificationTypeV2.EXPIRED, Subtype.VOLUNTARY)
        now = int(time.time() * 1000)
        request = NotificationHistoryRequest(startDate=now - 3600000, endDate=now + 10**11)
        deadline = time.monotonic() + 120
        while True:
            history = self.client.get_notification_history(None, request)
            if history.notificationHistory[-1].sendAttempts or time.monotonic() > deadline:
                break
        self.assertFalse(history.hasMore)
        self.assertEqual(len(history.notificationHistory), 7)
        results = [item.sendAttempts[0].sendAttemptResult for item in history.notificationHistory]
        self.assertEqual(results[:6], [SendAttemptResult.SUCCESS] * 6)
        self.assertEqual(results[6], SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE)
        failed = NotificationHistoryRequest(startDate=now - 3600000, endDate=now + 10**11, onlyFailures=True)
        self.assertEqual(len(self.client.get_notification_history(None, failed).notificationHistory), 1)
        typed = NotificationHistoryRequest(
            startDate=now - 3600000, endDate=now + 10**11, notificationType=NotificationTypeV2.PRICE_INCREASE,
            notificationSubtype=Subtype.ACCEPTED,
        )
        self.assertEqual(len(self.client.get_notification_history(None, typed).notificationHistory), 1)
        for wrong, error in [
            (NotificationHistoryRequest(startDate=2, endDate=1), APIError.START_DATE_AFTER_END_DATE),
            (NotificationHistoryRequest(startDate=1, endDate=2), APIError.START_DATE_TOO_FAR_IN_PAST),
            (
                NotificationHistoryRequest(
                    startDate=now, endDate=now + 1, transactionId=bought["transactionId"],
                    notificationType=NotificationTypeV2.DID_RENEW,
                ),
                APIError.MULTIPLE_FILTERS_SUPPLIED,
            ),
        ]:
            with self.assertRaises(APIException) as context:
                self.client.get_notification_history(None, wrong)
            self.assertEqual(context.exception.api_error, error)
        with self.assertRaises(APIException) as context:
            self.client.get_notification_history("x", request)
        self.assertEqual(context.exception.api_error, APIError.INVALID_PAGINATION_TOKEN)

    def test_a_test_notification(self):
        store = Store()
        try:
            with self.assertRaises(APIException) as context:
                store.client().request_test_notification()
            self.assertEqual(context.exception.api_error, APIError.SERVER_NOTIFICATION_URL_NOT_FOUND)
            receiver = Receiver()
            store.sandbox("PATCH", "settings", {"notificationsURL": receiver.url})
            token = store.client().request_test_notification().testNotificationToken
            verifier = SignedDataVerifier(store.roots(), False, Environment.SANDBOX, BUNDLE)
            told = verifier.verify_and_decode_notification(receiver.next())
            self.assertEqual(told.notificationType, NotificationTypeV2.TEST)
            deadline = time.monotonic() + 120
            while True:
                try:
                    status = store.client().get_test_notification_status(token)
                    break
                except APIException as error:
                    self.assertEqual(error.api_error, APIError.TEST_NOTIFICATION_NOT_FOUND)
                    self.assertLess(time.monotonic(), deadline)
            self.assertEqual(status.sendAttempts[0].sendAttemptResult, SendAttemptResult.SUCCESS)
            with self.assertRaises(APIException) as context:
                store.client().get_test_notification_status("nonsense")
            self.assertEqual(context.exception.api_error, APIError.INVALID_TEST_NOTIFICATION_TOKEN)
            # Twice, in another order, and again.
            store.sandbox("POST", "notifications/faults", {"faults": ["duplicate", "reorder", "drop"]})
            ids = [store.buy(SEEDS, "bob")["transactionId"] for _ in range(4)]
            seen = []
            for _ in range(4):
                data = verifier.verify_and_decode_notification(receiver.next()).data
                seen.append(verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo).transactionId)
            self.assertEqual(sorted(seen), sorted([ids[0], ids[0], ids[1], ids[3]]))
            receiver.close()
        finally:
            store.close()

    def test_notifications_on_demand(self):
        for options, environment, app in [
            ((), Environment.SANDBOX, None),
            (("--environment", "Production", "--app-apple-id", "6448311069"), Environment.PRODUCTION, 6448311069),
        ]:
            receiver = Receiver()
            store = Store("--notifications-url", receiver.url, *options)
            try:
                verifier = SignedDataVerifier(store.roots(), False, environment, BUNDLE, app)
                bought = store.buy(MONTHLY, "alice")
                self.assertEqual(
                    verifier.verify_and_decode_notification(receiver.next()).notificationType,
                    NotificationTypeV2.SUBSCRIBED,
                )

                def demand(type, **fields):
                    answer = store.sandbox("POST", "notifications", {"notificationType": type.value, **fields})
                    told = verifier.verify_and_decode_notification(receiver.next())
                    self.assertEqual(told.notificationType, type)
                    self.assertEqual(told.rawSubtype, fields.get("subtype"))
                    self.assertEqual(told.notificationUUID, answer["notificationUUID"])
                    self.assertEqual(told.version, "2.0")
                    parts = [told.data, told.summary, told.externalPurchaseToken, told.appData]
                    self.assertEqual(sum(part is not None for part in parts), 1)
                    return told

                for type in [
                    NotificationTypeV2.METADATA_UPDATE, NotificationTypeV2.MIGRATION, NotificationTypeV2.PRICE_CHANGE
                ]:
                    data = demand(type, transactionId=bought["transactionId"]).data
                    self.assertEqual((data.bundleId, data.appAppleId, data.status), (BUNDLE, app, Status.ACTIVE))
                    transaction = verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo)
                    self.assertEqual(transaction.transactionId, bought["transactionId"])
                    renewal = verifier.verify_and_decode_renewal_info(data.signedRenewalInfo)
                    self.assertEqual(renewal.productId, MONTHLY)
                consent = demand(NotificationTypeV2.RESCIND_CONSENT, account="carol").appData
                self.assertEqual(
                    (consent.bundleId, consent.appAppleId, consent.environment), (BUNDLE, app, environment)
                )
                signed = verifier.verify_and_decode_app_transaction(consent.signedAppTransactionInfo)
                own = store.sandbox("GET", "accounts/carol/appTransaction")["signedAppTransaction"]
                self.assertEqual(
                    signed.appTransactionId, verifier.verify_and_decode_app_transaction(own).appTransactionId
                )
                for subtype in ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"]:
                    told = demand(NotificationTypeV2.EXTERNAL_PURCHASE_TOKEN, subtype=subtype)
                    token = told.externalPurchaseToken
                    self.assertEqual((token.bundleId, token.appAppleId), (BUNDLE, app))
                    age = 10 * 86400000 if subtype == "UNREPORTED" else 0
                    self.assertLess(abs(told.signedDate - age - token.tokenCreationDate), 1000)
            finally:
                store.close()
                receiver.close()

    def test_customers_have_clocks_of_their_own(self):
        receiver = Receiver()
        store = Store("--notifications-url", receiver.url)
        try:
            verifier = SignedDataVerifier(store.roots(), False, Environment.SANDBOX, BUNDLE)

            def told(type):
                notification = verifier.verify_and_decode_notification(receiver.next())
                self.assertEqual(notification.notificationType, type)
                return notification

            bought = {}
            for account in ("alice", "bob"):
                bought[account] = store.buy(MONTHLY, account)["transactionId"]
                told(NotificationTypeV2.SUBSCRIBED)
            advanced = store.sandbox("POST", "time/advance", {"by": "1w", "account": "alice"})
            self.assertEqual([event["account"] for event in advanced["events"]], ["alice"])
            renewed = told(NotificationTypeV2.DID_RENEW)
            transaction = verifier.verify_and_decode_signed_transaction(renewed.data.signedTransactionInfo)
            self.assertEqual(renewed.signedDate, transaction.purchaseDate)
            # Bob's purchase is a week earlier, though it comes later.
            store.buy(SEEDS, "bob")
            self.assertLess(told(NotificationTypeV2.ONE_TIME_CHARGE).signedDate, renewed.signedDate)
            client, dates = store.client(), {}
            for account, first in bought.items():
                answer = client.get_all_subscription_statuses(first)
                self.assertEqual(answer.data[0].lastTransactions[0].status, Status.ACTIVE)
                signed = answer.data[0].lastTransactions[0].signedTransactionInfo
                dates[account] = verifier.verify_and_decode_signed_transaction(signed).signedDate
            self.assertGreater(dates["alice"] - dates["bob"], 6 * 86400000)
            times = store.sandbox("GET", "time")
            self.assertEqual([clock["account"] for clock in times["accounts"]], ["alice"])
            self.assertGreater(store.sandbox("GET", "time?account=alice")["now"], times["now"])
        finally:
            store.close()
            receiver.close()


class CommitmentTests(unittest.TestCase):
    """Commitments to twelve months, as a developer's server hears of them."""

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.store = Store("--notifications-url", cls.receiver.url)
        cls.store.sandbox("PATCH", "settings", {"storefront": "DEU"})
        cls.client = cls.store.client()
        cls.verifier = SignedDataVerifier(cls.store.roots(), False, Environment.SANDBOX, BUNDLE)

    @classmethod
    def tearDownClass(cls):
        cls.store.close()
        cls.receiver.close()

    def advance(self, *steps):
        for step in steps:
            self.store.sandbox("POST", "time/advance", {"by": step})

    def state(self, data):
        """The status, the number of the billing period, and the settings of the next period and of the commitment."""
        transaction = self.verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo)
        renewal = self.verifier.verify_and_decode_renewal_info(data.signedRenewalInfo)
        self.assertEqual((transaction.productId, transaction.billingPlanType), (YEARLY, BillingPlanType.MONTHLY))
        self.assertEqual((transaction.price, transaction.currency), (4990, "EUR"))
        commitment, next = transaction.commitmentInfo, renewal.commitmentInfo
        self.assertEqual((commitment.totalBillingPeriods, commitment.commitmentPrice), (12, 59880))
        self.assertEqual(next.commitmentAutoRenewProductId, YEARLY)
        self.assertEqual(next.commitmentRenewalBillingPlanType, RenewalBillingPlanType.MONTHLY)
        if data.status == Status.EXPIRED:
            self.assertEqual((next.commitmentRenewalDate, next.commitmentRenewalPrice), (None, None))
        else:
            self.assertEqual(next.commitmentRenewalDate, commitment.commitmentExpiresDate)
            self.assertEqual(next.commitmentRenewalPrice, 59880)
            self.assertEqual(renewal.renewalBillingPlanType, RenewalBillingPlanType.MONTHLY)
        return data.status, commitment.billingPeriodNumber, renewal.autoRenewStatus, next.commitmentAutoRenewStatus

    def expect(self, type, subtype, *state):
        notification = self.verifier.verify_and_decode_notification(self.receiver.next())
        self.assertEqual((notification.notificationType, notification.subtype), (type, subtype))
        self.assertEqual(self.state(notification.data), state)

    def answered(self, bought):
        statuses = self.client.get_all_subscription_statuses(bought["transactionId"])
        return self.state(statuses.data[0].lastTransactions[0])

    def test_a_year_of_a_commitment_that_is_cancelled(self):
        on, off = AutoRenewStatus.ON, AutoRenewStatus.OFF
        bought = self.store.buy(YEARLY, "alice", billingPlanType="monthly")
        path = f"transactions/{bought['transactionId']}/"
        self.expect(NotificationTypeV2.SUBSCRIBED, Subtype.INITIAL_BUY, Status.ACTIVE, 1, on, on)
        self.advance("5mo", "3d")
        for number in range(2, 7):
            self.expect(NotificationTypeV2.DID_RENEW, None, Status.ACTIVE, number, on, on)
        self.store.sandbox("POST", path + "cancellation", {})
        self.expect(
            NotificationTypeV2.DID_CHANGE_RENEWAL_STATUS, Subtype.AUTO_RENEW_DISABLED, Status.ACTIVE, 6, on, off
        )
        self.assertEqual(self.answered(bought), (Status.ACTIVE, 6, on, off))
        self.advance("6mo")
        for number in range(7, 12):
            self.expect(NotificationTypeV2.DID_RENEW, None, Status.ACTIVE, number, on, off)
        # Nothing follows the last month.
        self.expect(NotificationTypeV2.DID_RENEW, None, Status.ACTIVE, 12, off, off)
        self.advance("1mo")
        self.expect(NotificationTypeV2.EXPIRED, Subtype.VOLUNTARY, Status.EXPIRED, 12, off, off)
        self.assertEqual(self.answered(bought), (Status.EXPIRED, 12, off, off))
        history = self.client.get_transaction_history(
            bought["transactionId"], None, TransactionHistoryRequest(sort=Order.ASCENDING), GetTransactionHistoryVersion.V2
        )
        sold = [self.verifier.verify_and_decode_signed_transaction(signed) for signed in history.signedTransactions]
        self.assertEqual([each.commitmentInfo.billingPeriodNumber for each in sold], list(range(1, 13)))
        self.assertEqual(len({each.commitmentInfo.commitmentExpiresDate for each in sold}), 1)
        self.assertEqual(sold[-1].expiresDate, sold[-1].commitmentInfo.commitmentExpiresDate)

    def test_a_charge_that_fails_and_a_storefront_without_commitments(self):
        on, off = AutoRenewStatus.ON, AutoRenewStatus.OFF
        bought = self.store.buy(YEARLY, "bob", billingPlanType="monthly")
        path = f"transactions/{bought['transactionId']}/"
        self.expect(NotificationTypeV2.SUBSCRIBED, Subtype.INITIAL_BUY, Status.ACTIVE, 1, on, on)
        ends = self.verifier.verify_and_decode_signed_transaction(bought["signedTransaction"]).commitmentInfo
        changes = {"shouldEnterBillingRetryOnRenewal": True, "isBillingGracePeriodEnabled": True, "storefront": "USA"}
        self.store.sandbox("PATCH", "settings", changes)
        self.advance("1mo", "80d")
        # No grace period, and more than the sixty days of other subscriptions.
        self.expect(NotificationTypeV2.DID_FAIL_TO_RENEW, None, Status.BILLING_RETRY, 1, on, on)
        self.assertEqual(self.answered(bought), (Status.BILLING_RETRY, 1, on, on))
        self.store.sandbox("PATCH", "settings", {"storefront": "DEU"})
        self.store.sandbox("POST", path + "billingResolution", {})
        self.expect(NotificationTypeV2.DID_RENEW, Subtype.BILLING_RECOVERY, Status.ACTIVE, 2, on, on)
        statuses = self.client.get_all_subscription_statuses(bought["transactionId"])
        latest = self.verifier.verify_and_decode_signed_transaction(
            statuses.data[0].lastTransactions[0].signedTransactionInfo
        )
        self.assertGreater(latest.commitmentInfo.commitmentExpiresDate, ends.commitmentExpiresDate)
        self.store.sandbox("PATCH", "settings", {"storefront": "USA"})
        with self.assertRaises(urllib.error.HTTPError) as context:
            self.store.buy(YEARLY, "carol", billingPlanType="monthly")
        with context.exception as refusal:
            self.assertEqual((refusal.code, json.loads(refusal.read())["code"]), (409, "invalidAction"))
        self.store.sandbox("PATCH", "settings", {"storefront": "DEU", "shouldEnterBillingRetryOnRenewal": False})
        self.store.sandbox("POST", path + "expiry", {})
        self.expect(NotificationTypeV2.EXPIRED, Subtype.VOLUNTARY, Status.EXPIRED, 2, off, off)


class OnlineCheckTests(unittest.TestCase):
    """Apple's verifier with its online checks on, which asks the OCSP responder that the certificates name."""

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.store = Store("--notifications-url", cls.receiver.url)

    @classmethod
    def tearDownClass(cls):
        cls.store.close()
        cls.receiver.close()

    def verifier(self, store=None):
        """A verifier that has asked nothing yet: each has a cache of its own."""
        return SignedDataVerifier((store or self.store).roots(), True, Environment.SANDBOX, BUNDLE)

    def verify(self, signed, store=None):
        return self.verifier(store).verify_and_decode_signed_transaction(signed)

    def refused(self, status, signed):
        with self.assertRaises(VerificationException) as context:
            self.verify(signed)
        self.assertEqual(context.exception.status, status)

    def set(self, status, store=None):
        self.store.sandbox("PATCH", "settings", {"certificateStatus": status}, store=store)

    def test_what_the_store_signs_passes(self):
        bought = self.store.buy(SEEDS, "alice")
        self.assertEqual(self.verify(bought["signedTransaction"]).transactionId, bought["transactionId"])
        self.verifier().verify_and_decode_notification(self.receiver.next())
        app = self.store.client().get_app_transaction_info(bought["transactionId"])
        self.verifier().verify_and_decode_app_transaction(app.signedAppTransactionInfo)
        # A command signs in a process of its own.
        self.store.run("store", "buy", GATE, "--account", "bob")
        notification = self.verifier().verify_and_decode_notification(self.receiver.next())
        self.assertEqual(notification.notificationType, NotificationTypeV2.ONE_TIME_CHARGE)

    def test_a_status_that_is_not_good_is_refused(self):
        signed = self.store.buy(SEEDS, "carol")["signedTransaction"]
        self.receiver.next()
        failure = VerificationStatus.VERIFICATION_FAILURE
        try:
            for status, expected in [
                ("revokedLeaf", failure), ("revokedIntermediate", failure), ("unknown", failure),
                ("unavailable", VerificationStatus.RETRYABLE_VERIFICATION_FAILURE),
            ]:
                self.set(status)
                self.refused(expected, signed)
        finally:
            self.set("")
        self.verify(signed)

    def test_named_stores_are_revoked_apart(self):
        body = {"account": "alice", "productId": SEEDS}
        signed = {
            name: self.store.sandbox("POST", "purchases", body, store=name)["signedTransaction"]
            for name in ("suite-1", "suite-2")
        }
        self.set("revokedLeaf", store="suite-1")
        self.refused(VerificationStatus.VERIFICATION_FAILURE, signed["suite-1"])
        self.verify(signed["suite-2"])

    def test_a_store_that_serves_tls(self):
        bundle = os.environ.get("REQUESTS_CA_BUNDLE")
        store = Store("--tls")
        os.environ["REQUESTS_CA_BUNDLE"] = store.authority
        try:
            self.verify(store.buy(SEEDS, "alice")["signedTransaction"], store)
        finally:
            if bundle is None:
                del os.environ["REQUESTS_CA_BUNDLE"]
            else:
                os.environ["REQUESTS_CA_BUNDLE"] = bundle
            store.close()


class HostNameTests(unittest.TestCase):
    """The client as it is, its address included: Apple's host names lead to the store, which answers under them."""

    def test_apples_host_names_over_tls(self):
        store = Store("--tls")
        port = int(store.url.rsplit(":", 1)[1])
        lookup, bundle = socket.getaddrinfo, os.environ.get("REQUESTS_CA_BUNDLE")

        def local(host, *arguments, **options):
            if host.endswith("apple.com"):
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
            return lookup(host, *arguments, **options)

        socket.getaddrinfo = local
        os.environ["REQUESTS_CA_BUNDLE"] = store.authority
        try:
            client = store.client()
            client._base_url = "https://api.storekit-sandbox.apple.com"
            self.assertEqual(client.get_image_list().imageIdentifiers, [])
            for host, status in [("sandbox.itunes.apple.com", 21002), ("buy.itunes.apple.com", 21002)]:
                answer = requests.post(f"https://{host}/verifyReceipt", json={"receipt-data": "none"}, timeout=120)
                self.assertEqual(answer.json(), {"status": status})
            store.sandbox("POST", "purchases", {"account": "alice", "productId": GATE})
            receipt = store.sandbox("GET", "accounts/alice/receipt")["receipt"]
            answers = {
                host: requests.post(f"https://{host}/verifyReceipt", json={"receipt-data": receipt}, timeout=120).json()
                for host in ("sandbox.itunes.apple.com", "buy.itunes.apple.com")
            }
            self.assertEqual(answers["sandbox.itunes.apple.com"]["status"], 0)
            self.assertEqual(answers["buy.itunes.apple.com"]["status"], 21007)
        finally:
            socket.getaddrinfo = lookup
            if bundle is None:
                del os.environ["REQUESTS_CA_BUNDLE"]
            else:
                os.environ["REQUESTS_CA_BUNDLE"] = bundle
            store.close()

    # The client as it is, in a process of its own.
    CLIENT = """
import json, pathlib, sys
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
key, environment, transaction = json.loads(sys.argv[1]), Environment(sys.argv[2]), sys.argv[3]
client = AppStoreServerAPIClient(
    pathlib.Path(key["privateKey"]).read_bytes(), key["keyId"], key["issuerId"], key["bundleId"], environment
)
print(client.get_transaction_info(transaction).signedTransactionInfo)
"""

    def test_a_network_in_which_the_store_is_apple(self):
        # As in a container without the privilege.
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        bind = ["mount", "--bind", "/etc/hostname", "/etc/hosts"]
        probe = subprocess.run(["unshare", *own, "--net", "--mount", "--", *bind], capture_output=True)
        if probe.returncode != 0 or shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            self.skipTest("no namespaces here: " + probe.stderr.decode().strip())
        hosts = pathlib.Path("/etc/hosts").read_bytes()
        for environment in (Environment.SANDBOX, Environment.LOCAL_TESTING):
            store = Store("--as-apple", "--environment", environment.value)
            try:
                self.assertEqual(store.url, "https://127.0.0.1:443")
                # Commands play the customer from outside.
                sale = json.loads(store.run("store", "buy", MONTHLY, "--account", "alice", "--json"))
                command = [
                    *store.nsenter.split(), "env", "REQUESTS_CA_BUNDLE=" + store.authority, sys.executable, "-c", self.CLIENT,
                    json.dumps(store.key), environment.value, sale["transactionId"],
                ]
                answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()
                verifier = SignedDataVerifier(store.roots(), False, environment, BUNDLE)
                transaction = verifier.verify_and_decode_signed_transaction(answer)
                self.assertEqual(transaction.transactionId, sale["transactionId"])
                # The trust of the system is Apple's, too: no variable names the authority.
                curl = ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}"]
                for host in ["api.storekit.itunes.apple.com", "api.storekit-sandbox.apple.com", "buy.itunes.apple.com"]:
                    url = f"https://{host}/inApps/v1/transactions/1"
                    status = subprocess.run([*store.nsenter.split(), *curl, url], capture_output=True, text=True).stdout
                    self.assertEqual(status, "401", host)
            finally:
                store.close()
        self.assertEqual(pathlib.Path("/etc/hosts").read_bytes(), hosts)

    def test_a_command_in_the_network_begins_in_the_working_directory(self):
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        bind = ["mount", "--bind", "/etc/hostname", "/etc/hosts"]
        probe = subprocess.run(["unshare", *own, "--net", "--mount", "--", *bind], capture_output=True)
        if probe.returncode != 0 or shutil.which("ip", path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            self.skipTest("no namespaces here: " + probe.stderr.decode().strip())
        with tempfile.TemporaryDirectory() as folder:
            url = "https://api.storekit-sandbox.apple.com/inApps/v1/transactions/1"
            script = f"pwd; curl --silent --output /dev/null --write-out '%{{http_code}}' {url}; exit 7"
            answer = subprocess.run(
                [os.environ["TILL"], "store", "--as-apple", "--data", folder + "/data", "--", "sh", "-c", script],
                cwd=folder, capture_output=True, text=True, timeout=120)
            self.assertEqual(answer.returncode, 7, answer.stderr)
            self.assertEqual(answer.stdout.splitlines()[-2:], [os.path.realpath(folder), "401"])


if __name__ == "__main__":
    unittest.main()
