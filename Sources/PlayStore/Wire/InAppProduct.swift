/// A product in the older catalog of the API (`InAppProduct`): a one-time product with one price for each region.
package struct InAppProduct: Codable, Hashable, Sendable {
    package struct Listing: Codable, Hashable, Sendable {
        package var title: String?
        package var description: String?
    }

    package var packageName: String?
    package var sku: String?
    /// `active` or `inactive`.
    package var status: String?
    /// `managedUser`. Subscriptions have an API of their own.
    package var purchaseType: String?
    package var defaultPrice: ExternalTransaction.Amount?
    package var prices: [String: ExternalTransaction.Amount]?
    package var listings: [String: Listing]?
    package var defaultLanguage: String?
}

/// The bodies of the batches of the older catalog, and its answers.
package enum InAppProductRequests {
    package struct Update: Codable, Sendable {
        package var inappproduct: InAppProduct?
        package var packageName: String?
        package var sku: String?
        package var allowMissing: Bool?
        package var autoConvertMissingPrices: Bool?
    }

    package struct BatchUpdate: Codable, Sendable {
        package var requests: [Update]?
    }

    package struct BatchUpdated: Codable, Sendable {
        package var inappproducts: [InAppProduct]?
    }

    package struct Delete: Codable, Sendable {
        package var packageName: String?
        package var sku: String?
    }

    package struct BatchDelete: Codable, Sendable {
        package var requests: [Delete]?
    }

    package struct Page: Codable, Sendable {
        package static let kind = "androidpublisher#inappproductsListResponse"

        package var kind: String?
        package var inappproduct: [InAppProduct]?
        package var tokenPagination: VoidedPurchaseList.TokenPagination?
    }

    package struct Batch: Codable, Sendable {
        package var inappproduct: [InAppProduct]?
    }
}
