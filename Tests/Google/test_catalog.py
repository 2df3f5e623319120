"""Tools that fill a catalog, with Google's own client against a running `till play`: subscriptions, base plans, offers, prices."""

import copy
import datetime

from play import GARDEN, PREMIUM, SHED, PlayTests, base_plan, price, product

VERSION = "2025/03"


def subscription(product_id, *plans):
    return {
        "productId": product_id,
        "listings": [{"languageCode": "en-US", "title": product_id, "benefits": ["Seeds"], "description": "Each month."}],
        "basePlans": list(plans or [base_plan("monthly", "P1M", 10)]),
    }


def offer(offer_id, product_id="silver", plan="monthly", **more):
    """A week without payment for new customers."""
    return {
        "packageName": GARDEN, "productId": product_id, "basePlanId": plan, "offerId": offer_id,
        "phases": [{"duration": "P1W", "recurrenceCount": 1, "regionalConfigs": [{"regionCode": "US", "free": {}}]}],
        "regionalConfigs": [{"regionCode": "US", "newSubscriberAvailability": True}],
        "targeting": {"acquisitionRule": {"scope": {"thisSubscription": {}}}},
        "offerTags": [{"tag": "trial"}], **more}


def discount(offer_id, product_id="seeds", **more):
    """A tenth off a one-time product."""
    return {
        "packageName": GARDEN, "productId": product_id, "purchaseOptionId": "buy", "offerId": offer_id,
        "discountedOffer": {
            "startTime": "2026-01-01T00:00:00Z", "endTime": "2036-01-01T00:00:00Z", "redemptionLimit": "3"},
        "regionalPricingAndAvailabilityConfigs": [
            {"regionCode": "US", "availability": "AVAILABLE", "relativeDiscount": 0.1},
            {"regionCode": "KR", "availability": "AVAILABLE", "noOverride": {}},
        ], **more}


def changed(value, change):
    value = copy.deepcopy(value)
    change(value)
    return value


