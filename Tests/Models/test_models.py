"""The comparison of models.py fails for a field, a value, a type and an endpoint that a store adds, wherever it adds one.

    TILL=.build/release/till python -m unittest discover Tests/Models
"""

import fnmatch
import os
import re
import unittest

import attr
import models

FIELD, VALUE, NUMBER, TYPE = "addedByTheTest", "ADDED_BY_THE_TEST", "9753", "AddedByTheTest"
# Types that the excuses pass over as a whole, and the resources of publishing.
WHOLE = [
    # Neither sells by Subscribe with Google.
    "SubscribeWithGoogleInfo",
    "applications*", "apprecovery", "appsigning", "appstore*", "edits*", "generatedapks", "grants",
    "internalappsharingartifacts", "reviews", "systemapks*", "users",
]


class NextApple(models.Apple):
    """The models of Apple's library with one more type, field of each type, value of each enumeration, and endpoint below each."""

    def __init__(self):
        super().__init__()
        self.models[TYPE] = attr.make_class(TYPE, {})
        for name in list(self.endpoints):
            self.endpoints[f"{name}/{FIELD}"] = []

    def members(self, name):
        fields, values = super().members(name)
        if values:
            number = values[0].partition("=")[2].lstrip("-").isdigit()
            return fields, [*values, f"{name}={NUMBER if number else VALUE}"]
        return [*fields, (f"{name}.{FIELD}", [])], values


class NextGoogle(models.Google):
    """The discovery document with one more field in each schema, one more value in each enumeration, and a method of each resource."""

    def __init__(self):
        super().__init__()
        for resource in {name.rpartition(".")[0] for name in self.endpoints}:
            self.endpoints[f"{resource}.{FIELD}"] = []
            self.paths[f"{resource}.{FIELD}"] = f"POST {resource}/{{id}}:{FIELD}"

    def members(self, name):
        fields, values = super().members(name)
        places = sorted({value.partition("=")[0] for value in values})
        return [*fields, (f"{name}.{FIELD}", [])], [*values, *(f"{place}={VALUE}" for place in places)]


def next_pages():
    """The items of the pages with one more field of each type that only they name, and one more value of each field there."""
    items, types = models.page_items()
    for store, library in (("apple", models.Apple()), ("google", models.Google())):
        names = [item.name for item in items if item.store == store and item.kind != "endpoint"]
        kinds = {name.split(".")[0] for name in names if "." in name} - set(library.models)
        places = {name.partition("=")[0] for name in names if "=" in name and name.split(".")[0] in kinds}
        items += [models.Item(store, "field", f"{kind}.{FIELD}", "page") for kind in sorted(kinds)]
        items += [models.Item(store, "value", f"{place}={VALUE}", "page") for place in sorted(places)]
    return items, types


class NextVersionTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        plain = models.Apple, models.Google, models.page_items
        pages = next_pages()
        models.Apple, models.Google, models.page_items = NextApple, NextGoogle, lambda: pages
        try:
            comparison = models.Comparison(os.environ["TILL"])
        finally:
            models.Apple, models.Google, models.page_items = plain
        cls.stale, excuses = comparison.stale, models.read_excuses()
        # The types, enumerations and resources to which something is added, and those of them that the comparison fails for, on any side
        # and on each.
        cls.added, cls.failing, cls.failing_at = set(), set(), set()
        for (side, store), items in comparison.items.items():
            for item, known in items.items():
                place = re.fullmatch(f"(.*)[./=]({FIELD}|{VALUE}|{NUMBER})", item.name)
                if place:
                    cls.added.add((store, item.kind, place[1]))
                    if not known and not models.matching(excuses, side, item):
                        cls.failing.add((store, item.kind, place[1]))
                        cls.failing_at.add((side, place[1]))

    @staticmethod
    def forms(place):
        return [form for form in WHOLE if fnmatch.fnmatchcase(place, form) or fnmatch.fnmatchcase(place.partition(".")[0], form)]

    def test_an_addition_to_each_type_enumeration_and_resource_fails(self):
        self.assertEqual({each for each in self.added - self.failing if not self.forms(each[2])}, set())
        self.assertEqual(
            {(store, kind) for store, kind, _ in self.failing},
            {(store, kind) for store in ("apple", "google") for kind in ("field", "value", "endpoint")})

    def test_each_type_that_is_passed_over_as_a_whole_is_one(self):
        self.assertEqual({form for *_, place in self.added - self.failing for form in self.forms(place)}, set(WHOLE))

    def test_an_addition_to_a_page_fails(self):
        for kind, place in (("field", "RefundLineItem"), ("field", "ExternalPurchaseReport"), ("value", "ExternalPurchaseReport.status")):
            self.assertIn(("apple", kind, place), self.failing)

    def test_an_addition_fails_on_the_side_that_knows_the_rest_by_name(self):
        for side, places in {
            "service": [
                "monetization", "monetization.onetimeproducts.purchaseOptions.offers", "monetization.subscriptions.basePlans",
                "OneTimeProduct", "OneTimeProductPurchaseOption", "OneTimeProductPurchaseOption.state", "RegionalTaxConfig",
                "RegionalTaxConfig.taxTier", "PurchaseOptionTaxAndComplianceSettings",
                # The requests of the Advanced Commerce API, which the service sends.
                "AdvancedCommerceSubscriptionRevokeRequest",
                "AdvancedCommerceRequestRefundItem", "AdvancedCommerceSubscriptionMigrateRequest",
                "AdvancedCommerceSubscriptionModifyInAppRequest", "AdvancedCommerceEffective", "AdvancedCommerceRefundType",
                "AdvancedCommerceRefundReason", "ExtendReasonCode",
            ],
            "double": [
                "RegionalTaxConfig", "RegionalTaxRateInfo.taxTier", "SubscriptionTaxAndComplianceSettings",
                "OtherRegionsBasePlanConfig", "UpdateSubscriptionRequest.latencyTolerance",
            ],
        }.items():
            for place in places:
                self.assertTrue((side, place) in self.failing_at, f"{side} {place}")

    def test_another_operation_of_the_advanced_commerce_api_is_not_called(self):
        for operation, known in (("revoke", True), ("addedByTheTest", False)):
            endpoint = f"POST /advancedCommerce/v1/subscription/{operation}/{{}}"
            self.assertEqual(models.called(models.APPLE_SERVICE, endpoint), known)

    def test_a_type_that_no_endpoint_has_fails(self):
        self.assertTrue(any(TYPE in line for line in self.stale), self.stale)


if __name__ == "__main__":
    unittest.main()
