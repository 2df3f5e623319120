"""Sales outside Google's billing, disputed payments, the older catalog and batches, with Google's own client."""

import datetime
import json
import urllib.error
import urllib.request

from googleapiclient.http import BatchHttpRequest

from play import GARDEN, SHED, PlayTests, price


def moment(seconds=0):
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def amount(micros, currency="USD"):
    return {"currency": currency, "priceMicros": str(micros)}


class ExternalTransactionTests(PlayTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.external = cls.client.externaltransactions()
        cls.first_token = cls.play.sandbox("POST", "externalTransactionTokens", {
            "packageName": GARDEN, "billingProgram": "USER_CHOICE_BILLING"})["externalTransactionToken"]

    def token(self, program="USER_CHOICE_BILLING", package=GARDEN):
        made = self.play.sandbox(
            "POST", "externalTransactionTokens", {"packageName": package, "billingProgram": program})
        self.assertEqual((made["packageName"], made["billingProgram"]), (package, program), made)
        return made["externalTransactionToken"]

    def report(self, identifier, program=None, **more):
        if program:
            more.setdefault("oneTimeTransaction", {"externalTransactionToken": self.token(program)})
        body = {
            "transactionTime": moment(-60), "originalPreTaxAmount": amount(9_990_000),
            "originalTaxAmount": amount(500_000), "userTaxAddress": {"regionCode": "US"},
            "oneTimeTransaction": {"externalTransactionToken": self.first_token}, **more}
        body = {name: value for name, value in body.items() if value is not None}
        return self.external.createexternaltransaction(
            parent=f"applications/{GARDEN}", externalTransactionId=identifier, body=body)

    def get(self, identifier, package=GARDEN):
        return self.external.getexternaltransaction(name=f"applications/{package}/externalTransactions/{identifier}")

    def refund(self, identifier, **body):
        body.setdefault("refundTime", moment())
        return self.external.refundexternaltransaction(
            name=f"applications/{GARDEN}/externalTransactions/{identifier}", body=body)

    def test_a_transaction_is_reported_once(self):
        created = self.ok(self.report("sale-1"))
        self.assertEqual(
            {name: created[name] for name in (
                "packageName", "externalTransactionId", "transactionState", "originalPreTaxAmount",
                "currentPreTaxAmount", "currentTaxAmount", "userTaxAddress", "oneTimeTransaction")},
            {"packageName": GARDEN, "externalTransactionId": "sale-1", "transactionState": "TRANSACTION_REPORTED",
             "originalPreTaxAmount": amount(9_990_000), "currentPreTaxAmount": amount(9_990_000),
             "currentTaxAmount": amount(500_000), "userTaxAddress": {"regionCode": "US"}, "oneTimeTransaction": {}})
        self.assertIn("createTime", created)
        self.assertEqual(self.ok(self.get("sale-1")), created)
        self.refused(self.report("sale-1"), 409, "alreadyExists")
        self.refused(self.get("sale-2"), 404, "notFound")
        self.refused(self.get("sale-1", SHED), 404, "notFound")

    def test_a_series_has_a_first_transaction(self):
        first = {"externalTransactionToken": self.token(), "externalSubscription": {"subscriptionType": "RECURRING"}}
        self.ok(self.report("month-1", oneTimeTransaction=None, recurringTransaction=first))
        later = {"initialExternalTransactionId": "month-1", "externalSubscription": {"subscriptionType": "RECURRING"}}
        reported = self.ok(self.report("month-2", oneTimeTransaction=None, recurringTransaction=later))
        self.assertEqual(reported["recurringTransaction"], later)
        migrated = {"migratedTransactionProgram": "USER_CHOICE_BILLING", "otherRecurringProduct": {}}
        reported = self.ok(self.report("month-0", oneTimeTransaction=None, recurringTransaction=migrated))
        self.assertEqual(reported["recurringTransaction"], {"otherRecurringProduct": {}})
        field = "recurringTransaction"
        for change, reason, location in (
            ({"initialExternalTransactionId": "none"}, "invalidValue", f"{field}.initialExternalTransactionId"),
            ({"externalTransactionToken": ""}, "required", f"{field}.externalTransactionToken"),
            ({"otherRecurringProduct": {}}, "invalidValue", field),
            ({"externalSubscription": {}}, "invalidValue", f"{field}.externalSubscription.subscriptionType"),
            ({"migratedTransactionProgram": "MINE"}, "invalidValue", f"{field}.migratedTransactionProgram"),
        ):
            with self.subTest(location):
                self.refused(
                    self.report("month-3", oneTimeTransaction=None, recurringTransaction={**first, **change}), 400, reason,
                    location)

    def test_a_transaction_is_refunded_in_parts_and_whole(self):
        self.ok(self.report("sale-3"))
        part = {"refundId": "r1", "refundPreTaxAmount": amount(4_995_000)}
        left = self.ok(self.refund("sale-3", partialRefund=part))
        self.assertEqual(
            (left["transactionState"], left["currentPreTaxAmount"], left["currentTaxAmount"]),
            ("TRANSACTION_REPORTED", amount(4_995_000), amount(250_000)))
        self.assertEqual(left["originalPreTaxAmount"], amount(9_990_000))
        self.refused(self.refund("sale-3", partialRefund=part), 400, "invalidValue", "partialRefund.refundId")
        for body, reason, location in (
            ({"partialRefund": {**part, "refundId": ""}}, "required", "partialRefund.refundId"),
            ({"partialRefund": {"refundId": "r2"}}, "required", "partialRefund.refundPreTaxAmount"),
            ({"partialRefund": {**part, "refundId": "r2"}}, "invalidValue", "partialRefund.refundPreTaxAmount"),
            ({"partialRefund": part, "fullRefund": {}}, "invalidValue", "fullRefund"),
            ({}, "invalidValue", "fullRefund"),
            ({"refundTime": None, "fullRefund": {}}, "required", "refundTime"),
            ({"refundTime": moment(3600), "fullRefund": {}}, "invalidValue", "refundTime"),
            ({"refundTime": moment(-3600), "fullRefund": {}}, "invalidValue", "refundTime"),
        ):
            with self.subTest(location):
                self.refused(self.refund("sale-3", **body), 400, reason, location)
        whole = self.ok(self.refund("sale-3", fullRefund={}))
        self.assertEqual(
            (whole["transactionState"], whole["currentPreTaxAmount"], whole["currentTaxAmount"]),
            ("TRANSACTION_CANCELED", amount(0), amount(0)))
        self.refused(self.refund("sale-3", fullRefund={}), 400, "failedPrecondition")
        self.refused(self.refund("none", fullRefund={}), 404, "notFound")

    def test_invalid_transactions_are_refused(self):
        india = {"regionCode": "IN", "administrativeArea": "GOA"}
        self.ok(self.report("in-goa", userTaxAddress=india))
        download = {"linkType": "LINK_TO_APP_DOWNLOAD"}
        for change, reason, location in (
            ({"transactionTime": None}, "required", "transactionTime"),
            ({"transactionTime": moment(3600)}, "invalidValue", "transactionTime"),
            ({"originalPreTaxAmount": None}, "required", "originalPreTaxAmount"),
            ({"originalPreTaxAmount": amount(1, "usd")}, "invalidValue", "originalPreTaxAmount"),
            ({"originalTaxAmount": None}, "required", "originalTaxAmount"),
            ({"originalTaxAmount": amount(1, "EUR")}, "invalidValue", "originalTaxAmount"),
            ({"userTaxAddress": None}, "required", "userTaxAddress"),
            ({"userTaxAddress": {"regionCode": "USA"}}, "invalidValue", "userTaxAddress.regionCode"),
            ({"userTaxAddress": {"regionCode": "IN"}}, "required", "userTaxAddress.administrativeArea"),
            ({"userTaxAddress": {**india, "administrativeArea": "Goa"}}, "invalidValue",
             "userTaxAddress.administrativeArea"),
            ({"oneTimeTransaction": None}, "invalidValue", "oneTimeTransaction"),
            ({"oneTimeTransaction": {}}, "required", "oneTimeTransaction.externalTransactionToken"),
            ({"externalOfferDetails": {}, "externalContentLinkDetails": download}, "invalidValue",
             "externalOfferDetails"),
            ({"oneTimeTransaction": {"externalTransactionToken": "another"}}, "invalidValue",
             "oneTimeTransaction.externalTransactionToken"),
            ({"oneTimeTransaction": {"externalTransactionToken": self.token(package=SHED)}}, "invalidValue",
             "oneTimeTransaction.externalTransactionToken"),
            ({"externalOfferDetails": download}, "required", "externalOfferDetails.installedAppPackage"),
            ({"externalOfferDetails": {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}, "transactionProgramCode": 11},
             "invalidValue", "transactionProgramCode"),
            ({"externalOfferDetails": {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}}, "invalidValue",
             "externalOfferDetails"),
            ({"externalOfferDetails": {"linkType": "LINK"}}, "invalidValue", "externalOfferDetails.linkType"),
            ({"externalContentLinkDetails": {}}, "invalidValue", "externalContentLinkDetails.linkType"),
        ):
            with self.subTest(location):
                self.refused(self.report("bad", **change), 400, reason, location)
        for identifier in ("", "a b", "x" * 64):
            with self.subTest(identifier):
                self.refused(
                    self.report(identifier), 400, "invalidValue" if identifier else "required", "externalTransactionId")


    def test_links_in_the_us_and_offers_in_the_eea_have_details_of_their_own(self):
        offer, nothing = {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}, amount(0)
        links, offers = "EXTERNAL_CONTENT_LINK", "EXTERNAL_OFFER"
        germany = {"regionCode": "DE"}
        linked = self.ok(self.report("linked", links, externalContentLinkDetails=offer))
        self.assertEqual(linked["externalContentLinkDetails"], offer)
        self.ok(self.report("offered", offers, externalOfferDetails=offer, userTaxAddress=germany))
        game = {"installedAppPackage": "com.example.game", "linkType": "LINK_TO_APP_DOWNLOAD"}
        free = {"originalPreTaxAmount": nothing, "originalTaxAmount": nothing}
        us = {**free, "externalContentLinkDetails": {**game, "externalAppCategory": "GAME"}}
        eea = {**free, "userTaxAddress": germany, "externalOfferDetails": {**game, "installedAppCategory": "GAME"}}
        self.refused(
            self.report("early", links, **us), 400, "invalidValue", "externalContentLinkDetails.installedAppPackage")
        registered = self.play.sandbox("POST", "externalApps", {
            "packageName": GARDEN, "installedAppPackage": "com.example.game", "category": "GAME"})
        self.assertIn(registered, self.play.sandbox("GET", "externalApps")["externalApps"])
        self.ok(self.report("us-download", links, **us))
        self.ok(self.report("eea-download", offers, **eea))
        inside = {"userTaxAddress": germany}
        self.ok(self.report(
            "inside", offers, externalOfferDetails={"appDownloadEventExternalTransactionId": "eea-download"}, **inside))
        for program, change, reason, location in (
            (links, {}, "invalidValue", "externalContentLinkDetails"),
            (links, {"externalOfferDetails": offer}, "invalidValue", "externalContentLinkDetails"),
            (links, {"externalContentLinkDetails": offer, **inside}, "invalidValue", "userTaxAddress.regionCode"),
            (offers, {"externalOfferDetails": offer}, "invalidValue", "userTaxAddress.regionCode"),
            (offers, {"externalOfferDetails": {}, **inside}, "required", "externalOfferDetails.linkType"),
            (offers, inside, "required", "externalOfferDetails.linkType"),
            (offers, {"externalOfferDetails": {"appDownloadEventExternalTransactionId": "offered"}, **inside},
             "invalidValue", "externalOfferDetails.appDownloadEventExternalTransactionId"),
            ("EXTERNAL_PAYMENTS", {"externalContentLinkDetails": offer}, "invalidValue", "externalContentLinkDetails"),
            (links, {**us, "originalPreTaxAmount": amount(1)}, "invalidValue", "originalPreTaxAmount"),
            (links, {**us, "originalTaxAmount": amount(1)}, "invalidValue", "originalTaxAmount"),
            (links, {**us, "externalContentLinkDetails": game}, "required",
             "externalContentLinkDetails.externalAppCategory"),
            (links, {**us, "externalContentLinkDetails": {**game, "externalAppCategory": "APP"}}, "invalidValue",
             "externalContentLinkDetails.externalAppCategory"),
            (offers, {**eea, "externalOfferDetails": {**game, "installedAppCategory": "APP"}}, "invalidValue",
             "externalOfferDetails.installedAppCategory"),
        ):
            with self.subTest((program, location)):
                self.refused(self.report("wrong", program, **change), 400, reason, location)

    def test_a_series_keeps_its_program(self):
        offer = {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}
        subscription = {"externalSubscription": {"subscriptionType": "RECURRING"}}
        first = {**subscription, "externalTransactionToken": self.token("EXTERNAL_CONTENT_LINK")}
        later = {**subscription, "initialExternalTransactionId": "link-1"}
        self.ok(self.report(
            "link-1", oneTimeTransaction=None, recurringTransaction=first, externalContentLinkDetails=offer))
        self.refused(
            self.report("link-2", oneTimeTransaction=None, recurringTransaction=later), 400, "invalidValue",
            "externalContentLinkDetails")
        self.ok(self.report(
            "link-2", oneTimeTransaction=None, recurringTransaction=later, externalContentLinkDetails=offer))


class RefundReviewTests(PlayTests):
    def dispute(self, bought):
        disputed = self.play.sandbox("POST", "disputes", {"orderId": bought["orderId"]})
        self.assertEqual(disputed["state"], "open", disputed)
        return disputed

    def review(self, disputed, **more):
        body = {
            "pendingRefundToken": disputed["pendingRefundToken"], "refundPreference": "DECLINE",
            "sampleContentProvided": False, **more}
        body = {name: value for name, value in body.items() if value is not None}
        return self.orders.reviewrefund(packageName=GARDEN, orderId=disputed["orderId"], body=body)

    def order(self, bought):
        return self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))

    def state(self, bought):
        disputes = self.play.run("dispute")["disputes"]
        return [dispute["state"] for dispute in disputes if dispute["orderId"] == bought["orderId"]]

    def acknowledged(self, account, **more):
        bought = self.play.buy("spade", account, **more)
        self.ok(self.products.acknowledge(packageName=GARDEN, productId="spade", token=bought["purchaseToken"]))
        return bought

    def test_the_first_answer_counts(self):
        bought = self.acknowledged("ada", obfuscatedAccountId="a1", obfuscatedProfileId="p1")
        disputed = self.dispute(bought)
        sent = self.play.sandbox("GET", "notifications")["notifications"][0]["notification"]
        self.assertEqual(
            sent["pendingRefundReviewNotification"],
            {"version": "1.0", "pendingRefundToken": disputed["pendingRefundToken"], "orderId": bought["orderId"],
             "refundReason": 7, "obfuscatedAccountId": "a1", "obfuscatedProfileId": "p1"})
        self.assertEqual(
            self.play.sandbox("POST", "disputes", {"orderId": bought["orderId"]})["code"], "invalidAction")
        self.ok(self.review(
            disputed, consumptionPercentageMilliunits=45_200, consumptionUsageEvents=[{
                "consumptionTime": moment(), "consumptionItemDescription": "Dug a hole.", "ipAddress": "192.0.2.1",
                "location": {"regionCode": "US", "locality": "Springfield"}, "obfuscatedAccountId": "a1"}]))
        self.ok(self.review(disputed, refundPreference="APPROVE"))
        self.assertEqual(self.state(bought), ["answered"])
        self.assertEqual(self.order(bought)["state"], "PENDING_REFUND")
        self.play.sandbox("POST", "time/advance", {"by": "1d"})
        self.assertEqual(self.state(bought), ["kept"])
        self.assertEqual(self.order(bought)["state"], "PROCESSED")
        # It is ignored after the decision, too.
        self.ok(self.review(disputed, refundPreference="APPROVE"))

    def test_without_an_answer_the_payment_is_charged_back(self):
        bought, approved = self.acknowledged("bob"), self.acknowledged("cleo")
        disputed = self.dispute(bought)
        self.ok(self.review(self.dispute(approved), refundPreference="APPROVE"))
        self.play.sandbox("POST", "time/advance", {"by": "23h"})
        pending = self.order(bought)
        self.assertEqual(pending["state"], "PENDING_REFUND")
        self.assertNotIn("refundEvent", pending["orderHistory"])
        self.play.sandbox("POST", "time/advance", {"by": "1h"})
        records = self.ok(self.voided.list(packageName=GARDEN))["voidedPurchases"]
        for refunded in (bought, approved):
            order = self.order(refunded)
            self.assertEqual(order["state"], "REFUNDED")
            self.assertEqual(order["orderHistory"]["refundEvent"]["refundReason"], "CHARGEBACK")
            (record,) = [record for record in records if record["orderId"] == refunded["orderId"]]
            self.assertEqual((record["voidedSource"], record["voidedReason"]), (2, 7))
            self.assertEqual(self.state(refunded), ["refunded"])
        self.refused(self.review(disputed), 400, "failedPrecondition")
        self.assertEqual(
            self.play.sandbox("POST", "disputes", {"orderId": bought["orderId"]})["code"], "invalidAction")

    def test_a_charged_back_subscription_ends(self):
        bought = self.play.subscribe("dora")
        self.dispute(bought)
        self.play.sandbox("POST", "time/advance", {"by": "1d"})
        purchase = self.ok(
            self.client.purchases().subscriptionsv2().get(packageName=GARDEN, token=bought["purchaseToken"]))
        self.assertEqual(purchase["subscriptionState"], "SUBSCRIPTION_STATE_EXPIRED")
        self.assertEqual(self.order(bought)["state"], "REFUNDED")

    def test_invalid_answers_are_refused(self):
        bought, other = self.acknowledged("erik"), self.acknowledged("finn")
        disputed = self.dispute(bought)
        events = "consumptionUsageEvents"
        for change, reason, location in (
            ({"pendingRefundToken": None}, "required", "pendingRefundToken"),
            ({"pendingRefundToken": "x"}, "invalidValue", "pendingRefundToken"),
            ({"refundPreference": None}, "required", "refundPreference"),
            ({"refundPreference": "MAYBE"}, "invalidValue", "refundPreference"),
            ({"sampleContentProvided": None}, "required", "sampleContentProvided"),
            ({"consumptionPercentageMilliunits": 100_001}, "invalidValue", "consumptionPercentageMilliunits"),
            ({events: [{}] * 1001}, "invalidValue", events),
            ({events: [{"consumptionItemDescription": "x" * 5001}]}, "invalidValue",
             f"{events}.consumptionItemDescription"),
            ({events: [{"location": {}}]}, "required", f"{events}.location.regionCode"),
            ({events: [{"obfuscatedProfileId": "x" * 65}]}, "invalidValue", f"{events}.obfuscatedProfileId"),
        ):
            with self.subTest(location):
                self.refused(self.review(disputed, **change), 400, reason, location)
        self.refused(self.review({**disputed, "orderId": other["orderId"]}), 400, "invalidValue", "pendingRefundToken")
        self.refused(self.review({**disputed, "orderId": "GPA.1"}), 404, "notFound")
        self.assertEqual(self.state(bought), ["open"])
        self.assertEqual(
            self.play.sandbox("POST", "disputes", {"orderId": "GPA.1"})["code"], "transactionNotFound")


