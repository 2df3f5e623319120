"""Google's own client, while subscriptions of a running `till play` change: plans, prices, pending payments, installments; and faults."""

import http.server
import json
import queue
import threading

from googleapiclient.errors import HttpError

from play import GARDEN, base_plan, price
from test_google_play import PlayTests, SubscribingTests


def magazine(product_id, units):
    """A subscription of its own for a test of prices, whose subscribers are the test's."""
    return {
        "packageName": GARDEN, "productId": product_id, "listings": [{"languageCode": "en-US", "title": "Magazine"}],
        "basePlans": [base_plan("monthly", "P1M", units)]}


class ChangingTests(SubscribingTests):
    def replacing(self, old, mode=None, product_id="vip", **more):
        """Buys a subscription in the place of another one, without an acknowledgement."""
        if mode:
            more["replacementMode"] = mode
        return self.play.subscribe(
            old["account"], productId=product_id, replaces=old["number"], **{"purchaseOptionId": "monthly", **more})

    def refused_change(self, old, mode=None, **more):
        order = {"packageName": GARDEN, "productId": "vip", "account": old["account"], "replaces": old["number"], **more}
        if mode:
            order["replacementMode"] = mode
        answer = self.play.sandbox("POST", "subscriptions", order)
        self.assertEqual(answer["code"], "invalidAction", answer)
        return answer["detail"]

    def types(self, bought):
        """The types of notifications about a token, the oldest first."""
        found = [
            sent["notification"].get("subscriptionNotification", {})
            for sent in reversed(self.play.sandbox("GET", "notifications")["notifications"])]
        return [each["notificationType"] for each in found if each.get("purchaseToken") == bought["purchaseToken"]]

    def order(self, order_id):
        return self.ok(self.orders.get(packageName=GARDEN, orderId=order_id))


