/// The methods on one kind of resources of a catalog, by the resource's place in the names and in the paths of Google.
private struct CatalogMethods<Resource: CatalogRules> {
    /// The name before that of each method: `monetization.subscriptions`.
    let name: String
    /// The path of the list: `subscriptions`.
    let list: String
    /// The name in the path of one resource: `productId`.
    let identifier: String
    /// The name and the path of the parts whose states change. Those of an offer are its own.
    var parts: (name: String, path: String)?

    private var one: String { "\(list)/{\(identifier)}" }

    var get: PublisherMethod {
        .answering("\(name).get", .get, one) { try $1.found(at: $0.place) as Resource }
    }

    var listing: PublisherMethod {
        .answering("\(name).list", .get, list) { try $1.list(at: $0.place, $0.parameters) as CatalogList<Resource> }
    }

    /// Of products, which a query names.
    var batchGetByQuery: PublisherMethod {
        .answering("\(name).batchGet", .get, "\(list):batchGet") {
            try $1.found($0.parameters.all("productIds"), at: $0.place) as CatalogList<Resource>
        }
    }

    /// Of offers, which a body names.
    var batchGet: PublisherMethod {
        .answering("\(name).batchGet", .post, "\(list):batchGet") {
            try $1.found($0.json(CatalogBatch<CatalogPlace>.self), at: $0.place) as CatalogList<Resource>
        }
    }

    /// The query has the identifier of the new resource.
    func create(_ path: WritableKeyPath<CatalogPlace, String?> & Sendable) -> PublisherMethod {
        .answering("\(name).create", .post, list) { [identifier] in
            var place = $0.place
            place[keyPath: path] = $0.parameters[identifier]
            return try $1.create(
                $0.json(Resource.self), at: place, regionsVersion: $0.parameters["regionsVersion.version"])
        }
    }

    /// - Parameter path: The path, if it is another than that of the resource.
    func patch(at path: String? = nil) -> PublisherMethod {
        .answering("\(name).patch", .patch, path ?? one) {
            try $1.update($0.update() as CatalogUpdate<Resource>, at: $0.place)
        }
    }

    var batchUpdate: PublisherMethod {
        .answering("\(name).batchUpdate", .post, "\(list):batchUpdate") {
            try $1.update($0.json(CatalogBatch<CatalogUpdate<Resource>>.self), at: $0.place)
        }
    }

    var delete: PublisherMethod {
        .silent("\(name).delete", .delete, one) { try $1.delete(Resource.self, at: $0.place) }
    }

    var batchDelete: PublisherMethod {
        .silent("\(name).batchDelete", .post, "\(list):batchDelete") {
            try $1.delete(Resource.self, $0.json(), at: $0.place)
        }
    }

    /// `activate`, `deactivate` or `cancel`.
    func change(_ action: CatalogAction) -> PublisherMethod {
        let (name, path) = parts.map { ("\(self.name).\($0.name)", "\(one)/\($0.name)/{\($0.path)}") } ?? (name, one)
        return .answering("\(name).\(action.rawValue)", .post, "\(path):\(action.rawValue)") {
            try $1.change(action, at: $0.place) as Resource
        }
    }

    var batchUpdateStates: PublisherMethod {
        let (name, path) = parts.map { ("\(self.name).\($0.name)", "\(one)/\($0.name)") } ?? (name, list)
        return .answering("\(name).batchUpdateStates", .post, "\(path):batchUpdateStates") {
            try $1.change($0.json(), at: $0.place) as CatalogList<Resource>
        }
    }
}

/// The methods on the products of a catalog.
extension PublisherMethod {
    static var subscriptionProducts: [PublisherMethod] {
        let products = CatalogMethods<CatalogSubscription>(
            name: "monetization.subscriptions", list: "subscriptions", identifier: "productId",
            parts: ("basePlans", "basePlanId"))
        let (plans, plansPath) = ("monetization.subscriptions.basePlans", "subscriptions/{productId}/basePlans")
        let offers = CatalogMethods<CatalogOffer>(
            name: "\(plans).offers", list: "\(plansPath)/{basePlanId}/offers", identifier: "offerId")
        return [
            products.get, products.listing, products.batchGetByQuery, products.create(\.productId), products.patch(),
            products.batchUpdate, products.delete,
            .answering("monetization.subscriptions.archive", .post, "subscriptions/{productId}:archive") {
                try $1.archive(at: $0.place)
            },
            products.change(.activate), products.change(.deactivate), products.batchUpdateStates,
            .answering("\(plans).migratePrices", .post, "\(plansPath)/{basePlanId}:migratePrices") {
                try $1.migratePrices($0.json(PriceMigrationRequests.Migrate.self), at: $0.place)
            },
            .answering("\(plans).batchMigratePrices", .post, "\(plansPath):batchMigratePrices") {
                try $1.migratePrices($0.json(CatalogBatch<PriceMigrationRequests.Migrate>.self), at: $0.place)
            },
            .silent("\(plans).delete", .delete, "\(plansPath)/{basePlanId}") { try $1.deleteBasePlan(at: $0.place) },
            offers.get, offers.listing, offers.batchGet, offers.create(\.offerId), offers.patch(), offers.batchUpdate,
            offers.delete, offers.change(.activate), offers.change(.deactivate), offers.batchUpdateStates,
            .answering("monetization.convertRegionPrices", .post, "pricing:convertRegionPrices") { call, _ in
                try RegionPrices.answer(to: call.json())
            },
        ]
    }

    static var oneTimeProducts: [PublisherMethod] {
        let products = CatalogMethods<OneTimeProduct>(
            name: "monetization.onetimeproducts", list: "oneTimeProducts", identifier: "productId",
            parts: ("purchaseOptions", "purchaseOptionId"))
        let (options, optionsPath) = (
            "monetization.onetimeproducts.purchaseOptions", "oneTimeProducts/{productId}/purchaseOptions"
        )
        let offers = CatalogMethods<OneTimeProductOffer>(
            name: "\(options).offers", list: "\(optionsPath)/{purchaseOptionId}/offers", identifier: "offerId")
        return [
            products.get, products.listing, products.batchGetByQuery,
            // Google spells this path alone in small letters.
            products.patch(at: "onetimeproducts/{productId}"), products.batchUpdate, products.delete,
            products.batchDelete, products.batchUpdateStates,
            .silent("\(options).batchDelete", .post, "\(optionsPath):batchDelete") {
                try $1.deletePurchaseOptions($0.json(), at: $0.place)
            },
            offers.listing, offers.batchGet, offers.batchUpdate, offers.batchDelete, offers.batchUpdateStates,
            offers.change(.activate), offers.change(.deactivate), offers.change(.cancel),
        ]
    }

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