class SubscriptionTests(PlayTests):
    """The requests of a tool that writes subscriptions."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.subscriptions = cls.client.monetization().subscriptions()
        cls.plans = cls.subscriptions.basePlans()
        cls.offers = cls.plans.offers()

    def create(self, body, **more):
        more.setdefault("regionsVersion_version", VERSION)
        return self.subscriptions.create(packageName=GARDEN, productId=body["productId"], body=body, **more)

    def patch(self, body, mask=None, **more):
        more.setdefault("regionsVersion_version", VERSION)
        if mask:
            more["updateMask"] = mask
        return self.subscriptions.patch(packageName=GARDEN, productId=body["productId"], body=body, **more)

    def delete(self, product_id):
        return self.subscriptions.delete(packageName=GARDEN, productId=product_id)

    def set_state(self, verb, product_id, plan):
        place = {"packageName": GARDEN, "productId": product_id, "basePlanId": plan}
        return getattr(self.plans, verb)(**place, body=place)


class SubscriptionCatalogTests(SubscriptionTests):
    def test_a_subscription_is_created_changed_sold_and_kept(self):
        body = subscription("gold", base_plan("monthly", "P1M", 10), base_plan("yearly", "P1Y", 90))
        created = self.ok(self.create(body))
        self.assertEqual(created["packageName"], GARDEN)
        self.assertEqual([plan["state"] for plan in created["basePlans"]], ["DRAFT", "DRAFT"])
        self.refused(self.create(body), 409, "alreadyExists")
        sale = {"packageName": GARDEN, "productId": "gold", "account": "ada"}
        self.assertEqual(self.play.sandbox("POST", "subscriptions", sale)["code"], "productNotFound")
        active = self.ok(self.set_state("activate", "gold", "monthly"))
        self.assertEqual([plan["state"] for plan in active["basePlans"]], ["ACTIVE", "DRAFT"])
        # What is active stays active.
        self.assertEqual(self.ok(self.set_state("activate", "gold", "monthly")), active)
        self.assertEqual(self.play.sandbox("POST", "subscriptions", sale)["state"], "active")

        body["listings"][0]["title"] = "Much gold"
        body["basePlans"] = [base_plan("monthly", "P1M", 12), base_plan("weekly", "P1W", 3)]
        titled = self.ok(self.patch(body, "listings", latencyTolerance="PRODUCT_UPDATE_LATENCY_TOLERANCE_LATENCY_TOLERANT"))
        self.assertEqual(titled["listings"][0]["title"], "Much gold")
        self.assertEqual(titled["basePlans"], active["basePlans"])
        # The yearly plan is a draft, so an update may leave it out. A new plan is a draft, and the others keep their states.
        self.ok(self.offers.create(
            packageName=GARDEN, productId="gold", basePlanId="yearly", offerId="week", regionsVersion_version=VERSION,
            body=offer("week", "gold", "yearly")))
        updated = self.ok(self.patch(body, "basePlans"))
        self.assertEqual(self.ok(self.offers.list(packageName=GARDEN, productId="gold", basePlanId="-")), {})
        self.assertEqual(
            [(plan["basePlanId"], plan["state"]) for plan in updated["basePlans"]],
            [("monthly", "ACTIVE"), ("weekly", "DRAFT")])
        self.assertEqual(updated["basePlans"][0]["regionalConfigs"][0]["price"], price("USD", 12))
        self.refused(
            self.patch(subscription("gold", base_plan("weekly", "P1W", 3)), "basePlans"), 400, "invalidValue",
            "subscription.basePlans")
        self.refused(
            self.patch(subscription("gold", base_plan("monthly", "P1Y", 10)), "basePlans"), 400, "invalidValue",
            "subscription.basePlans.billingPeriodDuration")

        inactive = self.ok(self.set_state("deactivate", "gold", "monthly"))
        self.assertEqual(inactive["basePlans"][0]["state"], "INACTIVE")
        self.assertEqual(
            self.play.sandbox("POST", "subscriptions", {**sale, "account": "bob"})["code"], "productNotFound")
        self.refused(self.delete("gold"), 400, "failedPrecondition")
        archive = self.subscriptions.archive(packageName=GARDEN, productId="gold", body={})
        self.play.called.add("monetization.subscriptions.archive")
        self.refused(archive, 400, "failedPrecondition")

    def test_a_subscription_without_a_published_plan_is_deleted(self):
        self.ok(self.patch(subscription("tin"), allowMissing=True))
        self.ok(self.offers.create(
            packageName=GARDEN, productId="tin", basePlanId="monthly", offerId="week", regionsVersion_version=VERSION,
            body=offer("week", "tin")))
        self.ok(self.delete("tin"))
        self.refused(self.delete("tin"), 404, "notFound")
        self.ok(self.create(subscription("tin")))
        self.assertEqual(
            self.ok(self.offers.list(packageName=GARDEN, productId="tin", basePlanId="-")), {})
        self.ok(self.delete("tin"))

    def test_the_taxes_of_a_subscription_are_kept_and_changed(self):
        taxes = {
            "eeaWithdrawalRightType": "WITHDRAWAL_RIGHT_SERVICE", "isTokenizedDigitalAsset": False,
            "productTaxCategoryCode": "digital_news",
            "regionalProductAgeRatingInfos": [
                {"regionCode": "US", "productAgeRatingTier": "PRODUCT_AGE_RATING_TIER_THIRTEEN_AND_ABOVE"}],
            "taxRateInfoByRegionCode": {
                "DE": {"taxTier": "TAX_TIER_NEWS_1"},
                "US": {
                    "eligibleForStreamingServiceTaxRate": True,
                    "streamingTaxType": "STREAMING_TAX_TYPE_TELCO_VIDEO_RENTAL"}}}
        body = {**subscription("news"), "taxAndComplianceSettings": taxes}
        self.assertEqual(self.ok(self.create(body))["taxAndComplianceSettings"], taxes)
        taxes["taxRateInfoByRegionCode"]["DE"]["taxTier"] = "TAX_TIER_NEWS_2"
        self.ok(self.patch(body, "taxAndComplianceSettings"))
        found = self.ok(self.subscriptions.get(packageName=GARDEN, productId="news"))
        self.assertEqual(found["taxAndComplianceSettings"], taxes)

    def test_a_draft_of_a_base_plan_is_deleted(self):
        self.ok(self.create(subscription("lead", base_plan("monthly", "P1M", 10), base_plan("yearly", "P1Y", 90))))
        self.ok(self.set_state("activate", "lead", "monthly"))

        def delete(plan):
            return self.plans.delete(packageName=GARDEN, productId="lead", basePlanId=plan)

        self.ok(delete("yearly"))
        self.refused(delete("yearly"), 404, "notFound")
        self.refused(delete("monthly"), 400, "failedPrecondition")
        left = self.ok(self.subscriptions.get(packageName=GARDEN, productId="lead"))
        self.assertEqual([plan["basePlanId"] for plan in left["basePlans"]], ["monthly"])

    def test_states_of_base_plans_change_in_batches(self):
        for name in ("iron", "zinc"):
            self.ok(self.create(subscription(name)))

        def batch(*changes, path="-"):
            requests = [
                {f"{verb}BasePlanRequest": {"packageName": GARDEN, "productId": name, "basePlanId": plan}}
                for verb, name, plan in changes]
            return self.plans.batchUpdateStates(packageName=GARDEN, productId=path, body={"requests": requests})

        both = self.ok(batch(("activate", "zinc", "monthly"), ("activate", "iron", "monthly")))
        self.assertEqual(
            [(found["productId"], found["basePlans"][0]["state"]) for found in both["subscriptions"]],
            [("zinc", "ACTIVE"), ("iron", "ACTIVE")])
        self.ok(batch(("deactivate", "iron", "monthly"), path="iron"))
        # One request that is refused undoes all.
        self.refused(batch(("activate", "iron", "monthly"), ("activate", "zinc", "none")), 404, "notFound")
        found = self.ok(self.subscriptions.get(packageName=GARDEN, productId="iron"))
        self.assertEqual(found["basePlans"][0]["state"], "INACTIVE")
        self.refused(batch(("activate", "iron", "monthly"), path="zinc"), 400, "invalidValue", "requests.productId")
        self.refused(batch(*[("activate", "iron", "monthly")] * 2), 400, "invalidValue", "requests")
        self.refused(batch(), 400, "required", "requests")
        self.refused(batch(("move", "iron", "monthly")), 400, "required", "requests.activateBasePlanRequest")
        self.ok(self.create(subscription("lime")))
        self.refused(batch(("deactivate", "lime", "monthly")), 400, "failedPrecondition")

    def test_subscriptions_are_written_in_batches(self):
        def update(name, **more):
            return {
                "subscription": subscription(name), "updateMask": "basePlans,listings", "allowMissing": True,
                "regionsVersion": {"version": VERSION}, **more}

        def batch(*requests):
            return self.subscriptions.batchUpdate(packageName=GARDEN, body={"requests": list(requests)})

        names = [f"plan.{number:02}" for number in range(60)]
        answer = self.ok(batch(*map(update, names)))
        self.assertEqual([found["productId"] for found in answer["subscriptions"]], names)
        found, request = [], self.subscriptions.list(packageName=GARDEN)
        while request is not None:
            page = self.ok(request)
            found += [found["productId"] for found in page["subscriptions"]]
            request = self.subscriptions.list_next(request, page)
        self.assertEqual(found, sorted(found))
        self.assertTrue(set(names + ["premium"]) <= set(found))
        self.refused(batch(update("new.one"), update("new.two", allowMissing=False)), 404, "notFound")
        self.refused(self.subscriptions.get(packageName=GARDEN, productId="new.one"), 404, "notFound")
        self.refused(batch(update(names[0]), update(names[0])), 400, "invalidValue", "requests")
        self.refused(batch(*[update(f"x{number}") for number in range(101)]), 400, "invalidValue", "requests")
        self.refused(batch(update(names[0], updateMask="")), 400, "required", "updateMask")
        self.refused(batch({"updateMask": "*", "regionsVersion": {"version": VERSION}}), 400, "required", "subscription")

    def test_invalid_subscriptions_are_refused(self):
        body = subscription("bad")
        plans = "subscription.basePlans"

        def plan(value):
            return value["basePlans"][0]

        def renewing(value):
            return plan(value)["autoRenewingBasePlanType"]

        def region(value):
            return plan(value)["regionalConfigs"][0]

        cases = [
            (lambda value: value.update(listings=[]), "required", "subscription.listings"),
            (lambda value: value["listings"][0].update(description="x" * 201), "invalidValue",
             "subscription.listings.description"),
            (lambda value: value["listings"][0].update(benefits=["x"] * 5), "invalidValue",
             "subscription.listings.benefits"),
            (lambda value: value.update(packageName=SHED), "invalidValue", "subscription.packageName"),
            (lambda value: value["basePlans"].append(plan(value)), "invalidValue", plans),
            (lambda value: plan(value).update(basePlanId="Monthly!"), "invalidValue", f"{plans}.basePlanId"),
            (lambda value: plan(value).update(prepaidBasePlanType={"billingPeriodDuration": "P1M"}), "invalidValue", plans),
            (lambda value: plan(value).update(offerTags=[{"tag": "x"}] * 21), "invalidValue", f"{plans}.offerTags"),
            (lambda value: plan(value).update(offerTags=[{"tag": "A tag"}]), "invalidValue", f"{plans}.offerTags.tag"),
            (lambda value: renewing(value).update(billingPeriodDuration="a month"), "invalidValue",
             f"{plans}.billingPeriodDuration"),
            (lambda value: renewing(value).update(gracePeriodDuration="soon"), "invalidValue",
             f"{plans}.gracePeriodDuration"),
            (lambda value: renewing(value).update(gracePeriodDuration="P31D"), "invalidValue", plans),
            (lambda value: renewing(value).update(accountHoldDuration="P7D"), "invalidValue", plans),
            (lambda value: renewing(value).update(billingPeriodDuration="P1W", gracePeriodDuration="P8D"), "invalidValue",
             f"{plans}.gracePeriodDuration"),
            (lambda value: region(value).update(regionCode="USA"), "invalidValue", f"{plans}.regionalConfigs.regionCode"),
            (lambda value: plan(value)["regionalConfigs"].append(region(value)), "invalidValue",
             f"{plans}.regionalConfigs"),
            (lambda value: region(value).pop("price"), "required", f"{plans}.regionalConfigs.price"),
            (lambda value: region(value).update(price=price("USD", 0)), "invalidValue", f"{plans}.regionalConfigs.price"),
            (lambda value: region(value).update(price=price("EUR", 5)), "invalidValue", f"{plans}.regionalConfigs.price"),
            (lambda value: value.update(taxAndComplianceSettings={"taxRateInfoByRegionCode": {"DE": {"taxTier": "FOOD"}}}),
             "invalidValue", "subscription.taxAndComplianceSettings.taxRateInfoByRegionCode.taxTier"),
            (lambda value: value.update(
                taxAndComplianceSettings={"regionalProductAgeRatingInfos": [{"regionCode": "KR"}]}),
             "invalidValue", "subscription.taxAndComplianceSettings.regionalProductAgeRatingInfos.regionCode"),
        ]
        for change, reason, location in cases:
            with self.subTest(location):
                self.refused(self.create(changed(body, change)), 400, reason, location)
        for product_id in ("Bad", "_bad", "bad-1", "x" * 41):
            self.refused(self.create(subscription(product_id)), 400, "invalidValue", "subscription.productId")
        self.refused(self.create(body, regionsVersion_version=""), 400, "required", "regionsVersion.version")
        self.refused(self.create(body, regionsVersion_version="newest"), 400, "invalidValue", "regionsVersion.version")
        self.refused(self.patch(body, "listings"), 404, "notFound")
        self.refused(self.patch(PREMIUM), 400, "required", "updateMask")
        self.refused(self.patch(PREMIUM, "listings.title"), 400, "invalidValue", "updateMask")
        self.refused(
            self.subscriptions.patch(
                packageName=GARDEN, productId="premium", updateMask="*", regionsVersion_version=VERSION, body=body),
            400, "invalidValue", "subscription.productId")


class OfferCatalogTests(SubscriptionTests):
    """Offers of a subscription with an auto-renewing and a prepaid plan."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plans = (
            base_plan("monthly", "P1M", 10), base_plan("yearly", "P1Y", 90),
            base_plan("prepaid", "P1M", 12, prepaidBasePlanType={"billingPeriodDuration": "P1M"}))
        cls.subscriptions.create(
            packageName=GARDEN, productId="silver", regionsVersion_version=VERSION, body=subscription("silver", *plans)
        ).execute()

    def at(self, offer_id=None, plan="monthly"):
        place = {"packageName": GARDEN, "productId": "silver", "basePlanId": plan}
        return {**place, "offerId": offer_id} if offer_id else place

    def create_offer(self, body, plan="monthly", **more):
        more.setdefault("regionsVersion_version", VERSION)
        return self.offers.create(**self.at(plan=plan), offerId=body["offerId"], body=body, **more)

    def patch_offer(self, body, **more):
        more.setdefault("regionsVersion_version", VERSION)
        return self.offers.patch(**self.at(body["offerId"]), body=body, **more)

    def set_offer(self, verb, offer_id):
        return getattr(self.offers, verb)(**self.at(offer_id), body=self.at(offer_id))

    def test_an_offer_is_created_activated_sold_changed_and_kept(self):
        created = self.ok(self.create_offer(offer("week")))
        self.assertEqual(created, {**offer("week"), "state": "DRAFT"})
        self.refused(self.create_offer(offer("week")), 409, "alreadyExists")
        self.ok(self.set_state("activate", "silver", "monthly"))
        sale = {
            "packageName": GARDEN, "productId": "silver", "purchaseOptionId": "monthly", "account": "cleo",
            "offerId": "week"}
        self.assertEqual(self.play.sandbox("POST", "subscriptions", sale)["code"], "productNotFound")
        self.assertEqual(self.ok(self.set_offer("activate", "week"))["state"], "ACTIVE")
        bought = self.play.sandbox("POST", "subscriptions", sale)
        purchase = self.ok(
            self.client.purchases().subscriptionsv2().get(packageName=GARDEN, token=bought["purchaseToken"]))
        (item,) = purchase["lineItems"]
        self.assertEqual(item["offerPhase"], {"freeTrial": {}})
        self.assertEqual(item["offerDetails"]["offerTags"], ["trial"])

        longer = changed(offer("week"), lambda value: value["phases"][0].update(duration="P2W"))
        longer["offerTags"] = [{"tag": "two-weeks"}]
        self.refused(self.patch_offer(longer), 400, "required", "updateMask")
        updated = self.ok(self.patch_offer(longer, updateMask="phases"))
        self.assertEqual(updated["phases"][0]["duration"], "P2W")
        self.assertEqual((updated["offerTags"], updated["state"]), ([{"tag": "trial"}], "ACTIVE"))
        self.assertEqual(self.ok(self.set_offer("deactivate", "week"))["state"], "INACTIVE")
        self.refused(self.offers.delete(**self.at("week")), 400, "failedPrecondition")

    def test_a_draft_of_an_offer_is_deleted(self):
        self.refused(self.patch_offer(offer("short")), 404, "notFound")
        self.ok(self.patch_offer(offer("short"), allowMissing=True))
        self.refused(self.set_offer("deactivate", "short"), 400, "failedPrecondition")
        self.ok(self.offers.delete(**self.at("short")))
        self.refused(self.offers.get(**self.at("short")), 404, "notFound")
        self.refused(self.offers.delete(**self.at("short")), 404, "notFound")
        self.refused(self.set_offer("activate", "short"), 404, "notFound")

    def test_offers_are_written_read_and_changed_in_batches(self):
        names = [f"batch-{number:02}" for number in range(55)]

        def update(name, plan="monthly", **more):
            return {
                "subscriptionOffer": offer(name, plan=plan), "allowMissing": True, "regionsVersion": {"version": VERSION},
                **more}

        def batch(*requests, plan="monthly"):
            return self.offers.batchUpdate(**self.at(plan=plan), body={"requests": list(requests)})

        answer = self.ok(batch(*map(update, names)))
        self.assertEqual([found["offerId"] for found in answer["subscriptionOffers"]], names)
        self.ok(batch(update(names[0], "yearly"), plan="-"))
        found, request = [], self.offers.list(**self.at(plan="-"))
        while request is not None:
            page = self.ok(request)
            self.assertLessEqual(len(page["subscriptionOffers"]), 50)
            found += [(found["basePlanId"], found["offerId"]) for found in page["subscriptionOffers"]]
            request = self.offers.list_next(request, page)
        self.assertEqual(found, sorted(found))
        self.assertTrue({("monthly", name) for name in names} | {("yearly", names[0])} <= set(found))
        yearly = self.ok(self.offers.list(**self.at(plan="yearly")))["subscriptionOffers"]
        self.assertEqual([found["offerId"] for found in yearly], [names[0]])
        self.refused(batch(update("new"), update("old", allowMissing=False)), 404, "notFound")
        self.refused(batch(update("new"), update("new")), 400, "invalidValue", "requests")
        self.refused(batch(update("new", plan="yearly")), 400, "invalidValue", "subscriptionOffer.basePlanId")

        def read(*offer_ids):
            requests = [self.at(offer_id) for offer_id in offer_ids]
            return self.offers.batchGet(**self.at(), body={"requests": requests})

        several = self.ok(read(names[1], names[0]))
        self.assertEqual([found["offerId"] for found in several["subscriptionOffers"]], [names[1], names[0]])
        self.refused(read(names[0], "none"), 404, "notFound")
        self.refused(read(), 400, "required", "requests")

        def states(*changes):
            requests = [{f"{verb}SubscriptionOfferRequest": self.at(name)} for verb, name in changes]
            return self.offers.batchUpdateStates(**self.at(), body={"requests": requests})

        active = self.ok(states(("activate", names[2]), ("activate", names[3])))
        self.assertEqual([found["state"] for found in active["subscriptionOffers"]], ["ACTIVE", "ACTIVE"])
        self.refused(states(("deactivate", names[2]), ("deactivate", names[4])), 400, "failedPrecondition")
        self.assertEqual(self.ok(self.offers.get(**self.at(names[2])))["state"], "ACTIVE")

    def test_invalid_offers_are_refused(self):
        prefix = "subscriptionOffer"

        def phase(value):
            return value["phases"][0]

        def region(value):
            return phase(value)["regionalConfigs"][0]

        cases = [
            (lambda value: value.update(phases=[]), "invalidValue", f"{prefix}.phases"),
            (lambda value: value.update(phases=value["phases"] * 3), "invalidValue", f"{prefix}.phases"),
            (lambda value: value.pop("regionalConfigs"), "required", f"{prefix}.regionalConfigs"),
            (lambda value: value["regionalConfigs"].append({"regionCode": "DE"}), "invalidValue",
             f"{prefix}.phases.regionalConfigs"),
            (lambda value: phase(value).update(duration="P1X"), "invalidValue", f"{prefix}.phases.duration"),
            (lambda value: phase(value).update(recurrenceCount=0), "invalidValue", f"{prefix}.phases.recurrenceCount"),
            (lambda value: region(value).update(relativeDiscount=0.5), "invalidValue", f"{prefix}.phases.regionalConfigs"),
            (lambda value: value["phases"].append(
                {"duration": "P1M", "recurrenceCount": 1, "regionalConfigs": [{"regionCode": "US", "relativeDiscount": 1}]}),
             "invalidValue", f"{prefix}.phases.regionalConfigs.relativeDiscount"),
            (lambda value: value["phases"].append(
                {"duration": "P1M", "recurrenceCount": 1,
                 "regionalConfigs": [{"regionCode": "US", "price": price("EUR", 1)}]}),
             "invalidValue", f"{prefix}.phases.regionalConfigs.price"),
            (lambda value: value.update(targeting={}), "invalidValue", f"{prefix}.targeting"),
            (lambda value: value.update(
                targeting={"acquisitionRule": {"scope": {"specificSubscriptionInApp": "premium"}}}),
             "invalidValue", f"{prefix}.targeting.acquisitionRule.scope"),
            (lambda value: value.update(targeting={"upgradeRule": {"scope": {"anySubscriptionInApp": {}}}}),
             "invalidValue", f"{prefix}.targeting.upgradeRule.scope"),
            (lambda value: value.update(offerTags=[{"tag": "x"}] * 21), "invalidValue", f"{prefix}.offerTags"),
            (lambda value: value.update(basePlanId="yearly"), "invalidValue", f"{prefix}.basePlanId"),
        ]
        for change, reason, location in cases:
            with self.subTest(location):
                self.refused(self.create_offer(changed(offer("bad"), change)), 400, reason, location)
        self.refused(self.create_offer(offer("Bad!")), 400, "invalidValue", f"{prefix}.offerId")
        self.refused(
            self.create_offer(offer("bad", plan="prepaid"), plan="prepaid"), 400, "invalidValue", f"{prefix}.basePlanId")
        self.refused(self.create_offer(offer("bad", plan="none"), plan="none"), 404, "notFound")
        self.refused(self.create_offer(offer("bad"), regionsVersion_version=""), 400, "required", "regionsVersion.version")


