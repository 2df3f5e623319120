"""Google's own google-api-python-client and google-auth, unmodified, against a running `till play`.

    TILL=.build/release/till python -m unittest discover Tests/Google

Every method that the Play serves is called with an answer and with the errors that are documented, and each answer is held
against the schemas of Google's discovery document.
"""

import base64
import datetime
import http.server
import json
import os
import queue
import stat
import threading
import time
import unittest
import urllib.request

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from google.auth import crypt, exceptions, jwt
from google.auth.transport import requests as google_requests
from google.oauth2 import id_token, service_account

from play import GARDEN, PREMIUM, SCOPE, SHED, TRIAL, Play, PlayTests, price, product

NOWHERE = "com.example.nowhere"
UNKNOWN_TOKEN = "abcdefghijklmnopqrstuvwx.AO-J1OAAAA"


class PurchasingTests(PlayTests):
    def get(self, bought, package=GARDEN):
        return self.ok(
            self.products.get(packageName=package, productId=bought["productId"], token=bought["purchaseToken"]))

    def acknowledge(self, bought, **more):
        return self.products.acknowledge(
            packageName=GARDEN, productId=bought["productId"], token=bought["purchaseToken"], **more)

    def consume(self, bought):
        return self.products.consume(
            packageName=GARDEN, productId=bought["productId"], token=bought["purchaseToken"])


class SignedPurchaseTests(PlayTests):
    def verify(self, bought, package=GARDEN):
        key = serialization.load_der_public_key(
            base64.b64decode(self.play.sandbox("GET", f"apps/{package}")["licensingKey"], validate=True))
        key.verify(
            base64.b64decode(bought["signedPurchase"]["signature"], validate=True),
            bought["signedPurchase"]["purchase"].encode(), padding.PKCS1v15(), hashes.SHA1())
        self.assertEqual(key.key_size, 2048)

    def test_a_purchase_is_signed_with_the_key_of_its_app(self):
        bought = self.play.buy("seeds", "signer", quantity=3, obfuscatedAccountId="a1", obfuscatedProfileId="p1")
        self.verify(bought)
        data = json.loads(bought["signedPurchase"]["purchase"])
        self.assertEqual(
            list(data),
            ["orderId", "packageName", "productId", "purchaseTime", "purchaseState", "purchaseToken",
             "obfuscatedAccountId", "obfuscatedProfileId", "quantity", "acknowledged"])
        self.assertEqual(data["purchaseState"], 0)
        self.assertEqual(data["quantity"], 3)
        self.assertRegex(data["orderId"], r"\AGPA\.\d{4}-\d{4}-\d{4}-\d{5}\Z")
        self.assertRegex(data["purchaseToken"], r"\A[a-z]{24}\.AO-J1O[A-Za-z0-9_-]+\Z")
        self.verify(self.play.buy("paint", "signer", packageName=SHED), SHED)

    def test_a_pending_purchase_is_signed_as_pending(self):
        bought = self.play.buy("spade", "signer", isPending=True)
        self.verify(bought)
        data = json.loads(bought["signedPurchase"]["purchase"])
        self.assertEqual(data["purchaseState"], 4)
        self.assertNotIn("orderId", data)

    def test_the_key_of_an_app_stays(self):
        key = self.play.run("license", "--package", GARDEN)["licensingKey"]
        self.assertTrue(key.startswith("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"))
        self.assertEqual(len(key), 392)
        self.assertEqual(key, self.play.sandbox("GET", f"apps/{GARDEN}")["licensingKey"])
        self.assertNotEqual(key, self.play.sandbox("GET", f"apps/{SHED}")["licensingKey"])