class InAppProductTests(PlayTests):
    """The older catalog."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.old = cls.client.inappproducts()

    def body(self, sku, **more):
        body = {
            "packageName": GARDEN, "sku": sku, "status": "active", "purchaseType": "managedUser",
            "defaultPrice": amount(1_990_000), "prices": {"KR": amount(2_900_000_000, "KRW")},
            "listings": {"en-US": {"title": "A hose", "description": "Ten metres."}, "ko-KR": {"title": "호스"}},
            "defaultLanguage": "en-US", **more}
        return {name: value for name, value in body.items() if value is not None}

    def insert(self, body, **more):
        return self.old.insert(packageName=GARDEN, body=body, **more)

    def test_a_product_is_inserted_sold_changed_and_deleted(self):
        created = self.ok(self.insert(self.body("hose")))
        self.assertEqual(created, self.body("hose", prices={
            "US": amount(1_990_000), "KR": amount(2_900_000_000, "KRW")}))
        self.refused(self.insert(self.body("hose")), 409, "alreadyExists")
        self.assertEqual(self.ok(self.old.get(packageName=GARDEN, sku="hose")), created)
        self.assertEqual(self.play.buy("hose", "ada")["state"], "purchased")
        new = self.ok(self.catalog.get(packageName=GARDEN, productId="hose"))
        (option,) = new["purchaseOptions"]
        self.assertEqual((option["state"], option["buyOption"]), ("ACTIVE", {"legacyCompatible": True}))
        self.assertEqual(
            [(config["regionCode"], config["price"]) for config in option["regionalPricingAndAvailabilityConfigs"]],
            [("US", price("USD", 1, 990_000_000)), ("KR", price("KRW", 2900))])

        dearer = self.ok(self.old.patch(
            packageName=GARDEN, sku="hose", body={"defaultPrice": amount(2_990_000)}))
        self.assertEqual(dearer["prices"], {"US": amount(2_990_000), "KR": amount(2_900_000_000, "KRW")})
        self.assertEqual(dearer["listings"], created["listings"])
        closed = self.ok(self.old.update(packageName=GARDEN, sku="hose", body=self.body("hose", status="inactive")))
        self.assertEqual((closed["status"], closed["defaultPrice"]), ("inactive", amount(1_990_000)))
        sale = {"packageName": GARDEN, "productId": "hose", "account": "bob"}
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "productNotFound")
        self.ok(self.old.delete(packageName=GARDEN, sku="hose"))
        self.refused(self.old.delete(packageName=GARDEN, sku="hose"), 404, "notFound")
        self.refused(self.old.patch(packageName=GARDEN, sku="hose", body={}), 404, "notFound")
        self.refused(self.old.get(packageName=GARDEN, sku="hose"), 404, "notFound")

    def test_the_taxes_of_a_product_are_those_of_the_newer_catalog(self):
        taxes = {
            "eeaWithdrawalRightType": "WITHDRAWAL_RIGHT_SERVICE", "productTaxCategoryCode": "digital_books",
            "taxRateInfoByRegionCode": {"FR": {"taxTier": "TAX_TIER_BOOKS_1"}}}
        created = self.ok(self.insert(self.body("book", managedProductTaxesAndComplianceSettings=taxes)))
        self.assertEqual(created["managedProductTaxesAndComplianceSettings"], taxes)
        new = self.ok(self.catalog.get(packageName=GARDEN, productId="book"))
        self.assertEqual(
            new["taxAndComplianceSettings"],
            {"productTaxCategoryCode": "digital_books",
             "regionalTaxConfigs": [{"regionCode": "FR", "taxTier": "TAX_TIER_BOOKS_1"}]})
        self.assertEqual(
            new["purchaseOptions"][0]["taxAndComplianceSettings"], {"withdrawalRightType": "WITHDRAWAL_RIGHT_SERVICE"})
        dearer = self.ok(self.old.patch(packageName=GARDEN, sku="book", body={"defaultPrice": amount(2_990_000)}))
        self.assertEqual(dearer["managedProductTaxesAndComplianceSettings"], taxes)
        untaxed = self.ok(self.old.update(packageName=GARDEN, sku="book", body=self.body("book")))
        self.assertNotIn("managedProductTaxesAndComplianceSettings", untaxed)

    def test_missing_prices_are_converted(self):
        created = self.ok(self.insert(self.body("pump", prices=None), autoConvertMissingPrices=True))
        self.assertEqual(created["prices"]["US"], amount(1_990_000))
        self.assertEqual(created["prices"]["KR"]["currency"], "KRW")
        self.assertGreater(len(created["prices"]), 40)

    def test_products_are_written_and_listed_in_batches(self):
        skus = [f"tap.{number}" for number in range(5)]

        def update(sku, **more):
            return {"packageName": GARDEN, "sku": sku, "inappproduct": self.body(sku), "allowMissing": True, **more}

        def batch(*requests):
            return self.old.batchUpdate(packageName=GARDEN, body={"requests": list(requests)})

        written = self.ok(batch(*map(update, skus)))
        self.assertEqual([found["sku"] for found in written["inappproducts"]], skus)
        self.refused(batch(update("new"), update("old", allowMissing=False)), 404, "notFound")
        self.refused(self.old.get(packageName=GARDEN, sku="new"), 404, "notFound")
        self.refused(batch(update("new"), update("new")), 400, "invalidValue", "requests")
        self.refused(batch(), 400, "required", "requests")
        read = self.ok(self.old.batchGet(packageName=GARDEN, sku=[skus[1], skus[0]]))
        self.assertEqual([found["sku"] for found in read["inappproduct"]], [skus[1], skus[0]])
        self.refused(self.old.batchGet(packageName=GARDEN, sku=[skus[0], "none"]), 404, "notFound")
        found, page = [], self.ok(self.old.list(packageName=GARDEN, maxResults=2))
        self.assertEqual(page["kind"], "androidpublisher#inappproductsListResponse")
        while True:
            found += [product["sku"] for product in page["inappproduct"]]
            token = page.get("tokenPagination", {}).get("nextPageToken")
            if not token:
                break
            page = self.ok(self.old.list(packageName=GARDEN, maxResults=2, token=token))
        self.assertEqual(found, sorted(found))
        self.assertTrue(set(skus + ["seeds", "spade"]) <= set(found))
        rest = self.ok(self.old.list(packageName=GARDEN, startIndex=len(found) - 1))
        self.assertEqual([product["sku"] for product in rest["inappproduct"]], found[-1:])
        places = [{"packageName": GARDEN, "sku": sku} for sku in skus]
        self.ok(self.old.batchDelete(packageName=GARDEN, body={"requests": places}))
        self.refused(self.old.batchDelete(packageName=GARDEN, body={"requests": places[:1]}), 404, "notFound")

    def test_invalid_products_are_refused(self):
        region = "oneTimeProduct.purchaseOptions.regionalPricingAndAvailabilityConfigs"
        for change, reason, location in (
            ({"sku": None}, "required", "inappproduct.sku"),
            ({"sku": "Hose"}, "invalidValue", "oneTimeProduct.productId"),
            ({"status": "sold"}, "invalidValue", "inappproduct.status"),
            ({"purchaseType": "subscription"}, "invalidValue", "inappproduct.purchaseType"),
            ({"defaultPrice": None}, "required", "inappproduct.defaultPrice"),
            ({"defaultPrice": {}}, "invalidValue", "inappproduct.defaultPrice"),
            ({"prices": {"KR": {}}}, "invalidValue", "inappproduct.prices"),
            ({"prices": {"KR": amount(1_000_000, "USD")}}, "invalidValue", f"{region}.price"),
            ({"defaultLanguage": None}, "required", "inappproduct.defaultLanguage"),
            ({"defaultLanguage": "fr-FR"}, "required", "inappproduct.listings"),
            ({"managedProductTaxesAndComplianceSettings": {"taxRateInfoByRegionCode": {"FR": {"taxTier": "FOOD"}}}},
             "invalidValue", "inappproduct.managedProductTaxesAndComplianceSettings.taxRateInfoByRegionCode.taxTier"),
        ):
            with self.subTest(location):
                self.refused(self.insert(self.body(**{"sku": "bad", **change})), 400, reason, location)
        self.refused(
            self.old.update(packageName=GARDEN, sku="bad", body=self.body("good")), 400, "invalidValue",
            "inappproduct.sku")


class BatchTests(PlayTests):
    def run_batch(self, *requests):
        """The answers and errors of the requests, in their order."""
        results = {}

        def keep(name, answer, error):
            results[name] = (answer, error)

        batch = BatchHttpRequest(callback=keep, batch_uri=self.play.url + "/batch")
        for number, request in enumerate(requests):
            batch.add(request, request_id=f"request {number} of the test with a name that is long enough to be folded")
        batch.execute()
        self.assertEqual(len(results), len(requests))
        return [results[name] for name in sorted(results)]

    def test_each_call_of_a_batch_succeeds_or_fails_for_itself(self):
        bought = self.play.buy("seeds", "ada")
        place = {"packageName": GARDEN, "productId": "seeds", "token": bought["purchaseToken"]}
        found, consumed, again, unknown, changed = self.run_batch(
            self.products.get(**place), self.products.consume(**place), self.products.consume(**place),
            self.orders.get(packageName=GARDEN, orderId="GPA.1"),
            self.catalog.patch(
                packageName=GARDEN, productId="spade", updateMask="offerTags", regionsVersion_version="2025/03",
                body={"offerTags": [{"tag": "tool"}]}))
        self.assertIsNone(found[1])
        self.assertEqual(found[0]["orderId"], bought["orderId"])
        self.assertEqual(consumed, ("", None))
        for (_, error), status, reason in ((again, 400, "invalidPurchaseState"), (unknown, 404, "notFound")):
            self.assertEqual(error.resp.status, status)
            self.assertEqual(json.loads(error.content)["error"]["errors"][0]["reason"], reason)
        self.assertEqual(changed[0]["offerTags"], [{"tag": "tool"}])

    def test_a_batch_has_the_form_of_google(self):
        boundary = "edge"
        part = f"--{boundary}\r\nContent-Type: application/http\r\n\r\nGET /x HTTP/1.1\r\n\r\n\r\n--{boundary}--\r\n"
        for content_type, body in (
            ("application/json", "{}"), (f"multipart/mixed; boundary={boundary}", "no parts"),
            (f"multipart/mixed; boundary={boundary}", f"--{boundary}--"),
            (f"multipart/mixed; boundary={boundary}", part.replace("application/http", "text/plain")),
            (f"multipart/mixed; boundary={boundary}", part.replace(f"--{boundary}--", "")),
        ):
            with self.subTest(body):
                request = urllib.request.Request(
                    self.play.url + "/batch", data=body.encode(), headers={"Content-Type": content_type})
                with self.assertRaises(urllib.error.HTTPError) as caught:
                    urllib.request.urlopen(request)
                with caught.exception as error:
                    self.assertEqual(error.status, 400)
                    self.assertEqual(json.loads(error.read())["error"]["errors"][0]["reason"], "parseError")
        request = urllib.request.Request(
            self.play.url + "/batch", data=part.encode(),
            headers={"Content-Type": f"multipart/mixed; boundary={boundary}"})
        with urllib.request.urlopen(request) as answer:
            self.assertIn("HTTP/1.1 401 ", answer.read().decode())