class OneTimeOfferTests(PlayTests):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.options = cls.catalog.purchaseOptions()
        cls.offers = cls.options.offers()

    def at(self, offer_id=None, option="buy", product_id="seeds"):
        place = {"packageName": GARDEN, "productId": product_id, "purchaseOptionId": option}
        return {**place, "offerId": offer_id} if offer_id else place

    def write(self, *bodies, mask=None, missing=True, option="buy", product_id="seeds"):
        requests = [
            {"oneTimeProductOffer": body, "allowMissing": missing, "regionsVersion": {"version": VERSION},
             **({"updateMask": mask} if mask else {})} for body in bodies]
        return self.offers.batchUpdate(**self.at(option=option, product_id=product_id), body={"requests": requests})

    def set_state(self, verb, offer_id):
        return getattr(self.offers, verb)(**self.at(offer_id), body=self.at(offer_id))

    def test_a_discount_is_created_activated_changed_and_deleted(self):
        (created,) = self.ok(self.write(discount("spring")))["oneTimeProductOffers"]
        self.assertEqual((created["state"], created["regionsVersion"]), ("DRAFT", {"version": VERSION}))
        self.assertEqual(created["discountedOffer"], discount("spring")["discountedOffer"])
        self.refused(self.set_state("deactivate", "spring"), 400, "failedPrecondition")
        self.assertEqual(self.ok(self.set_state("activate", "spring"))["state"], "ACTIVE")
        more = discount("spring", offerTags=[{"tag": "green"}])
        more["regionalPricingAndAvailabilityConfigs"] = []
        self.refused(self.write(more), 400, "required", "updateMask")
        (updated,) = self.ok(self.write(more, mask="offerTags"))["oneTimeProductOffers"]
        self.assertEqual((updated["offerTags"], updated["state"]), ([{"tag": "green"}], "ACTIVE"))
        self.assertEqual(
            updated["regionalPricingAndAvailabilityConfigs"], created["regionalPricingAndAvailabilityConfigs"])
        self.refused(self.set_state("cancel", "spring"), 400, "failedPrecondition")
        self.assertEqual(self.ok(self.set_state("deactivate", "spring"))["state"], "INACTIVE")
        self.refused(self.set_state("activate", "none"), 404, "notFound")
        self.refused(self.write(discount("none"), missing=False), 404, "notFound")
        delete = self.offers.batchDelete(**self.at(), body={"requests": [self.at("spring")]})
        self.ok(delete)
        self.refused(delete, 404, "notFound")

    def test_a_discount_is_sold_as_often_as_it_allows(self):
        self.ok(self.write(discount("autumn", offerTags=[{"tag": "leaves"}])))
        sale = {"packageName": GARDEN, "productId": "seeds", "account": "ada", "offerId": "autumn"}
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "productNotFound")
        self.ok(self.set_state("activate", "autumn"))
        for _ in range(3):
            bought = self.play.buy("seeds", "ada", offerId="autumn", quantity=2)
            purchase = self.ok(self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"]))
            details = purchase["productLineItem"][0]["productOfferDetails"]
            self.assertEqual(
                (details["purchaseOptionId"], details["offerId"], details["offerTags"]),
                ("buy", "autumn", ["spring", "leaves"]))
            order = self.ok(self.orders.get(packageName=GARDEN, orderId=bought["orderId"]))
            (item,) = order["lineItems"]
            # A tenth less than 1.99 is 1.791.
            self.assertEqual(item["listingPrice"], price("USD", 1, 790_000_000))
            self.assertEqual(order["total"], price("USD", 3, 580_000_000))
            self.assertEqual(item["oneTimePurchaseDetails"]["offerId"], "autumn")
            self.ok(self.products.consume(packageName=GARDEN, productId="seeds", token=bought["purchaseToken"]))
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "invalidAction")
        # In Korea the offer has the price of the purchase option.
        korean = self.play.buy("seeds", "bo", offerId="autumn", regionCode="KR")
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=korean["orderId"]))
        self.assertEqual(order["total"], price("KRW", 2900))
        self.play.sandbox("POST", "time/advance", {"by": "10y"})
        late = self.play.sandbox("POST", "purchases", {**sale, "account": "cleo"})
        self.assertEqual(late["code"], "productNotFound")

    def test_a_pre_order_is_cancelled(self):
        body = discount("early")
        del body["discountedOffer"]
        body["preOrderOffer"] = {
            "startTime": "2026-01-01T00:00:00Z", "endTime": "2036-01-01T00:00:00Z",
            "releaseTime": "2036-01-02T00:00:00Z",
            "priceChangeBehavior": "PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY"}
        self.ok(self.write(body))
        self.ok(self.set_state("activate", "early"))
        self.refused(self.set_state("deactivate", "early"), 400, "failedPrecondition")
        self.assertEqual(self.ok(self.set_state("cancel", "early"))["state"], "CANCELLED")
        self.refused(self.set_state("activate", "early"), 400, "failedPrecondition")

    def preorder(self, offer_id, behavior):
        """An active offer of the spade to pre-order, which is released in three days."""
        now = datetime.datetime.fromisoformat(self.play.sandbox("GET", "time")["now"].replace("Z", "+00:00"))

        def day(days):
            return (now + datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")

        body = discount(offer_id, "spade")
        del body["discountedOffer"]
        body["preOrderOffer"] = {
            "startTime": day(-1), "endTime": day(2), "releaseTime": day(3),
            "priceChangeBehavior": f"PRE_ORDER_PRICE_CHANGE_BEHAVIOR_{behavior}"}
        place = self.at(offer_id, product_id="spade")
        self.ok(self.write(body, product_id="spade"))
        self.ok(self.offers.activate(**place, body=place))
        return body

    def state(self, bought):
        purchase = self.ok(self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"]))
        return purchase["purchaseStateContext"]["purchaseState"]

    def test_a_pre_order_is_pending_until_its_release_and_then_charged(self):
        for behavior, account, paid in (("TWO_POINT_LOWEST", "tess", price("USD", 0, 800_000_000)),
                                        ("NEW_ORDERS_ONLY", "nele", price("USD", 1, 790_000_000))):
            with self.subTest(behavior):
                offer_id = behavior.lower().replace("_", "-")
                body = self.preorder(offer_id, behavior)
                ordered = self.play.buy("spade", account, offerId=offer_id)
                self.assertEqual(ordered["releaseTime"], body["preOrderOffer"]["releaseTime"])
                self.assertNotIn("orderId", ordered)
                purchase = self.ok(
                    self.second.getproductpurchasev2(packageName=GARDEN, token=ordered["purchaseToken"]))
                self.assertEqual(purchase["purchaseStateContext"], {"purchaseState": "PENDING"})
                self.assertEqual(
                    purchase["productLineItem"][0]["productOfferDetails"]["preorderOfferDetails"],
                    {"preorderReleaseTime": body["preOrderOffer"]["releaseTime"]})
                number = ordered["number"]
                self.assertEqual(self.play.sandbox("POST", f"purchases/{number}/complete")["code"], "invalidAction")
                # The price falls to two fifths of 1.99 before the release.
                body["regionalPricingAndAvailabilityConfigs"][0]["relativeDiscount"] = 0.6
                self.ok(self.write(body, mask="regionalPricingAndAvailabilityConfigs", product_id="spade"))
                self.play.sandbox("POST", "time/advance", {"by": "3d", "account": account})
                released = self.play.sandbox("GET", f"purchases/{number}")
                self.assertEqual(released["state"], "purchased")
                order = self.ok(self.orders.get(packageName=GARDEN, orderId=released["orderId"]))
                self.assertEqual(order["total"], paid)
                self.assertEqual(order["lineItems"][0]["oneTimePurchaseDetails"]["preorderDetails"], {})
                sent = self.play.sandbox("GET", "notifications")["notifications"][0]["notification"]
                self.assertEqual(sent["oneTimeProductNotification"]["purchaseToken"], ordered["purchaseToken"])
                self.assertEqual(sent["oneTimeProductNotification"]["notificationType"], 1)

    def test_a_cancelled_offer_cancels_its_pre_orders(self):
        self.preorder("never", "NEW_ORDERS_ONLY")
        ordered = self.play.buy("spade", "nora", offerId="never")
        own = self.play.buy("spade", "otto", offerId="never")
        self.play.sandbox("POST", f"purchases/{own['number']}/cancel")
        bought = self.play.buy("spade", "pia")
        place = self.at("never", product_id="spade")
        self.ok(self.offers.cancel(**place, body=place))
        self.assertEqual([self.state(each) for each in (ordered, own, bought)], ["CANCELLED", "CANCELLED", "PURCHASED"])
        sent = self.play.sandbox("GET", "notifications")["notifications"][0]["notification"]
        self.assertEqual(sent["oneTimeProductNotification"]["purchaseToken"], ordered["purchaseToken"])
        self.assertEqual(sent["oneTimeProductNotification"]["notificationType"], 2)
        sale = {"packageName": GARDEN, "productId": "spade", "account": "quin", "offerId": "never"}
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "productNotFound")

    def test_a_rental_ends_and_is_sold_again(self):
        body = product("boat", "A boat", state=None)
        body["purchaseOptions"][0].update(
            purchaseOptionId="weekend", buyOption=None,
            rentOption={"rentalPeriod": "P2D", "expirationPeriod": "PT6H"})
        self.ok(self.catalog.patch(
            packageName=GARDEN, productId="boat", allowMissing=True, regionsVersion_version=VERSION, body=body))
        activate = {"activatePurchaseOptionRequest": self.at(option="weekend", product_id="boat")}
        self.ok(self.options.batchUpdateStates(packageName=GARDEN, productId="boat", body={"requests": [activate]}))
        sale = {"packageName": GARDEN, "productId": "boat", "account": "rena"}
        rented = self.play.buy("boat", "rena")
        purchase = self.ok(self.second.getproductpurchasev2(packageName=GARDEN, token=rented["purchaseToken"]))
        details = purchase["productLineItem"][0]["productOfferDetails"]
        self.assertEqual((details["purchaseOptionId"], details["rentOfferDetails"]), ("weekend", {}))
        order = self.ok(self.orders.get(packageName=GARDEN, orderId=rented["orderId"]))
        self.assertEqual(order["lineItems"][0]["oneTimePurchaseDetails"]["rentalDetails"], {})
        self.ok(self.products.acknowledge(packageName=GARDEN, productId="boat", token=rented["purchaseToken"]))
        self.assertEqual(self.play.sandbox("POST", "purchases", sale)["code"], "invalidAction")
        self.play.sandbox("POST", "time/advance", {"by": "2d", "account": "rena"})
        again = self.play.buy("boat", "rena")
        self.assertNotEqual(again["purchaseToken"], rented["purchaseToken"])
        # What is bought says nothing of rentals.
        bought = self.play.buy("spade", "rena")
        purchase = self.ok(self.second.getproductpurchasev2(packageName=GARDEN, token=bought["purchaseToken"]))
        self.assertNotIn("rentOfferDetails", purchase["productLineItem"][0]["productOfferDetails"])

    def test_offers_are_read_and_changed_in_batches(self):
        self.ok(self.write(discount("one"), discount("two", gameRewardOffer=None)))
        self.ok(self.write(discount("three", "spade"), option="-", product_id="-"))
        found, request = [], self.offers.list(**self.at(option="-", product_id="-"), pageSize=2)
        while request is not None:
            page = self.ok(request)
            self.assertLessEqual(len(page["oneTimeProductOffers"]), 2)
            found += [found["offerId"] for found in page["oneTimeProductOffers"]]
            request = self.offers.list_next(request, page)
        self.assertTrue({"one", "two", "three"} <= set(found))
        read = self.ok(self.offers.batchGet(**self.at(), body={"requests": [self.at("two"), self.at("one")]}))
        self.assertEqual([found["offerId"] for found in read["oneTimeProductOffers"]], ["two", "one"])
        changes = [{"activateOneTimeProductOfferRequest": self.at(name)} for name in ("one", "two")]
        active = self.ok(self.offers.batchUpdateStates(**self.at(), body={"requests": changes}))
        self.assertEqual([found["state"] for found in active["oneTimeProductOffers"]], ["ACTIVE", "ACTIVE"])
        self.refused(
            self.offers.batchUpdateStates(
                **self.at(), body={"requests": [{"cancelOneTimeProductOfferRequest": self.at("one")}]}),
            400, "failedPrecondition")

    def test_purchase_options_are_deleted_with_their_offers_by_force(self):
        body = product("rake", "A rake", state=None)
        body["purchaseOptions"].append(
            {**copy.deepcopy(body["purchaseOptions"][0]), "purchaseOptionId": "rent", "buyOption": None,
             "rentOption": {"rentalPeriod": "P2D", "expirationPeriod": "PT48H"}})
        self.ok(self.catalog.patch(
            packageName=GARDEN, productId="rake", allowMissing=True, regionsVersion_version=VERSION, body=body))
        self.ok(self.write(discount("short", "rake", purchaseOptionId="rent"), option="rent", product_id="rake"))

        def delete(option, **more):
            place = {**self.at(option=option, product_id="rake"), **more}
            return self.options.batchDelete(packageName=GARDEN, productId="-", body={"requests": [place]})

        self.refused(delete("rent"), 400, "failedPrecondition")
        self.ok(delete("rent", force=True))
        self.assertEqual(self.ok(self.offers.list(**self.at(option="-", product_id="rake"))), {})
        self.refused(delete("rent"), 404, "notFound")
        self.refused(delete("buy"), 400, "failedPrecondition")

    def test_invalid_offers_are_refused(self):
        prefix = "oneTimeProductOffer"
        regions = f"{prefix}.regionalPricingAndAvailabilityConfigs"

        def region(value):
            return value["regionalPricingAndAvailabilityConfigs"][0]

        cases = [
            (lambda value: value.pop("discountedOffer"), "invalidValue", prefix),
            (lambda value: value.update(gameRewardOffer={}), "invalidValue", prefix),
            (lambda value: value["discountedOffer"].update(redemptionLimit="51"), "invalidValue",
             f"{prefix}.redemptionLimit"),
            (lambda value: value["discountedOffer"].update(endTime="2025-01-01T00:00:00Z"), "invalidValue",
             f"{prefix}.discountedOffer.endTime"),
            (lambda value: region(value).update(availability="SOON"), "invalidValue", f"{regions}.availability"),
            (lambda value: region(value).update(noOverride={}), "invalidValue", regions),
            (lambda value: region(value).update(relativeDiscount=1), "invalidValue", f"{regions}.relativeDiscount"),
            (lambda value: region(value).update(regionCode="us"), "invalidValue", f"{regions}.regionCode"),
            (lambda value: value["regionalPricingAndAvailabilityConfigs"].append(region(value)), "invalidValue", regions),
            (lambda value: value.update(offerTags=[{"tag": ""}]), "invalidValue", f"{prefix}.offerTags.tag"),
            (lambda value: value.update(offerId="Bad!"), "invalidValue", f"{prefix}.offerId"),
            (lambda value: value.update(purchaseOptionId="rent"), "invalidValue", f"{prefix}.purchaseOptionId"),
            (lambda value: value.update(preOrderOffer={}, discountedOffer=None), "required",
             f"{prefix}.preOrderOffer.releaseTime"),
        ]
        for change, reason, location in cases:
            with self.subTest(location):
                self.refused(self.write(changed(discount("bad"), change)), 400, reason, location)
        self.refused(
            self.write(discount("bad", "seeds", purchaseOptionId="rent"), option="rent"), 404, "notFound")


class PriceTests(PlayTests):
    def convert(self, body):
        return self.client.monetization().convertRegionPrices(packageName=GARDEN, body=body)

    def test_a_price_is_converted_for_each_region(self):
        answer = self.ok(self.convert({"price": price("USD", 1, 990_000_000)}))
        regions = answer["convertedRegionPrices"]
        for code, region in regions.items():
            self.assertEqual(region["regionCode"], code)
            self.assertEqual(region["price"]["currencyCode"], region["taxAmount"]["currencyCode"])
        self.assertEqual(regions["US"]["price"], price("USD", 1, 990_000_000))
        self.assertEqual(regions["US"]["taxAmount"], price("USD", 0))
        self.assertEqual(regions["KR"]["price"]["currencyCode"], "KRW")
        self.assertNotIn("nanos", regions["KR"]["price"])
        self.assertEqual(answer["convertedOtherRegionsPrice"]["usdPrice"], price("USD", 1, 990_000_000))
        self.assertEqual(answer["convertedOtherRegionsPrice"]["eurPrice"]["currencyCode"], "EUR")
        # A tool fills a product with the answer.
        body = product("tulip", "A tulip", state=None)
        body["purchaseOptions"][0]["regionalPricingAndAvailabilityConfigs"] = [
            {"regionCode": code, "price": region["price"], "availability": "AVAILABLE"}
            for code, region in regions.items()]
        self.ok(self.catalog.patch(
            packageName=GARDEN, productId="tulip", allowMissing=True, body=body,
            regionsVersion_version=answer["regionVersion"]["version"]))
        self.refused(self.convert({}), 400, "required", "price")
        self.refused(self.convert({"price": price("USD", 0)}), 400, "invalidValue", "price")
        self.refused(self.convert({"price": price("XXX", 1)}), 400, "invalidValue", "price.currencyCode")