class PurchaseTests(PurchasingTests):
    def test_a_purchase_is_acknowledged_once(self):
        bought = self.play.buy("spade", "ada", obfuscatedAccountId="a1", obfuscatedProfileId="p1", regionCode="KR")
        purchase = self.get(bought)
        self.assertEqual(
            {name: purchase.get(name) for name in (
                "kind", "purchaseState", "consumptionState", "acknowledgementState", "orderId", "purchaseToken",
                "quantity", "refundableQuantity", "obfuscatedExternalAccountId", "obfuscatedExternalProfileId",
                "regionCode", "purchaseType")},
            {"kind": "androidpublisher#productPurchase", "purchaseState": 0, "consumptionState": 0,
             "acknowledgementState": 0, "orderId": bought["orderId"], "purchaseToken": bought["purchaseToken"],
             "quantity": None, "refundableQuantity": 1, "obfuscatedExternalAccountId": "a1",
             "obfuscatedExternalProfileId": "p1", "regionCode": "KR", "purchaseType": None})
        self.ok(self.acknowledge(bought, body={"developerPayload": "7"}))
        purchase = self.get(bought)
        self.assertEqual(purchase["acknowledgementState"], 1)
        self.assertEqual(purchase["developerPayload"], "7")
        self.refused(self.acknowledge(bought), 400, "invalidPurchaseState", "token")

    def test_a_consumed_product_is_bought_again(self):
        bought = self.play.buy("seeds", "bob", quantity=2)
        again = self.play.sandbox(
            "POST", "purchases", {"packageName": GARDEN, "productId": "seeds", "account": "bob"})
        self.assertEqual(again["code"], "invalidAction")
        self.ok(self.consume(bought))
        purchase = self.get(bought)
        self.assertEqual(
            (purchase["consumptionState"], purchase["acknowledgementState"], purchase["quantity"]), (1, 1, 2))
        self.refused(self.consume(bought), 400, "invalidPurchaseState", "token")
        self.refused(self.acknowledge(bought), 400, "invalidPurchaseState", "token")
        self.assertNotEqual(self.play.buy("seeds", "bob")["purchaseToken"], bought["purchaseToken"])

    def test_the_second_version_lists_the_items(self):
        bought = self.play.buy("seeds", "cleo", quantity=2, isTest=True, obfuscatedAccountId="c1")
        request = self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"])
        purchase = self.ok(request)
        self.assertEqual(
            purchase["productLineItem"],
            [{"productId": "seeds",
              "productOfferDetails": {
                  "purchaseOptionId": "buy", "offerTags": ["spring"], "quantity": 2, "refundableQuantity": 2,
                  "consumptionState": "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"}}])
        self.assertEqual(purchase["purchaseStateContext"], {"purchaseState": "PURCHASED"})
        self.assertEqual(purchase["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_PENDING")
        self.assertEqual(purchase["testPurchaseContext"], {"fopType": "TEST"})
        self.assertEqual(purchase["obfuscatedExternalAccountId"], "c1")
        self.assertIn("purchaseCompletionTime", purchase)
        self.assertEqual(self.get(bought)["purchaseType"], 0)
        self.ok(self.consume(bought))
        purchase = self.ok(request)
        self.assertEqual(purchase["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        details = purchase["productLineItem"][0]["productOfferDetails"]
        self.assertEqual(details["consumptionState"], "CONSUMPTION_STATE_CONSUMED")

    def test_a_pending_payment_completes(self):
        bought = self.play.buy("spade", "dora", isPending=True)
        self.assertEqual(self.get(bought)["purchaseState"], 2)
        self.assertNotIn("orderId", self.get(bought))
        request = self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"])
        purchase = self.ok(request)
        self.assertEqual(purchase["purchaseStateContext"], {"purchaseState": "PENDING"})
        self.assertNotIn("purchaseCompletionTime", purchase)
        self.refused(self.acknowledge(bought), 400, "invalidPurchaseState", "token")
        self.refused(self.consume(bought), 400, "invalidPurchaseState", "token")
        self.play.sandbox("POST", f"purchases/{bought['number']}/complete")
        purchase = self.get(bought)
        self.assertEqual(purchase["purchaseState"], 0)
        self.assertIn("orderId", purchase)
        self.ok(self.acknowledge(bought))

    def test_a_pending_payment_is_canceled(self):
        bought = self.play.buy("spade", "erik", isPending=True)
        self.play.sandbox("POST", f"purchases/{bought['number']}/cancel")
        self.assertEqual(self.get(bought)["purchaseState"], 1)
        purchase = self.ok(self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"]))
        self.assertEqual(purchase["purchaseStateContext"], {"purchaseState": "CANCELLED"})
        again = self.play.sandbox("POST", f"purchases/{bought['number']}/complete")
        self.assertEqual(again["code"], "invalidAction")
        self.assertEqual(self.play.buy("spade", "erik")["state"], "purchased")

    def test_tokens_are_refused_as_at_google(self):
        bought = self.play.buy("spade", "finn")
        token = bought["purchaseToken"]

        def get(product_id="spade", token=token, package=GARDEN):
            return self.products.get(packageName=package, productId=product_id, token=token)

        for text in (bought["orderId"], bought["signedPurchase"]["purchase"], "a/b+c=", "x"):
            self.refused(get(token=text), 400, "invalid", "token")
        self.refused(get(token=UNKNOWN_TOKEN), 404, "purchaseTokenNotFound", "token")
        self.refused(get(product_id="seeds"), 400, "purchaseTokenDoesNotMatchProductId", "token")
        self.refused(get(product_id="coins/100 x"), 400, "purchaseTokenDoesNotMatchProductId", "token")
        self.refused(get(package=SHED), 400, "purchaseTokenDoesNotMatchPackageName", "token")
        self.refused(get(package=NOWHERE), 404, "applicationNotFound")
        for method in (self.products.acknowledge, self.products.consume):
            self.refused(
                method(packageName=GARDEN, productId="seeds", token=token), 400,
                "purchaseTokenDoesNotMatchProductId", "token")
        self.refused(
            self.second.getproductpurchasev2(packageName=GARDEN, token=UNKNOWN_TOKEN), 404, "purchaseTokenNotFound",
            "token")

    def test_quantities_are_limited(self):
        for product_id, quantity in (("spade", 2), ("seeds", 0), ("seeds", 51)):
            answer = self.play.sandbox(
                "POST", "purchases",
                {"packageName": GARDEN, "productId": product_id, "account": "gina", "quantity": quantity})
            self.assertEqual(answer["code"], "quantityOutOfRange")


class OrderTests(PurchasingTests):
    def voided_records(self, **more):
        return self.ok(self.voided.list(packageName=GARDEN, **more)).get("voidedPurchases", [])

    def test_an_order_states_the_payment(self):
        bought = self.play.buy("seeds", "hana", quantity=3)
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(order["state"], "PROCESSED")
        self.assertEqual(order["total"], price("USD", 5, 970_000_000))
        self.assertEqual(order["purchaseToken"], bought["purchaseToken"])
        self.assertEqual(order["buyerAddress"], {"buyerCountry": "US"})
        (item,) = order["lineItems"]
        self.assertEqual(item["listingPrice"], price("USD", 1, 990_000_000))
        self.assertEqual(item["productTitle"], "Seeds")
        self.assertEqual(item["oneTimePurchaseDetails"], {"quantity": 3, "purchaseOptionId": "buy"})
        self.assertEqual(list(order["orderHistory"]), ["processedEvent"])
        self.refused(self.orders.get(packageName=GARDEN, orderId="GPA.1"), 404, "notFound")
        self.refused(self.orders.get(packageName=SHED, orderId=bought["orderId"]), 404, "notFound")

    def test_orders_are_read_in_batches(self):
        bought = [self.play.buy("spade", f"batch{number}")["orderId"] for number in range(120)]
        # The client sends so long a query as the body of a POST.
        answer = self.ok(self.orders.batchget(packageName=GARDEN, orderIds=bought))
        self.assertEqual([order["orderId"] for order in answer["orders"]], bought)
        self.refused(self.orders.batchget(packageName=GARDEN, orderIds=[bought[0], "GPA.1"]), 404, "notFound")
        self.refused(
            self.orders.batchget(packageName=GARDEN, orderIds=[bought[0]] * 2), 400, "invalidValue", "orderIds")
        self.refused(self.orders.batchget(packageName=GARDEN), 400, "required", "orderIds")

    def test_a_refund_with_revocation_voids_the_purchase(self):
        bought = self.play.buy("spade", "ivan")
        self.ok(self.acknowledge(bought))
        self.ok(self.orders.refund(packageName=GARDEN, orderId=bought["orderId"], revoke=True))
        purchase = self.get(bought)
        self.assertEqual((purchase["purchaseState"], purchase["refundableQuantity"]), (1, 0))
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(order["state"], "REFUNDED")
        self.assertEqual(order["orderHistory"]["refundEvent"]["refundReason"], "OTHER")
        (record,) = [record for record in self.voided_records() if record["orderId"] == bought["orderId"]]
        self.assertEqual((record["voidedSource"], record["voidedReason"]), (1, 0))
        self.assertEqual(record["kind"], "androidpublisher#voidedPurchase")
        self.refused(
            self.orders.refund(packageName=GARDEN, orderId=bought["orderId"]), 400, "invalidValue", "orderId")
        self.refused(self.orders.refund(packageName=GARDEN, orderId="GPA.1"), 404, "notFound")
        self.refused(self.acknowledge(bought), 400, "invalidPurchaseState", "token")

    def test_a_refund_without_revocation_leaves_the_goods(self):
        bought = self.play.buy("spade", "jane")
        self.ok(self.orders.refund(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(self.get(bought)["purchaseState"], 0)
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(order["state"], "REFUNDED")
        self.assertNotIn(bought["orderId"], [record["orderId"] for record in self.voided_records()])

    def test_refunds_of_some_units_are_listed_on_request(self):
        bought = self.play.buy("seeds", "kofi", quantity=10)
        self.ok(self.consume(bought))
        for quantity in (2, 3, 5):
            self.play.sandbox(
                "POST", f"purchases/{bought['number']}/refund", {"quantity": quantity, "reason": 1})
            if quantity == 2:
                order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
                self.assertEqual(order["state"], "PARTIALLY_REFUNDED")
                self.assertEqual(self.get(bought)["refundableQuantity"], 8)
        quantities = [
            record.get("voidedQuantity") for record in self.voided_records(includeQuantityBasedPartialRefund=True)
            if record["orderId"] == bought["orderId"]]
        self.assertEqual(quantities, [2, 3, None])
        whole = [record for record in self.voided_records() if record["orderId"] == bought["orderId"]]
        self.assertEqual([record["voidedReason"] for record in whole], [1])
        self.assertEqual(self.get(bought)["purchaseState"], 1)
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(len(order["orderHistory"]["partialRefundEvents"]), 2)

    def test_a_chargeback_is_googles(self):
        bought = self.play.buy("spade", "lena")
        self.play.run("refund", str(bought["number"]), "--reason", "chargeback")
        (record,) = [record for record in self.voided_records() if record["orderId"] == bought["orderId"]]
        self.assertEqual((record["voidedSource"], record["voidedReason"]), (2, 7))
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        self.assertEqual(order["orderHistory"]["refundEvent"]["refundReason"], "CHARGEBACK")

    def test_voided_purchases_have_pages_and_limits(self):
        for number in range(5):
            bought = self.play.buy("spade", f"page{number}")
            self.ok(self.orders.refund(packageName=GARDEN, orderId=bought["orderId"], revoke=True))
        everything = [record["orderId"] for record in self.voided_records()]
        first = self.ok(self.voided.list(packageName=GARDEN, maxResults=2))
        self.assertEqual(first["pageInfo"]["totalResults"], len(everything))
        found, page = [], first
        while True:
            found += [record["orderId"] for record in page["voidedPurchases"]]
            token = page["tokenPagination"].get("nextPageToken")
            if not token:
                break
            page = self.ok(self.voided.list(packageName=GARDEN, maxResults=2, token=token))
        self.assertEqual(found, everything)
        rest = self.ok(self.voided.list(packageName=GARDEN, startIndex=len(everything) - 1))
        self.assertEqual([record["orderId"] for record in rest["voidedPurchases"]], everything[-1:])
        now = int(time.time() * 1000)
        self.assertEqual(self.voided_records(startTime=str(now - 7_200_000), endTime=str(now - 3_600_000), type=1), [])
        month = 31 * 86_400_000
        for more, location in (
            ({"startTime": str(now - month)}, "startTime"), ({"endTime": str(now + month)}, "endTime"),
            ({"token": "x"}, "token"), ({"type": 7}, "type"), ({"maxResults": -1}, "maxResults"),
        ):
            self.refused(self.voided.list(packageName=GARDEN, **more), 400, "invalidValue", location)


class SubscribingTests(PlayTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.first = cls.client.purchases().subscriptions()
        cls.subscriptions = cls.client.purchases().subscriptionsv2()

    def read(self, bought):
        return self.ok(self.subscriptions.get(packageName=GARDEN, token=bought["purchaseToken"]))

    def state(self, bought):
        return self.read(bought)["subscriptionState"].removeprefix("SUBSCRIPTION_STATE_")

    def acknowledged(self, account, **more):
        bought = self.play.subscribe(account, **more)
        self.ok(self.acknowledge_subscription(bought))
        return bought

    def acknowledge_subscription(self, bought, subscription_id=None, **more):
        return self.first.acknowledge(
            packageName=GARDEN, subscriptionId=subscription_id or bought["productId"], token=bought["purchaseToken"],
            **more)

    def act(self, bought, action):
        return self.play.sandbox("POST", f"subscriptions/{bought['number']}/{action}")

    def advance(self, step):
        self.play.sandbox("POST", "time/advance", {"by": step})


class SubscriptionTests(SubscribingTests):
    def test_a_trial_becomes_an_introductory_price_and_then_the_base_price(self):
        bought = self.acknowledged(
            "ada", purchaseOptionId="monthly", offerId="trial", obfuscatedAccountId="a1", obfuscatedProfileId="p1")
        purchase = self.read(bought)
        (item,) = purchase["lineItems"]
        self.assertEqual(purchase["kind"], "androidpublisher#subscriptionPurchaseV2")
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_ACTIVE")
        self.assertEqual(purchase["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        self.assertEqual(
            purchase["externalAccountIdentifiers"],
            {"obfuscatedExternalAccountId": "a1", "obfuscatedExternalProfileId": "p1"})
        self.assertEqual(item["productId"], "premium")
        self.assertEqual(item["offerDetails"], {"basePlanId": "monthly", "offerId": "trial"})
        self.assertEqual(item["offerPhase"], {"freeTrial": {}})
        self.assertEqual(
            item["autoRenewingPlan"], {"autoRenewEnabled": True, "recurringPrice": price("USD", 10)})
        base = item["latestSuccessfulOrderId"]
        phases, totals = [], []
        for step, order in (("8d", "..0"), ("1mo", "..1"), ("1mo", "..2")):
            self.advance(step)
            (item,) = self.read(bought)["lineItems"]
            phases += item["offerPhase"]
            self.assertEqual(item["latestSuccessfulOrderId"], base + order)
            paid = self.ok(self.orders.get(packageName=GARDEN, orderId=base + order))
            totals.append(paid["total"])
            self.assertIn("servicePeriodEndTime", paid["lineItems"][0]["subscriptionDetails"])
        self.assertEqual(phases, ["introductoryPrice", "introductoryPrice", "basePrice"])
        self.assertEqual(totals, [price("USD", 5), price("USD", 5), price("USD", 10)])
        self.assertEqual(self.ok(self.orders.get(packageName=GARDEN, orderId=base))["total"], {"currencyCode": "USD"})
        again = self.play.sandbox(
            "POST", "subscriptions", {"packageName": GARDEN, "productId": "premium", "account": "ada"})
        self.assertEqual(again["code"], "invalidAction")

    def test_a_subscription_is_acknowledged_once(self):
        bought = self.play.subscribe("bob")
        self.assertEqual(self.read(bought)["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_PENDING")
        self.ok(self.acknowledge_subscription(bought, body={"externalAccountIds": {"obfuscatedAccountId": "b1"}}))
        self.assertEqual(
            self.read(bought)["externalAccountIdentifiers"], {"obfuscatedExternalAccountId": "b1"})
        self.refused(self.acknowledge_subscription(bought), 400, "invalidPurchaseState", "token")
        self.refused(
            self.acknowledge_subscription(bought, "other"), 400, "purchaseTokenDoesNotMatchProductId", "token")

    def test_an_unacknowledged_subscription_is_revoked(self):
        bought = self.play.subscribe("cleo")
        self.advance("3d")
        self.assertEqual(self.state(bought), "EXPIRED")
        records = self.ok(self.voided.list(packageName=GARDEN, type=1))["voidedPurchases"]
        (record,) = [record for record in records if record["purchaseToken"] == bought["purchaseToken"]]
        self.assertEqual((record["voidedSource"], record["voidedReason"]), (2, 8))
        one_time = self.ok(self.voided.list(packageName=GARDEN)).get("voidedPurchases", [])
        self.assertNotIn(record["orderId"], [record["orderId"] for record in one_time])

    def test_a_customer_cancels_and_restores(self):
        bought = self.acknowledged("dora")
        self.act(bought, "cancel")
        purchase = self.read(bought)
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_CANCELED")
        self.assertIn("cancelTime", purchase["canceledStateContext"]["userInitiatedCancellation"])
        self.assertFalse(purchase["lineItems"][0]["autoRenewingPlan"]["autoRenewEnabled"])
        self.act(bought, "restore")
        self.assertEqual(self.state(bought), "ACTIVE")
        self.ok(self.subscriptions.cancel(
            packageName=GARDEN, token=bought["purchaseToken"],
            body={"cancellationContext": {"cancellationType": "DEVELOPER_REQUESTED_STOP_PAYMENTS"}}))
        self.assertEqual(self.read(bought)["canceledStateContext"], {"developerInitiatedCancellation": {}})
        self.assertEqual(self.act(bought, "restore")["code"], "invalidAction")
        self.advance("1mo")
        self.assertEqual(self.state(bought), "EXPIRED")
        again = self.acknowledged("dora")
        self.assertNotIn("linkedPurchaseToken", self.read(again))
        self.ok(self.first.cancel(packageName=GARDEN, subscriptionId="premium", token=again["purchaseToken"]))
        third = self.play.subscribe("dora")
        self.assertEqual(self.read(third)["linkedPurchaseToken"], again["purchaseToken"])
        self.assertEqual(self.read(again)["canceledStateContext"], {"replacementCancellation": {}})
        self.advance("61d")
        self.refused(
            self.subscriptions.get(packageName=GARDEN, token=bought["purchaseToken"]), 410,
            "purchaseTokenNoLongerValid", "token")

    def test_a_declined_payment_leads_to_grace_hold_and_recovery(self):
        bought = self.acknowledged("erik")
        self.act(bought, "declinePayments")
        self.advance("1mo")
        self.assertEqual(self.state(bought), "IN_GRACE_PERIOD")
        self.advance("3d")
        self.assertEqual(self.state(bought), "ON_HOLD")
        self.act(bought, "acceptPayments")
        self.assertEqual(self.state(bought), "ACTIVE")
        self.act(bought, "declinePayments")
        self.advance("40d")
        self.advance("30d")
        purchase = self.read(bought)
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_EXPIRED")
        self.assertEqual(purchase["canceledStateContext"], {"systemInitiatedCancellation": {}})

    def test_a_subscription_pauses_and_resumes(self):
        bought = self.acknowledged("finn")
        self.act(bought, "pause")
        self.assertEqual(self.state(bought), "ACTIVE")
        self.advance("1mo")
        self.assertIn("autoResumeTime", self.read(bought)["pausedStateContext"])
        body = {"length": "P2M"}
        answer = self.play.sandbox("POST", f"subscriptions/{bought['number']}/pause", body)
        self.assertEqual(answer["code"], "invalidAction")
        self.act(bought, "resume")
        self.assertEqual(self.state(bought), "ACTIVE")

    def test_a_renewal_is_deferred(self):
        bought = self.acknowledged("gina")
        purchase = self.read(bought)

        def deferred(**more):
            context = {"deferDuration": "86400s", "etag": purchase["etag"], **more}
            return self.subscriptions.defer(
                packageName=GARDEN, token=bought["purchaseToken"], body={"deferralContext": context})

        dry = self.ok(deferred(validateOnly=True))
        self.assertEqual(self.read(bought)["lineItems"], purchase["lineItems"])
        self.assertEqual(self.ok(deferred()), dry)
        self.assertEqual(
            self.read(bought)["lineItems"][0]["expiryTime"], dry["itemExpiryTimeDetails"][0]["expiryTime"])
        self.refused(deferred(), 409, "concurrentUpdate")
        self.refused(deferred(deferDuration="1s"), 400, "subscriptionDeferInvalidTime")

    def test_a_renewal_is_deferred_to_a_moment(self):
        bought = self.acknowledged("gail")

        def expiry():
            moment = datetime.datetime.fromisoformat(self.read(bought)["lineItems"][0]["expiryTime"])
            return round(moment.timestamp() * 1000)

        present = expiry()

        def deferred(days, **more):
            info = {
                "expectedExpiryTimeMillis": str(present), "desiredExpiryTimeMillis": str(present + days * 86_400_000),
                **more}
            return self.first.defer(
                packageName=GARDEN, subscriptionId="premium", token=bought["purchaseToken"], body={"deferralInfo": info})

        for days in (0, 366):
            self.refused(deferred(days), 400, "subscriptionDeferInvalidTime")
        self.refused(deferred(3, desiredExpiryTimeMillis=None), 400, "required", "deferralInfo.desiredExpiryTimeMillis")
        # The second version states whole seconds.
        moved = int(self.ok(deferred(3))["newExpiryTimeMillis"])
        self.assertEqual(moved // 1000 * 1000, present + 3 * 86_400_000)
        self.assertEqual(expiry(), present + 3 * 86_400_000)
        self.refused(deferred(3), 409, "concurrentUpdate")

    def test_a_subscription_is_revoked(self):
        for refund, state in (({"fullRefund": {}}, "REFUNDED"), ({"proratedRefund": {}}, "PARTIALLY_REFUNDED")):
            bought = self.acknowledged("hana")
            self.advance("1d")
            request = self.subscriptions.revoke(
                packageName=GARDEN, token=bought["purchaseToken"], body={"revocationContext": refund})
            self.ok(request)
            self.assertEqual(self.state(bought), "EXPIRED")
            order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
            self.assertEqual(order["state"], state)
            self.refused(request, 400, "invalidPurchaseState", "token")
        bought = self.acknowledged("hana")
        self.ok(self.orders.refund(packageName=GARDEN, orderId=bought["orderId"], revoke=True))
        self.assertEqual(self.state(bought), "EXPIRED")

    def test_a_prepaid_plan_ends(self):
        bought = self.acknowledged("ivan", purchaseOptionId="prepaid")
        purchase = self.read(bought)
        self.assertIn("prepaidPlan", purchase["lineItems"][0])
        self.refused(
            self.first.cancel(packageName=GARDEN, subscriptionId="premium", token=bought["purchaseToken"]), 400,
            "invalidPurchaseState", "token")
        self.advance("1mo")
        self.assertEqual(self.state(bought), "EXPIRED")

    def test_tokens_of_the_other_kind_are_refused(self):
        subscription, spade = self.play.subscribe("jane"), self.play.buy("spade", "jane")
        self.refused(
            self.products.get(packageName=GARDEN, productId="premium", token=subscription["purchaseToken"]), 400,
            "invalid", "token")
        self.refused(
            self.subscriptions.get(packageName=GARDEN, token=spade["purchaseToken"]), 400, "invalid", "token")
        self.refused(
            self.subscriptions.get(packageName=GARDEN, token=UNKNOWN_TOKEN), 404, "purchaseTokenNotFound", "token")

    def test_the_catalog_has_subscriptions(self):
        catalog = self.client.monetization().subscriptions()
        self.assertEqual(self.ok(catalog.get(packageName=GARDEN, productId="premium")), PREMIUM)
        self.refused(catalog.get(packageName=GARDEN, productId="none"), 404, "notFound")
        batch = self.ok(catalog.batchGet(packageName=GARDEN, productIds=["premium"]))
        self.assertEqual(batch, {"subscriptions": [PREMIUM]})
        body = {**PREMIUM, "productId": "gold"}
        request = catalog.create(
            packageName=GARDEN, productId="gold", regionsVersion_version="2025/03", body=body)
        created = self.ok(request)
        self.assertEqual([plan["state"] for plan in created["basePlans"]], ["DRAFT", "DRAFT"])
        self.refused(request, 409, "alreadyExists")
        plans = catalog.basePlans()
        place = {"packageName": GARDEN, "productId": "gold", "basePlanId": "monthly"}
        active = self.ok(plans.activate(**place, body=place))
        self.assertEqual([plan["state"] for plan in active["basePlans"]], ["ACTIVE", "DRAFT"])
        inactive = self.ok(plans.deactivate(**place, body=place))
        self.assertEqual([plan["state"] for plan in inactive["basePlans"]], ["INACTIVE", "DRAFT"])
        listed = self.ok(catalog.list(packageName=GARDEN, pageSize=1))
        self.assertEqual([found["productId"] for found in listed["subscriptions"]], ["gold"])
        offers = plans.offers()
        self.assertEqual(
            self.ok(offers.list(packageName=GARDEN, productId="premium", basePlanId="-")),
            {"subscriptionOffers": [TRIAL]})
        self.assertEqual(
            self.ok(offers.get(packageName=GARDEN, productId="premium", basePlanId="monthly", offerId="trial")), TRIAL)
        self.refused(
            offers.get(packageName=GARDEN, productId="premium", basePlanId="monthly", offerId="none"), 404, "notFound")


class NotificationTests(PlayTests):
    """Notifications pushed to a server of the test, whose tokens google-auth verifies."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.received = received = queue.Queue()
        cls.statuses = statuses = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put((self.headers["Authorization"], json.loads(body)))
                self.send_response(statuses.pop(0) if statuses else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.endpoint = f"http://127.0.0.1:{cls.server.server_address[1]}/google"

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        super().tearDownClass()

    def setUp(self):
        self.push()

    def push(self, **more):
        self.play.sandbox("PUT", "notifications/push", {"endpoint": self.endpoint, **more})

    def next(self):
        authorization, envelope = self.received.get(timeout=120)
        message = envelope["message"]
        self.assertEqual(message["messageId"], message["message_id"])
        self.assertEqual(message["publishTime"], message["publish_time"])
        notification = json.loads(base64.b64decode(message["data"], validate=True))
        self.assertEqual(notification["version"], "1.0")
        self.assertEqual(notification["packageName"], GARDEN)
        self.assertTrue(notification["eventTimeMillis"].isdigit())
        return authorization.removeprefix("Bearer "), notification, message["messageId"]

    def test_tokens_are_verified_by_google_auth(self):
        self.push(audience="https://shop.example.com", email="push@example.com")
        self.play.sandbox("POST", "notifications/test", {"packageName": GARDEN})
        token, notification, _ = self.next()
        self.assertEqual(notification["testNotification"], {"version": "1.0"})
        transport, certs = google_requests.Request(), self.play.url + "/oauth2/v1/certs"
        claims = id_token.verify_token(token, transport, audience="https://shop.example.com", certs_url=certs)
        self.assertEqual(claims["iss"], "https://accounts.google.com")
        self.assertEqual((claims["email"], claims["email_verified"]), ("push@example.com", True))
        self.assertEqual(claims["azp"], claims["sub"])
        self.assertEqual(claims["exp"], claims["iat"] + 3600)
        with self.assertRaises(exceptions.GoogleAuthError):
            id_token.verify_token(token, transport, audience="https://other.example.com", certs_url=certs)
        with urllib.request.urlopen(self.play.url + "/oauth2/v3/certs") as answer:
            (jwk,) = json.loads(answer.read())["keys"]
        numbers = rsa.RSAPublicNumbers(
            *(int.from_bytes(base64.urlsafe_b64decode(jwk[name] + "=="), "big") for name in ("e", "n")))
        signed, _, signature = token.rpartition(".")
        numbers.public_key().verify(
            base64.urlsafe_b64decode(signature + "=="), signed.encode(), padding.PKCS1v15(), hashes.SHA256())

    def test_each_change_is_notified(self):
        def types():
            _, notification, _ = self.next()
            for name in ("subscriptionNotification", "oneTimeProductNotification"):
                if name in notification:
                    return name[0], notification[name]["notificationType"]
            voided = notification["voidedPurchaseNotification"]
            return "v", voided["productType"], voided["refundType"]

        self.play.buy("spade", "kofi")
        self.assertEqual(types(), ("o", 1))
        pending = self.play.buy("spade", "lena", isPending=True)
        self.play.sandbox("POST", f"purchases/{pending['number']}/cancel")
        self.assertEqual(types(), ("o", 2))
        bought = self.play.subscribe("mona")
        self.assertEqual(types(), ("s", 4))
        self.play.sandbox("POST", f"subscriptions/{bought['number']}/cancel")
        self.play.sandbox("POST", f"subscriptions/{bought['number']}/restore")
        self.assertEqual([types(), types()], [("s", 3), ("s", 7)])
        self.play.sandbox("POST", f"subscriptions/{bought['number']}/refund")
        self.assertEqual([types(), types()], [("s", 12), ("v", 1, 1)])
        self.play.sandbox("POST", "time/advance", {"by": "3d"})
        self.assertEqual(types(), ("v", 2, 1))

    def test_a_refused_notification_comes_again(self):
        self.statuses.append(500)
        self.play.sandbox("POST", "notifications/test", {"packageName": GARDEN})
        first, again = self.next(), self.next()
        self.assertEqual(first[1:], again[1:])


class DeadlineTests(PurchasingTests):
    def test_an_unacknowledged_purchase_is_refunded_after_three_days(self):
        late, kept, pending, test = (
            self.play.buy("spade", "mona"), self.play.buy("spade", "nils"),
            self.play.buy("spade", "olga", isPending=True), self.play.buy("spade", "pete", isTest=True))
        self.ok(self.acknowledge(kept))
        deadline = datetime.datetime.fromisoformat(late["acknowledgementDeadline"])
        self.play.run("time", "--advance", "5min")
        self.assertEqual(self.get(test)["purchaseState"], 1)
        self.play.sandbox("POST", "time/advance", {"by": "2d"})
        self.assertEqual(self.get(late)["purchaseState"], 0)
        self.play.sandbox("POST", f"purchases/{pending['number']}/complete")
        self.play.sandbox("POST", "time/advance", {"by": "1d"})
        self.assertEqual(self.get(late)["purchaseState"], 1)
        self.assertEqual(self.get(kept)["purchaseState"], 0)
        # Its three days began with the payment.
        self.assertEqual(self.get(pending)["purchaseState"], 0)
        self.refused(self.acknowledge(late), 400, "invalidPurchaseState", "token")
        records = self.ok(self.voided.list(packageName=GARDEN))["voidedPurchases"]
        (record,) = [record for record in records if record["orderId"] == late["orderId"]]
        self.assertEqual((record["voidedSource"], record["voidedReason"]), (2, 8))
        self.assertAlmostEqual(int(record["voidedTimeMillis"]) / 1000, deadline.timestamp(), delta=1)
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=late["orderId"]))
        self.assertEqual(order["state"], "REFUNDED")
        self.assertEqual(self.play.run("reset"), {"purchases": 4})
        self.refused(
            self.products.get(packageName=GARDEN, productId="spade", token=kept["purchaseToken"]), 404,
            "purchaseTokenNotFound", "token")


class CatalogTests(PlayTests):
    VERSION = "2025/03"

    def patch(self, body, **more):
        more.setdefault("regionsVersion_version", self.VERSION)
        return self.catalog.patch(packageName=GARDEN, productId=body["productId"], body=body, **more)

    def set_state(self, product_id, kind, option="buy", path=None):
        place = {"packageName": GARDEN, "productId": product_id, "purchaseOptionId": option}
        return self.catalog.purchaseOptions().batchUpdateStates(
            packageName=GARDEN, productId=path or product_id, body={"requests": [{f"{kind}PurchaseOptionRequest": place}]})

    def test_products_of_the_file_are_read(self):
        found = self.ok(self.catalog.get(packageName=GARDEN, productId="seeds"))
        self.assertEqual(found, product("seeds", "Seeds", several=True))
        self.refused(self.catalog.get(packageName=GARDEN, productId="none"), 404, "notFound")
        batch = self.ok(self.catalog.batchGet(packageName=GARDEN, productIds=["spade", "seeds"]))
        self.assertEqual([found["productId"] for found in batch["oneTimeProducts"]], ["spade", "seeds"])
        self.refused(self.catalog.batchGet(packageName=GARDEN, productIds=["spade", "none"]), 404, "notFound")
        self.refused(self.catalog.batchGet(packageName=GARDEN, productIds=[]), 400, "required", "productIds")

    def test_a_product_is_created_activated_sold_changed_and_deleted(self):
        body = product("rake", "A rake", state=None)
        self.refused(self.patch(body, updateMask="listings"), 404, "notFound")
        created = self.ok(self.patch(body, updateMask="listings", allowMissing=True))
        # A new purchase option is a draft, whatever the request says.
        self.assertEqual(created["purchaseOptions"][0]["state"], "DRAFT")
        self.assertEqual(created["regionsVersion"], {"version": self.VERSION})
        sale = {"packageName": GARDEN, "productId": "rake", "account": "quin"}
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "productNotFound")
        (active,) = self.ok(self.set_state("rake", "activate"))["oneTimeProducts"]
        self.assertEqual(active["purchaseOptions"][0]["state"], "ACTIVE")
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["state"], "purchased")
        body["listings"][0]["title"] = "A big rake"
        body["purchaseOptions"] = []
        changed = self.ok(self.patch(body, updateMask="listings"))
        self.assertEqual(changed["listings"][0]["title"], "A big rake")
        self.assertEqual(changed["purchaseOptions"], active["purchaseOptions"])
        (inactive,) = self.ok(self.set_state("rake", "deactivate", path="-"))["oneTimeProducts"]
        self.assertEqual(inactive["purchaseOptions"][0]["state"], "INACTIVE")
        self.refused(self.set_state("rake", "activate", option="rent"), 404, "notFound")
        self.refused(self.set_state("rake", "activate", path="seeds"), 400, "invalidValue", "requests.productId")
        self.ok(self.catalog.delete(packageName=GARDEN, productId="rake"))
        self.refused(self.catalog.delete(packageName=GARDEN, productId="rake"), 404, "notFound")

    def test_products_are_written_in_batches_and_listed_in_pages(self):
        names = [f"pot.{number:02}" for number in range(60)]

        def update(product_id, **more):
            return {
                "oneTimeProduct": product(product_id, product_id, state=None), "updateMask": "*", "allowMissing": True,
                "regionsVersion": {"version": self.VERSION}, **more}

        def batch(requests):
            return self.catalog.batchUpdate(packageName=GARDEN, body={"requests": requests})

        answer = self.ok(batch([update(name) for name in names]))
        self.assertEqual([found["productId"] for found in answer["oneTimeProducts"]], names)
        # One request that is refused undoes all.
        self.refused(batch([update("hose"), update("none", allowMissing=False)]), 404, "notFound")
        self.refused(self.catalog.get(packageName=GARDEN, productId="hose"), 404, "notFound")
        self.refused(batch([update("hose"), update("hose")]), 400, "invalidValue", "requests")
        self.refused(batch([]), 400, "required", "requests")
        found, request = [], self.catalog.list(packageName=GARDEN)
        while request is not None:
            page = self.ok(request)
            self.assertLessEqual(len(page["oneTimeProducts"]), 50)
            found += [found["productId"] for found in page["oneTimeProducts"]]
            request = self.catalog.list_next(request, page)
        self.assertEqual(found, sorted(found))
        self.assertTrue(set(names + ["seeds", "spade"]) <= set(found))
        everything = self.ok(self.catalog.list(packageName=GARDEN, pageSize=5000))
        self.assertNotIn("nextPageToken", everything)
        self.refused(self.catalog.list(packageName=GARDEN, pageSize=-1), 400, "invalidValue", "pageSize")
        places = [{"packageName": GARDEN, "productId": name} for name in names]
        self.ok(self.catalog.batchDelete(packageName=GARDEN, body={"requests": places}))
        self.refused(
            self.catalog.batchDelete(packageName=GARDEN, body={"requests": places[:1]}), 404, "notFound")

    def test_invalid_products_are_refused(self):
        def changed(change, product_id="vase"):
            body = product(product_id, "A vase", state=None)
            change(body)
            return body

        prefix = "oneTimeProduct"
        option = f"{prefix}.purchaseOptions"
        region = f"{option}.regionalPricingAndAvailabilityConfigs"

        def option_of(body):
            return body["purchaseOptions"][0]

        def region_of(body):
            return option_of(body)["regionalPricingAndAvailabilityConfigs"][0]

        cases = [
            (lambda body: body.update(listings=[]), "required", f"{prefix}.listings"),
            (lambda body: body["listings"].append(body["listings"][0]), "invalidValue", f"{prefix}.listings"),
            (lambda body: body["listings"][0].update(title="x" * 56), "invalidValue", f"{prefix}.listings.title"),
            (lambda body: body["listings"][0].update(description="x" * 201), "invalidValue",
             f"{prefix}.listings.description"),
            (lambda body: body.update(packageName=SHED), "invalidValue", f"{prefix}.packageName"),
            (lambda body: body.update(purchaseOptions=[]), "required", option),
            (lambda body: body["purchaseOptions"].append(option_of(body)), "invalidValue", option),
            (lambda body: option_of(body).update(purchaseOptionId="Buy!"), "invalidValue",
             f"{option}.purchaseOptionId"),
            (lambda body: option_of(body).update(rentOption={"rentalPeriod": "P1D"}), "invalidValue", option),
            (lambda body: option_of(body).update(offerTags=[{"tag": "x"}] * 21), "invalidValue", f"{option}.offerTags"),
            (lambda body: region_of(body).update(regionCode="USA"), "invalidValue", f"{region}.regionCode"),
            (lambda body: region_of(body).update(availability="SOON"), "invalidValue", f"{region}.availability"),
            (lambda body: region_of(body).pop("price"), "required", f"{region}.price"),
            (lambda body: region_of(body).update(price=price("USD", -1)), "invalidValue", f"{region}.price"),
            (lambda body: body.update(taxAndComplianceSettings={"regionalTaxConfigs": [{}]}), "required",
             f"{prefix}.taxAndComplianceSettings.regionalTaxConfigs.regionCode"),
            (lambda body: option_of(body).update(taxAndComplianceSettings={"withdrawalRightType": "GOODS"}), "invalidValue",
             f"{option}.taxAndComplianceSettings.withdrawalRightType"),
        ]
        for change, reason, location in cases:
            with self.subTest(location):
                self.refused(self.patch(changed(change), allowMissing=True), 400, reason, location)
        for product_id in ("Vase", "_vase", "vase-1"):
            self.refused(
                self.patch(changed(lambda _: None, product_id), allowMissing=True), 400, "invalidValue",
                f"{prefix}.productId")
        self.refused(
            self.patch(product("seeds", "Seeds"), updateMask="listings.title"), 400, "invalidValue", "updateMask")
        self.refused(self.patch(product("seeds", "Seeds")), 400, "required", "updateMask")
        self.refused(
            self.patch(product("seeds", "Seeds"), regionsVersion_version="", updateMask="*"), 400, "required",
            "regionsVersion.version")
        self.refused(self.catalog.list(packageName=NOWHERE), 404, "applicationNotFound")


class AccessTests(PlayTests):
    def request(self, credentials):
        return self.play.client(credentials).monetization().onetimeproducts().list(packageName=GARDEN)

    def refresh_error(self, account=None, **claims):
        """The refusal of an assertion, made with google-auth's own signer."""
        account = account or self.play.account()
        signer = crypt.RSASigner.from_service_account_info(account)
        now = int(time.time())
        payload = {
            "iss": account["client_email"], "scope": SCOPE, "aud": "https://oauth2.googleapis.com/token", "iat": now,
            "exp": now + 3600, **claims}

        class Asserting(service_account.Credentials):
            def _make_authorization_grant_assertion(self):
                return jwt.encode(signer, payload)

        credentials = Asserting.from_service_account_info(account, scopes=[SCOPE])
        with self.assertRaises(exceptions.RefreshError) as caught:
            self.request(credentials).execute()
        return caught.exception.args[1]

    def test_a_key_file_of_the_command_opens_the_api(self):
        file = self.play.data / "play-service-account.json"
        made = self.play.run("keys", "--out", str(file))
        self.assertEqual(made["keyFile"], str(file))
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        credentials = service_account.Credentials.from_service_account_file(str(file), scopes=[SCOPE])
        self.ok(self.request(credentials))
        self.assertTrue(credentials.token.startswith("ya29."))
        left = credentials.expiry - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        self.assertAlmostEqual(left.total_seconds(), 3599, delta=60)

    def test_assertions_are_checked(self):
        now = int(time.time())
        stranger = {**self.play.account(), "private_key": self.play.account()["private_key"]}
        self.assertEqual(self.refresh_error(stranger)["error_description"], "Invalid JWT Signature.")
        self.assertEqual(
            self.refresh_error(iss="nobody@example.com")["error_description"], "Invalid grant: account not found")
        for claims in (
            {"exp": now + 7200}, {"iat": now + 3600, "exp": now + 7000}, {"iat": now - 7200, "exp": now - 3600},
            {"exp": None},
        ):
            self.assertIn("short-lived", self.refresh_error(**claims)["error_description"])
        self.assertEqual(
            self.refresh_error(aud="https://example.com/token")["error_description"],
            "Invalid JWT: Failed audience check.")
        self.assertEqual(self.refresh_error(scope="")["error"], "invalid_scope")

    def test_a_token_without_the_scope_is_refused(self):
        credentials = self.play.credentials(scopes=["https://www.googleapis.com/auth/pubsub"])
        self.refused(self.request(credentials), 403, "insufficientPermissions")

    def test_an_account_of_one_app_is_refused_for_others(self):
        credentials = self.play.credentials(self.play.account([SHED]))
        self.refused(self.request(credentials), 401, "permissionDenied")
        client = self.play.client(credentials)
        self.ok(client.monetization().onetimeproducts().list(packageName=SHED))
        self.assertEqual(self.play.sandbox("POST", "service-accounts", {"packageNames": [NOWHERE]})["code"], "appUnknown")

    def test_an_unknown_token_is_refreshed(self):
        credentials = self.play.credentials()
        client = self.play.client(credentials)
        self.ok(client.monetization().onetimeproducts().list(packageName=GARDEN))
        credentials.token = "ya29.unknown"
        self.ok(client.monetization().onetimeproducts().list(packageName=GARDEN))
        self.assertNotEqual(credentials.token, "ya29.unknown")

    def test_other_paths_are_refused(self):
        self.refused(self.client.reviews().list(packageName=GARDEN), 404, "notFound")

    def test_the_sandbox_needs_its_key(self):
        key, self.play.key = self.play.key, "another"
        try:
            self.assertEqual(self.play.sandbox("GET", "time")["code"], "unauthenticated")
        finally:
            self.play.key = key


if __name__ == "__main__":
    unittest.main()
