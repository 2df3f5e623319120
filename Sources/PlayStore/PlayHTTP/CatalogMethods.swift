import Proofs

/// The methods on the products of a catalog.
extension PublisherMethod {
    static let subscriptionProducts: [PublisherMethod] = [
        .answering("monetization.subscriptions.get", .get, "subscriptions/{productId}") {
            try $1.found(at: $0.place) as CatalogSubscription
        },
        .answering("monetization.subscriptions.list", .get, "subscriptions") {
            try $1.list(at: $0.place, $0.parameters) as CatalogList<CatalogSubscription>
        },
        .answering("monetization.subscriptions.batchGet", .get, "subscriptions:batchGet") {
            try $1.found($0.parameters.all("productIds"), at: $0.place) as CatalogList<CatalogSubscription>
        },
        .answering("monetization.subscriptions.create", .post, "subscriptions") {
            var place = $0.place
            place.productId = $0.parameters["productId"]
            return try $1.create(
                $0.json(CatalogSubscription.self), at: place, regionsVersion: $0.parameters["regionsVersion.version"])
        },
        .answering("monetization.subscriptions.patch", .patch, "subscriptions/{productId}") {
            try $1.update($0.update() as CatalogUpdate<CatalogSubscription>, at: $0.place)
        },
        .answering("monetization.subscriptions.batchUpdate", .post, "subscriptions:batchUpdate") {
            try $1.update($0.json(CatalogBatch<CatalogUpdate<CatalogSubscription>>.self), at: $0.place)
        },
        .silent("monetization.subscriptions.delete", .delete, "subscriptions/{productId}") {
            try $1.delete(CatalogSubscription.self, at: $0.place)
        },
        .answering("monetization.subscriptions.archive", .post, "subscriptions/{productId}:archive") {
            try $1.archive(at: $0.place)
        },
        .answering(
            "monetization.subscriptions.basePlans.activate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:activate"
        ) { try $1.change(.activate, at: $0.place) as CatalogSubscription },
        .answering(
            "monetization.subscriptions.basePlans.deactivate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:deactivate"
        ) { try $1.change(.deactivate, at: $0.place) as CatalogSubscription },
        .answering(
            "monetization.subscriptions.basePlans.batchUpdateStates", .post,
            "subscriptions/{productId}/basePlans:batchUpdateStates"
        ) { try $1.change($0.json(), at: $0.place) as CatalogList<CatalogSubscription> },
        .answering(
            "monetization.subscriptions.basePlans.migratePrices", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}:migratePrices"
        ) { try $1.migratePrices($0.json(PriceMigrationRequests.Migrate.self), at: $0.place) },
        .answering(
            "monetization.subscriptions.basePlans.batchMigratePrices", .post,
            "subscriptions/{productId}/basePlans:batchMigratePrices"
        ) { try $1.migratePrices($0.json(CatalogBatch<PriceMigrationRequests.Migrate>.self), at: $0.place) },
        .silent(
            "monetization.subscriptions.basePlans.delete", .delete, "subscriptions/{productId}/basePlans/{basePlanId}"
        ) { try $1.deleteBasePlan(at: $0.place) },
        .answering(
            "monetization.subscriptions.basePlans.offers.get", .get,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}"
        ) { try $1.found(at: $0.place) as CatalogOffer },
        .answering(
            "monetization.subscriptions.basePlans.offers.list", .get,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers"
        ) { try $1.list(at: $0.place, $0.parameters) as CatalogList<CatalogOffer> },
        .answering(
            "monetization.subscriptions.basePlans.offers.batchGet", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers:batchGet"
        ) { try $1.found($0.json(CatalogBatch<CatalogPlace>.self), at: $0.place) as CatalogList<CatalogOffer> },
        .answering(
            "monetization.subscriptions.basePlans.offers.create", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers"
        ) {
            var place = $0.place
            place.offerId = $0.parameters["offerId"]
            return try $1.create(
                $0.json(CatalogOffer.self), at: place, regionsVersion: $0.parameters["regionsVersion.version"])
        },
        .answering(
            "monetization.subscriptions.basePlans.offers.patch", .patch,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}"
        ) { try $1.update($0.update() as CatalogUpdate<CatalogOffer>, at: $0.place) },
        .answering(
            "monetization.subscriptions.basePlans.offers.batchUpdate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers:batchUpdate"
        ) { try $1.update($0.json(CatalogBatch<CatalogUpdate<CatalogOffer>>.self), at: $0.place) },
        .silent(
            "monetization.subscriptions.basePlans.offers.delete", .delete,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}"
        ) { try $1.delete(CatalogOffer.self, at: $0.place) },
        .answering(
            "monetization.subscriptions.basePlans.offers.activate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}:activate"
        ) { try $1.change(.activate, at: $0.place) as CatalogOffer },
        .answering(
            "monetization.subscriptions.basePlans.offers.deactivate", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers/{offerId}:deactivate"
        ) { try $1.change(.deactivate, at: $0.place) as CatalogOffer },
        .answering(
            "monetization.subscriptions.basePlans.offers.batchUpdateStates", .post,
            "subscriptions/{productId}/basePlans/{basePlanId}/offers:batchUpdateStates"
        ) { try $1.change($0.json(), at: $0.place) as CatalogList<CatalogOffer> },
        .answering("monetization.convertRegionPrices", .post, "pricing:convertRegionPrices") { call, _ in
            try RegionPrices.answer(to: call.json())
        },
    ]

    static let oneTimeProducts: [PublisherMethod] = [
        .answering("monetization.onetimeproducts.get", .get, "oneTimeProducts/{productId}") {
            try $1.found(at: $0.place) as OneTimeProduct
        },
        .answering("monetization.onetimeproducts.list", .get, "oneTimeProducts") {
            try $1.list(at: $0.place, $0.parameters) as CatalogList<OneTimeProduct>
        },
        .answering("monetization.onetimeproducts.batchGet", .get, "oneTimeProducts:batchGet") {
            try $1.found($0.parameters.all("productIds"), at: $0.place) as CatalogList<OneTimeProduct>
        },
        // Google spells this path alone in small letters.
        .answering("monetization.onetimeproducts.patch", .patch, "onetimeproducts/{productId}") {
            try $1.update($0.update() as CatalogUpdate<OneTimeProduct>, at: $0.place)
        },
        .answering("monetization.onetimeproducts.batchUpdate", .post, "oneTimeProducts:batchUpdate") {
            try $1.update($0.json(CatalogBatch<CatalogUpdate<OneTimeProduct>>.self), at: $0.place)
        },
        .silent("monetization.onetimeproducts.delete", .delete, "oneTimeProducts/{productId}") {
            try $1.delete(OneTimeProduct.self, at: $0.place)
        },
        .silent("monetization.onetimeproducts.batchDelete", .post, "oneTimeProducts:batchDelete") {
            try $1.delete(OneTimeProduct.self, $0.json(), at: $0.place)
        },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.batchUpdateStates", .post,
            "oneTimeProducts/{productId}/purchaseOptions:batchUpdateStates"
        ) { try $1.change($0.json(), at: $0.place) as CatalogList<OneTimeProduct> },
        .silent(
            "monetization.onetimeproducts.purchaseOptions.batchDelete", .post,
            "oneTimeProducts/{productId}/purchaseOptions:batchDelete"
        ) { try $1.deletePurchaseOptions($0.json(), at: $0.place) },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.list", .get,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers"
        ) { try $1.list(at: $0.place, $0.parameters) as CatalogList<OneTimeProductOffer> },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.batchGet", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers:batchGet"
        ) { try $1.found($0.json(CatalogBatch<CatalogPlace>.self), at: $0.place) as CatalogList<OneTimeProductOffer> },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.batchUpdate", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers:batchUpdate"
        ) { try $1.update($0.json(CatalogBatch<CatalogUpdate<OneTimeProductOffer>>.self), at: $0.place) },
        .silent(
            "monetization.onetimeproducts.purchaseOptions.offers.batchDelete", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers:batchDelete"
        ) { try $1.delete(OneTimeProductOffer.self, $0.json(), at: $0.place) },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.batchUpdateStates", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers:batchUpdateStates"
        ) { try $1.change($0.json(), at: $0.place) as CatalogList<OneTimeProductOffer> },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.activate", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers/{offerId}:activate"
        ) { try $1.change(.activate, at: $0.place) as OneTimeProductOffer },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.deactivate", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers/{offerId}:deactivate"
        ) { try $1.change(.deactivate, at: $0.place) as OneTimeProductOffer },
        .answering(
            "monetization.onetimeproducts.purchaseOptions.offers.cancel", .post,
            "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers/{offerId}:cancel"
        ) { try $1.change(.cancel, at: $0.place) as OneTimeProductOffer },
    ]

    static let inAppProducts: [PublisherMethod] = [
        .answering("inappproducts.get", .get, "inappproducts/{sku}") {
            try $1.inAppProduct($0.text("sku"), in: $0.packageName)
        },
        .answering("inappproducts.list", .get, "inappproducts") {
            try $1.inAppProducts(in: $0.packageName, $0.parameters)
        },
        .answering("inappproducts.batchGet", .get, "inappproducts:batchGet") {
            try $1.inAppProducts($0.parameters.all("sku"), in: $0.packageName)
        },
        .answering("inappproducts.insert", .post, "inappproducts") {
            try $1.insert(
                $0.json(), convertsMissing: $0.parameters.flag("autoConvertMissingPrices") ?? false, in: $0.packageName)
        },
        .answering("inappproducts.update", .put, "inappproducts/{sku}") {
            try $1.update($0.inAppProductUpdate(), isPatch: false, in: $0.packageName)
        },
        .answering("inappproducts.patch", .patch, "inappproducts/{sku}") {
            try $1.update($0.inAppProductUpdate(), isPatch: true, in: $0.packageName)
        },
        .silent("inappproducts.delete", .delete, "inappproducts/{sku}") {
            try $1.delete(sku: $0.text("sku"), in: $0.packageName)
        },
        .answering("inappproducts.batchUpdate", .post, "inappproducts:batchUpdate") {
            try $1.update($0.json(InAppProductRequests.BatchUpdate.self), in: $0.packageName)
        },
        .silent("inappproducts.batchDelete", .post, "inappproducts:batchDelete") {
            try $1.delete($0.json(InAppProductRequests.BatchDelete.self), in: $0.packageName)
        },
    ]
}