class PlanTests(ChangingTests):
    def test_a_plan_is_replaced_in_each_mode(self):
        for mode, total in (
            ("WITH_TIME_PRORATION", {"currencyCode": "USD"}), ("CHARGE_PRORATED_PRICE", None),
            ("WITHOUT_PRORATION", {"currencyCode": "USD"}), ("CHARGE_FULL_PRICE", price("USD", 20)),
        ):
            with self.subTest(mode):
                old = self.acknowledged(mode.lower())
                self.advance("10d")
                before = self.read(old)
                new = self.replacing(old, mode)
                purchase = self.read(new)
                (item,) = purchase["lineItems"]
                self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_ACTIVE")
                self.assertEqual(purchase["linkedPurchaseToken"], old["purchaseToken"])
                self.assertEqual(purchase["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_PENDING")
                self.assertEqual(
                    item["itemReplacement"],
                    {"productId": "premium", "basePlanId": "monthly", "replacementMode": mode})
                self.assertEqual(item["productId"], "vip")
                self.assertEqual(item["autoRenewingPlan"]["recurringPrice"], price("USD", 20))
                merged = {"originalOfferPhaseType": "BASE"} if mode == "CHARGE_FULL_PRICE" else {}
                self.assertEqual(item["offerPhase"], {"prorationPeriod": merged})
                same = item["expiryTime"] == before["lineItems"][0]["expiryTime"]
                self.assertEqual(same, mode in ("CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION"))
                order = self.order(item["latestSuccessfulOrderId"])
                details = order["lineItems"][0]["subscriptionDetails"]["offerPhaseDetails"]
                self.assertIn("prorationPeriodDetails", details)
                if total:
                    self.assertEqual(order["total"], total)
                else:
                    # About two thirds of the month are left, and of the difference of 10 dollars.
                    self.assertIn(int(order["total"]["units"]), range(5, 9))
                ended = self.read(old)
                self.assertEqual(ended["subscriptionState"], "SUBSCRIPTION_STATE_EXPIRED")
                self.assertEqual(ended["canceledStateContext"], {"replacementCancellation": {}})
                self.assertEqual((self.types(old), self.types(new)), ([4, 13], [4]))
                self.ok(self.acknowledge_subscription(new))
                self.advance("60d")
                (item,) = self.read(new)["lineItems"]
                self.assertEqual(item["offerPhase"], {"basePrice": {}})
                # Google names it for 60 days.
                self.assertNotIn("itemReplacement", item)
                self.assertEqual(self.order(item["latestSuccessfulOrderId"])["total"], price("USD", 20))

    def test_a_deferred_plan_has_two_items_until_the_renewal(self):
        old = self.acknowledged("defne")
        new = self.replacing(old, "DEFERRED")
        purchase = self.read(new)
        first, second = purchase["lineItems"]
        self.assertEqual(purchase["linkedPurchaseToken"], old["purchaseToken"])
        self.assertEqual(first["productId"], "premium")
        self.assertEqual(first["deferredItemReplacement"], {"productId": "vip"})
        self.assertEqual(first["expiryTime"], old["expiryTime"])
        self.assertEqual(first["latestSuccessfulOrderId"], old["orderId"])
        self.assertEqual(second["productId"], "vip")
        self.assertNotIn("expiryTime", second)
        self.assertNotIn("latestSuccessfulOrderId", second)
        self.assertEqual(second["itemReplacement"]["replacementMode"], "DEFERRED")
        self.assertEqual(self.state(old), "EXPIRED")
        self.ok(self.acknowledge_subscription(new))
        self.advance("1mo")
        (item,) = self.read(new)["lineItems"]
        self.assertEqual(item["productId"], "vip")
        order = self.order(item["latestSuccessfulOrderId"])
        self.assertEqual((order["purchaseToken"], order["total"]), (new["purchaseToken"], price("USD", 20)))
        self.assertEqual((self.types(old), self.types(new)), ([4, 13], [4, 2]))

    def test_a_base_plan_changes_inside_a_subscription(self):
        old = self.acknowledged("bao", productId="vip", purchaseOptionId="monthly")
        self.refused_change(old, "WITH_TIME_PRORATION", purchaseOptionId="yearly")
        self.refused_change(old, "DEFERRED", purchaseOptionId="yearly")
        new = self.replacing(old, purchaseOptionId="yearly")
        (item,) = self.read(new)["lineItems"]
        self.assertEqual(item["offerDetails"]["basePlanId"], "yearly")
        # The plan's prorationMode is its default: charge on the next billing date.
        self.assertEqual(item["itemReplacement"]["replacementMode"], "WITHOUT_PRORATION")
        self.assertEqual(item["expiryTime"], old["expiryTime"])

    def test_changes_that_google_refuses(self):
        bought = self.play.subscribe("carla")
        self.assertIn("not acknowledged", self.refused_change(bought))
        self.ok(self.acknowledge_subscription(bought))
        self.refused_change(bought, "KEEP_EXISTING")
        self.refused_change(bought, "WITHOUT_PRORATION", purchaseOptionId="prepaid")
        self.refused_change(bought, account="someone else")
        dear = self.acknowledged("carl", productId="vip")
        self.refused_change(dear, "CHARGE_PRORATED_PRICE", productId="premium")
        installments = self.acknowledged("cleo", productId="workshop", purchaseOptionId="installments")
        self.refused_change(installments, "CHARGE_FULL_PRICE", productId="workshop", purchaseOptionId="monthly")
        self.refused_change(
            self.acknowledged("cyril", obfuscatedAccountId="c1"), obfuscatedAccountId="c2")

    def test_a_change_to_a_prepaid_plan_turns_the_value_into_time(self):
        old = self.acknowledged("pia")
        new = self.replacing(old, purchaseOptionId="prepaid")
        (item,) = self.read(new)["lineItems"]
        self.assertEqual(item["itemReplacement"]["replacementMode"], "CHARGE_FULL_PRICE")
        self.assertIn("prepaidPlan", item)
        self.assertGreater(item["expiryTime"], old["expiryTime"])

    def test_a_prepaid_plan_is_topped_up(self):
        old = self.acknowledged("tom", purchaseOptionId="prepaid")
        self.advance("10d")
        new = self.play.subscribe("tom", purchaseOptionId="prepaid")
        purchase = self.read(new)
        self.assertEqual(purchase["linkedPurchaseToken"], old["purchaseToken"])
        self.assertNotIn("itemReplacement", purchase["lineItems"][0])
        self.assertEqual((self.types(old), self.types(new)), ([4, 13], [4]))
        self.ok(self.acknowledge_subscription(new))
        self.advance("1mo")
        self.assertEqual(self.state(new), "ACTIVE")
        # A top-up that is not acknowledged takes the rest of the time, too.
        last = self.play.subscribe("tom", purchaseOptionId="prepaid")
        self.advance("3d")
        self.assertEqual(self.state(last), "EXPIRED")

    def test_a_customer_resubscribes_in_the_play(self):
        expired = self.acknowledged("rosa", obfuscatedAccountId="r1")
        self.assertEqual(self.act(expired, "resubscribe")["code"], "invalidAction")
        self.act(expired, "cancel")
        self.advance("1mo")
        new = self.act(expired, "resubscribe")
        purchase = self.read(new)
        self.assertNotIn("linkedPurchaseToken", purchase)
        self.assertNotIn("externalAccountIdentifiers", purchase)
        self.assertEqual(
            purchase["outOfAppPurchaseContext"],
            {"expiredExternalAccountIdentifiers": {"obfuscatedExternalAccountId": "r1"},
             "expiredPurchaseToken": expired["purchaseToken"]})
        self.ok(self.acknowledge_subscription(new, body={"externalAccountIds": {"obfuscatedAccountId": "r1"}}))
        purchase = self.read(new)
        self.assertNotIn("outOfAppPurchaseContext", purchase)
        self.assertEqual(purchase["externalAccountIdentifiers"], {"obfuscatedExternalAccountId": "r1"})

    def test_a_customer_on_hold_buys_again(self):
        old = self.acknowledged("holly")
        self.act(old, "declinePayments")
        self.advance("1mo")
        context = self.read(old)["inGracePeriodStateContext"]
        self.assertEqual(context, {"renewalDeclined": {"pendingOrderId": old["orderId"] + "..0"}})
        self.advance("3d")
        self.assertEqual(self.read(old)["onHoldStateContext"], context)
        new = self.play.subscribe("holly")
        self.assertEqual(self.read(new)["linkedPurchaseToken"], old["purchaseToken"])
        self.assertEqual((self.state(old), self.state(new)), ("EXPIRED", "ACTIVE"))


class PendingTests(ChangingTests):
    def test_a_pending_subscription_completes(self):
        order = {"packageName": GARDEN, "productId": "premium", "account": "pablo", "isPending": True}
        self.assertEqual(self.play.sandbox("POST", "subscriptions", order)["code"], "invalidAction")
        pending = self.play.subscribe("pablo", purchaseOptionId="prepaid", isPending=True)
        purchase = self.read(pending)
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_PENDING")
        self.assertNotIn("startTime", purchase)
        self.assertNotIn("expiryTime", purchase["lineItems"][0])
        data = json.loads(pending["signedPurchase"]["purchase"])
        self.assertEqual(data["purchaseState"], 4)
        self.assertNotIn("orderId", data)
        self.refused(self.acknowledge_subscription(pending), 400, "invalidPurchaseState", "token")
        self.assertEqual(self.types(pending), [])
        self.advance("4d")
        self.act(pending, "complete")
        self.assertEqual((self.state(pending), self.types(pending)), ("ACTIVE", [4]))
        self.ok(self.acknowledge_subscription(pending))

    def test_a_pending_top_up_is_canceled(self):
        old = self.acknowledged("petra", purchaseOptionId="prepaid")
        pending = self.play.subscribe("petra", purchaseOptionId="prepaid", isPending=True)
        self.act(pending, "cancel")
        purchase = self.read(pending)
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED")
        self.assertEqual(purchase["linkedPurchaseToken"], old["purchaseToken"])
        self.assertEqual((self.types(pending), self.state(old)), ([20], "ACTIVE"))


class InstallmentTests(ChangingTests):
    def details(self, bought):
        return self.read(bought)["lineItems"][0]["autoRenewingPlan"]["installmentDetails"]

    def test_a_commitment_is_paid_before_the_subscription_ends(self):
        bought = self.acknowledged("ines", productId="workshop", purchaseOptionId="installments")
        self.assertEqual(
            self.details(bought), {"initialCommittedPaymentsCount": 3, "remainingCommittedPaymentsCount": 2})
        self.ok(self.subscriptions.cancel(
            packageName=GARDEN, token=bought["purchaseToken"],
            body={"cancellationContext": {"cancellationType": "USER_REQUESTED_STOP_RENEWALS"}}))
        self.assertEqual(self.details(bought)["pendingCancellation"], {})
        self.assertEqual(self.state(bought), "ACTIVE")
        self.advance("2mo")
        self.assertEqual(self.details(bought)["remainingCommittedPaymentsCount"], 0)
        self.assertEqual(self.state(bought), "ACTIVE")
        self.advance("1mo")
        purchase = self.read(bought)
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_EXPIRED")
        self.assertIn("userInitiatedCancellation", purchase["canceledStateContext"])
        self.assertEqual(self.types(bought), [4, 18, 2, 2, 3, 13])

    def test_a_developer_stops_the_payments_of_a_commitment(self):
        bought = self.acknowledged("igor", productId="workshop", purchaseOptionId="installments")
        self.ok(self.subscriptions.cancel(
            packageName=GARDEN, token=bought["purchaseToken"],
            body={"cancellationContext": {"cancellationType": "DEVELOPER_REQUESTED_STOP_PAYMENTS"}}))
        self.assertEqual(self.state(bought), "CANCELED")


class AddOnTests(ChangingTests):
    def add_ons(self, *products):
        return [{"productId": each, "basePlanId": "monthly"} for each in products]

    def test_an_add_on_is_bought_and_renews_with_the_base_item(self):
        bought = self.acknowledged("ayla", addOns=self.add_ons("vip"))
        self.assertEqual([each["productId"] for each in bought["addOns"]], ["vip"])
        self.assertEqual(json.loads(bought["signedPurchase"]["purchase"])["productIds"], ["premium", "vip"])
        self.advance("1mo")
        base, add_on = self.read(bought)["lineItems"]
        self.assertEqual((base["productId"], add_on["productId"]), ("premium", "vip"))
        self.assertEqual(base["expiryTime"], add_on["expiryTime"])
        order = self.order(base["latestSuccessfulOrderId"])
        self.assertEqual(order["orderId"], add_on["latestSuccessfulOrderId"])
        self.assertEqual([each["total"] for each in order["lineItems"]], [price("USD", 10), price("USD", 20)])
        self.assertEqual(order["total"], price("USD", 30))
        self.assertEqual(self.types(bought), [4, 2])
        for sent in self.play.sandbox("GET", "notifications")["notifications"]:
            about = sent["notification"].get("subscriptionNotification", {})
            if about.get("purchaseToken") == bought["purchaseToken"]:
                self.assertNotIn("subscriptionId", about)

    def test_an_add_on_is_added_in_the_middle_of_a_period_and_removed_at_its_end(self):
        alone = self.acknowledged("aino")
        self.advance("10d")
        both = self.replacing(alone, product_id="premium", addOns=self.add_ons("vip"))
        base, add_on = self.read(both)["lineItems"]
        self.assertEqual(base["itemReplacement"]["replacementMode"], "KEEP_EXISTING")
        self.assertEqual((base["expiryTime"], add_on["expiryTime"]), (alone["expiryTime"], alone["expiryTime"]))
        self.assertEqual(base["latestSuccessfulOrderId"], alone["orderId"])
        self.assertEqual(add_on["offerPhase"], {"prorationPeriod": {}})
        (line,) = self.order(add_on["latestSuccessfulOrderId"])["lineItems"]
        self.assertEqual(line["productId"], "vip")
        self.assertIn(int(line["total"]["units"]), range(10, 16))
        self.ok(self.acknowledge_subscription(both))
        fewer = self.replacing(both, "KEEP_EXISTING", product_id="premium")
        base, removed = self.read(fewer)["lineItems"]
        self.assertEqual(removed["deferredItemRemoval"], {})
        self.assertNotIn("deferredItemRemoval", base)
        self.assertEqual(removed["autoRenewingPlan"]["autoRenewEnabled"], False)
        self.ok(self.acknowledge_subscription(fewer))
        self.advance("1mo")
        (base,) = self.read(fewer)["lineItems"]
        self.assertEqual(base["productId"], "premium")
        self.assertEqual(self.types(fewer), [4, 17, 2])

    def test_an_item_is_revoked_alone(self):
        both = self.acknowledged("abel", addOns=self.add_ons("vip"))
        body = {"revocationContext": {"itemBasedRefund": {"productId": "vip"}}}
        self.ok(self.subscriptions.revoke(packageName=GARDEN, token=both["purchaseToken"], body=body))
        (base,) = self.read(both)["lineItems"]
        self.assertEqual(base["productId"], "premium")
        order = self.order(both["orderId"])
        self.assertEqual(order["state"], "PARTIALLY_REFUNDED")
        (refund,) = order["orderHistory"]["partialRefundEvents"]
        self.assertEqual(refund["refundDetails"]["total"], price("USD", 20))
        self.assertEqual((self.state(both), self.types(both)), ("ACTIVE", [4, 17]))
        with self.assertRaises(HttpError):
            self.ok(self.subscriptions.revoke(packageName=GARDEN, token=both["purchaseToken"], body=body))

    def test_what_is_not_sold_together_is_refused(self):
        order = {"packageName": GARDEN, "productId": "premium", "account": "ada"}
        for add_ons in ([{"productId": "vip", "basePlanId": "yearly"}], self.add_ons("premium")):
            answer = self.play.sandbox("POST", "subscriptions", {**order, "addOns": add_ons})
            self.assertEqual(answer["code"], "invalidAction", answer)


class StepUpTests(ChangingTests):
    """The consent that South Korea requires before a free trial ends."""

    def subscriber(self, account, **more):
        korean = magazine("korean", 10)
        (plan,) = korean["basePlans"]
        plan["regionalConfigs"] = [
            {"regionCode": "KR", "newSubscriberAvailability": True, "price": price("KRW", 9900)}]
        week = {
            "packageName": GARDEN, "productId": "korean", "basePlanId": "monthly", "offerId": "week", "state": "ACTIVE",
            "phases": [{"duration": "P1W", "regionalConfigs": [{"regionCode": "KR", "free": {}}]}]}
        self.play.sell(korean, offers=[week])
        return self.acknowledged(account, productId="korean", offerId="week", **more)

    def consent(self, bought):
        (item,) = self.read(bought)["lineItems"]
        details = item["autoRenewingPlan"]["priceStepUpConsentDetails"]
        self.assertEqual(details["newPrice"], price("KRW", 9900))
        return details

    def test_a_customer_consents_in_the_trial(self):
        bought = self.subscriber("kim")
        details = self.consent(bought)
        self.assertEqual((details["state"], details["consentDeadlineTime"]), ("PENDING", bought["expiryTime"]))
        self.act(bought, "acceptStepUp")
        self.assertEqual(self.consent(bought)["state"], "CONFIRMED")
        self.assertEqual(self.act(bought, "acceptStepUp")["code"], "invalidAction")
        self.advance("8d")
        self.assertEqual(self.consent(bought)["state"], "COMPLETED")
        self.assertEqual(self.types(bought), [4, 22, 22, 2])

    def test_a_customer_consents_when_buying(self):
        bought = self.subscriber("lee", consentsToStepUp=True)
        self.assertEqual(self.consent(bought)["state"], "CONFIRMED")

    def test_without_a_consent_the_subscription_ends(self):
        bought = self.subscriber("park")
        self.advance("8d")
        self.assertEqual(self.state(bought), "EXPIRED")
        self.assertEqual(self.types(bought), [4, 22, 3, 13])


class PriceTests(ChangingTests):
    def migrate(self, product_id, kind=None, **more):
        migration = {
            "regionCode": "US", "oldestAllowedPriceVersionTime": self.play.sandbox("GET", "time")["now"],
            **({"priceIncreaseType": f"PRICE_INCREASE_TYPE_{kind}"} if kind else {}), **more}
        return self.client.monetization().subscriptions().basePlans().migratePrices(
            packageName=GARDEN, productId=product_id, basePlanId="monthly",
            body={"regionsVersion": {"version": "2025/03"}, "regionalPriceMigrations": [migration]})

    def subscriber(self, product_id, account, units, kind=None):
        """A subscriber at 10 dollars, whose price changes."""
        self.play.sell(magazine(product_id, 10))
        bought = self.acknowledged(account, productId=product_id)
        self.play.sell(magazine(product_id, units))
        self.advance("1s")
        self.ok(self.migrate(product_id, kind))
        return bought

    def plan(self, bought):
        return self.read(bought)["lineItems"][0]["autoRenewingPlan"]

    def change(self, bought):
        details = self.plan(bought)["priceChangeDetails"]
        return details["priceChangeMode"], details["priceChangeState"], "expectedNewPriceChargeTime" in details

    def test_an_increase_is_accepted(self):
        bought = self.subscriber("weekly.a", "ann", 12)
        self.assertEqual(self.change(bought), ("PRICE_INCREASE", "OUTSTANDING", True))
        self.assertEqual(self.plan(bought)["priceChangeDetails"]["newPrice"], price("USD", 12))
        self.act(bought, "acceptPrice")
        self.assertEqual(self.change(bought), ("PRICE_INCREASE", "CONFIRMED", True))
        self.assertEqual(self.act(bought, "acceptPrice")["code"], "invalidAction")
        # The first renewal comes within the 37 days.
        self.advance("1mo")
        self.assertEqual(self.plan(bought)["recurringPrice"], price("USD", 10))
        self.advance("1mo")
        self.assertEqual(self.change(bought), ("PRICE_INCREASE", "APPLIED", False))
        self.assertEqual(self.plan(bought)["recurringPrice"], price("USD", 12))
        order = self.read(bought)["lineItems"][0]["latestSuccessfulOrderId"]
        self.assertEqual(self.order(order)["total"], price("USD", 12))
        self.assertEqual(self.types(bought), [4, 19, 19, 8, 2, 2, 19])

    def test_an_unanswered_increase_ends_the_subscription(self):
        bought = self.subscriber("weekly.b", "ben", 12, "OPT_IN")
        self.advance("1mo")
        self.assertEqual(self.state(bought), "ACTIVE")
        self.advance("1mo")
        self.assertEqual(self.state(bought), "EXPIRED")
        self.assertEqual(self.types(bought), [4, 19, 2, 3, 13])

    def test_an_opt_out_increase_needs_no_answer(self):
        bought = self.subscriber("weekly.c", "cem", 12, "OPT_OUT")
        self.assertEqual(self.change(bought), ("OPT_OUT_PRICE_INCREASE", "CONFIRMED", True))
        self.advance("2mo")
        self.assertEqual(self.change(bought), ("OPT_OUT_PRICE_INCREASE", "APPLIED", False))

    def test_a_decrease_comes_with_the_next_renewal(self):
        bought = self.subscriber("weekly.d", "dan", 8)
        self.assertEqual(self.change(bought), ("PRICE_DECREASE", "CONFIRMED", True))
        self.advance("1mo")
        self.assertEqual(self.plan(bought)["recurringPrice"], price("USD", 8))
        self.assertEqual(self.types(bought), [4, 19, 2, 19])

    def test_the_earlier_price_ends_a_change(self):
        bought = self.subscriber("weekly.e", "eva", 12)
        self.play.sell(magazine("weekly.e", 10))
        self.ok(self.migrate("weekly.e"))
        self.assertEqual(self.change(bought), ("PRICE_INCREASE", "CANCELED", False))
        self.advance("2mo")
        self.assertEqual(self.plan(bought)["recurringPrice"], price("USD", 10))

    def test_subscribers_of_a_newer_price_are_left_alone(self):
        self.play.sell(magazine("weekly.f", 10))
        start = self.play.sandbox("GET", "time")["now"]
        self.advance("1s")
        bought = self.acknowledged("fay", productId="weekly.f")
        self.play.sell(magazine("weekly.f", 12))
        self.ok(self.migrate("weekly.f", oldestAllowedPriceVersionTime=start))
        self.assertNotIn("priceChangeDetails", self.plan(bought))
        self.assertEqual(self.types(bought), [4])

    def test_migrations_come_in_batches_and_are_checked(self):
        self.play.sell(magazine("weekly.g", 10))
        bought = self.acknowledged("gus", productId="weekly.g")
        self.play.sell(magazine("weekly.g", 12))
        self.advance("1s")
        plans = self.client.monetization().subscriptions().basePlans()

        def request(**more):
            return {
                "packageName": GARDEN, "productId": "weekly.g", "basePlanId": "monthly",
                "regionsVersion": {"version": "2025/03"}, "regionalPriceMigrations": [
                    {"regionCode": "US", "oldestAllowedPriceVersionTime": self.play.sandbox("GET", "time")["now"]}], **more}

        def batch(*requests):
            return plans.batchMigratePrices(packageName=GARDEN, productId="weekly.g", body={"requests": list(requests)})

        self.refused(batch(), 400, "required", "requests")
        self.refused(batch(request(), request()), 400, "invalidValue", "requests")
        self.refused(batch(request(), request(basePlanId="none")), 404, "notFound")
        # One request that is refused undoes all.
        self.assertNotIn("priceChangeDetails", self.plan(bought))
        self.assertEqual(self.ok(batch(request())), {"responses": [{}]})
        self.assertEqual(self.change(bought), ("PRICE_INCREASE", "OUTSTANDING", True))
        field = "regionalPriceMigrations"
        self.refused(self.migrate("none"), 404, "notFound")
        self.refused(self.migrate("weekly.g", regionCode="KR"), 400, "invalidValue", f"{field}.regionCode")
        self.refused(self.migrate("weekly.g", "SOON"), 400, "invalidValue", f"{field}.priceIncreaseType")
        self.refused(
            self.migrate("weekly.g", oldestAllowedPriceVersionTime=None), 400, "required",
            f"{field}.oldestAllowedPriceVersionTime")


class CallFaultTests(ChangingTests):
    def tearDown(self):
        self.assertEqual(self.play.sandbox("DELETE", "faults"), {"calls": [], "notifications": []})

    def fail(self, reason, **more):
        answer = self.play.sandbox("POST", "faults", {"reason": reason, **more})
        self.assertIn("calls", answer, answer)
        return answer

    def get(self, bought):
        return self.subscriptions.get(packageName=GARDEN, token=bought["purchaseToken"])

    def test_the_next_calls_of_a_method_fail(self):
        bought = self.acknowledged("finn")
        self.fail("backendError", calls=2, status=503, method="purchases.subscriptionsv2.get")
        self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
        for _ in range(2):
            self.refused(self.get(bought), 503, "backendError")
        self.ok(self.get(bought))
        # The client repeats such answers if it is asked to.
        self.fail("rateLimitExceeded")
        self.get(bought).execute(num_retries=1)

    def test_the_calls_about_a_token_fail(self):
        failing, other = self.acknowledged("gita"), self.acknowledged("hugo")
        self.play.run("fail", "purchaseTokenNoLongerValid", "--token", failing["purchaseToken"])
        self.ok(self.get(other))
        self.refused(self.get(failing), 410, "purchaseTokenNoLongerValid", "token")
        self.ok(self.get(failing))

    def test_an_answer_is_lost_after_the_work(self):
        bought = self.play.subscribe("ivy")
        self.play.run("fail", "concurrentUpdate", "--after", "--method", "purchases.subscriptions.acknowledge")
        self.refused(self.acknowledge_subscription(bought), 409, "concurrentUpdate")
        self.assertEqual(self.read(bought)["acknowledgementState"], "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")

    def test_each_documented_reason_has_its_status(self):
        bought = self.acknowledged("jo")
        for reason, status in (
            ("invalid", 400), ("invalidPurchaseState", 400), ("purchaseTokenDoesNotMatchProductId", 400),
            ("purchaseTokenDoesNotMatchPackageName", 400), ("projectNotLinked", 403),
            ("userInsufficientPermission", 403), ("insufficientPermissions", 403), ("purchaseTokenNotFound", 404),
            ("applicationNotFound", 404), ("notFound", 404), ("concurrentUpdate", 409),
            ("subscriptionPurchaseNoLongerAvailable", 410), ("rateLimitExceeded", 429), ("quotaExceeded", 429),
            ("dailyLimitExceeded", 429), ("backendError", 500), ("internalError", 500),
        ):
            with self.subTest(reason):
                self.fail(reason)
                with self.assertRaises(HttpError) as caught:
                    self.get(bought).execute()
                self.assertEqual(caught.exception.resp.status, status)
                self.assertEqual(json.loads(caught.exception.content)["error"]["errors"][0]["reason"], reason)
        # The client gets another token, and asks again.
        for reason in ("permissionDenied", "authError"):
            self.fail(reason)
            self.ok(self.get(bought))

    def test_unknown_faults_are_refused(self):
        for body in ({"reason": "none"}, {"reason": "backendError", "method": "none"},
                     {"reason": "backendError", "calls": 0}, {"reason": "backendError", "status": 200}):
            self.assertEqual(self.play.sandbox("POST", "faults", body)["code"], "invalidAction")


class NotificationFaultTests(PlayTests):
    """Notifications that arrive twice, late, in another order, or never."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.received = received = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put(json.loads(body)["message"]["messageId"])
                self.send_response(204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.play.sandbox(
            "PUT", "notifications/push", {"endpoint": f"http://127.0.0.1:{cls.server.server_address[1]}/google"})

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        super().tearDownClass()

    def send(self):
        """Sends a test notification, and returns the number of its message."""
        self.play.sandbox("POST", "notifications/test", {"packageName": GARDEN})
        return self.play.sandbox("GET", "notifications")["notifications"][0]["messageId"]

    def fault(self, *faults):
        answer = self.play.sandbox("POST", "notifications/faults", {"faults": list(faults)})
        self.assertEqual(answer["notifications"], list(faults))

    def next(self):
        return self.received.get(timeout=120)

    def test_a_duplicate_has_the_same_number(self):
        self.fault("duplicate")
        sent = self.send()
        self.assertEqual([self.next(), self.next()], [sent, sent])
        self.assertEqual([self.send()], [self.next()])

    def test_a_notification_comes_after_the_next(self):
        self.fault("reorder")
        first, second = self.send(), self.send()
        self.assertEqual([self.next(), self.next()], [second, first])

    def test_a_dropped_notification_is_replayed(self):
        self.fault("drop")
        dropped, next_one = self.send(), self.send()
        self.assertEqual(self.next(), next_one)
        self.play.run("notifications", "--replay", dropped)
        self.assertEqual(self.next(), dropped)
        self.play.sandbox("POST", f"notifications/{dropped}/replay")
        self.assertEqual(self.next(), dropped)
        self.assertEqual(self.play.sandbox("POST", "notifications/99999/replay")["code"], "notificationNotFound")

    def test_a_late_notification_follows_the_clock_of_the_play(self):
        self.play.run("notifications", "--fault", "delay:3600")
        late, next_one = self.send(), self.send()
        self.assertEqual(self.next(), next_one)
        self.play.sandbox("POST", "time/advance", {"by": "1h"})
        self.assertEqual(self.next(), late)

    def test_unknown_faults_are_refused(self):
        answer = self.play.sandbox("POST", "notifications/faults", {"faults": ["explode"]})
        self.assertEqual(answer["code"], "bodyInvalid")
