import Proofs

/// The methods of the API on the parts of products: base plans and purchase options.
extension PlayBooks {
    /// `monetization.subscriptions.basePlans.delete`: of a draft alone, with its offers.
    func deleteBasePlan(at place: CatalogPlace) throws {
        var product: CatalogSubscription = try found(at: place)
        let index = try product.index(ofPlan: place.basePlanId)
        guard let plan = product.basePlans?.remove(at: index), plan.state == .draft else {
            throw PublisherError.failedPrecondition("Only a draft of a base plan can be deleted.")
        }
        try keep(product)
        try removeOffers(
            CatalogOffer.self, under: product.levels + [plan.basePlanId ?? ""], of: place.packageName ?? "")
    }

    /// `monetization.subscriptions.archive`. Google does not support it anymore.
    func archive(at place: CatalogPlace) throws -> CatalogSubscription {
        _ = try found(at: place) as CatalogSubscription
        throw PublisherError.failedPrecondition("Subscription archiving is not supported.")
    }

    /// `monetization.onetimeproducts.purchaseOptions.batchDelete`: all requests, or none. An option with offers is deleted by force.
    func deletePurchaseOptions(_ batch: CatalogBatch<CatalogPlace>, at place: CatalogPlace) throws {
        for place in try places(batch, at: place, of: OneTimeProduct.self) {
            var product: OneTimeProduct = try found(at: place)
            let index = try product.index(ofOption: place.purchaseOptionId)
            let levels = product.levels + [place.purchaseOptionId ?? ""]
            let (offers, packageName) = (OneTimeProductOffer.self, place.packageName ?? "")
            guard try place.force == true || countOffers(offers, under: levels, of: packageName) == 0 else {
                throw PublisherError.failedPrecondition("The purchase option has offers. Delete them, or use force.")
            }
            product.purchaseOptions?.remove(at: index)
            guard product.purchaseOptions?.isEmpty == false else {
                throw PublisherError.failedPrecondition("A product needs a purchase option. Delete the product.")
            }
            try keep(product)
            try removeOffers(offers, under: levels, of: packageName)
        }
    }
}
