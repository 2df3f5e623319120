/// The state of a one-time purchase in the first version of the API (`ProductPurchase`).
package struct ProductPurchase: Codable, Hashable, Sendable {
    /// Google documents no value of `kind`. This one follows the names of the others.
    package static let kind = "androidpublisher#productPurchase"

    package var kind: String?
    package var purchaseTimeMillis: Int64Text?
    /// 0 purchased, 1 canceled, 2 pending.
    package var purchaseState: Int32?
    /// 0 not consumed, 1 consumed.
    package var consumptionState: Int32?
    /// 0 not acknowledged, 1 acknowledged.
    package var acknowledgementState: Int32?
    /// 0 a license tester, 1 a promotion code, 2 a rewarded ad; nil for any other purchase.
    package var purchaseType: Int32?
    package var orderId: String?
    package var productId: String?
    package var purchaseToken: String?
    package var developerPayload: String?
    package var quantity: Int32?
    package var refundableQuantity: Int32?
    package var obfuscatedExternalAccountId: String?
    package var obfuscatedExternalProfileId: String?
    package var regionCode: String?
}

/// The state of a one-time purchase with its line items (`ProductPurchaseV2`).
///
/// Enumerations are texts, because Google adds values.
package struct ProductPurchaseV2: Codable, Hashable, Sendable {
    /// Google documents no value of `kind`. This one follows the names of the others.
    package static let kind = "androidpublisher#productPurchaseV2"

    package struct LineItem: Codable, Hashable, Sendable {
        package var productId: String?
        package var productOfferDetails: OfferDetails?
    }

    package struct OfferDetails: Codable, Hashable, Sendable {
        package var purchaseOptionId: String?
        package var offerId: String?
        package var offerTags: [String]?
        package var offerToken: String?
        package var quantity: Int32?
        package var refundableQuantity: Int32?
        /// `CONSUMPTION_STATE_YET_TO_BE_CONSUMED` or `CONSUMPTION_STATE_CONSUMED`.
        package var consumptionState: String?
    }

    package struct StateContext: Codable, Hashable, Sendable {
        /// `PURCHASED`, `CANCELLED` or `PENDING`.
        package var purchaseState: String?
    }

    package struct TestContext: Codable, Hashable, Sendable {
        /// `TEST`.
        package var fopType: String?
    }

    package var kind: String?
    package var productLineItem: [LineItem]?
    package var purchaseStateContext: StateContext?
    /// `ACKNOWLEDGEMENT_STATE_PENDING` or `ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED`.
    package var acknowledgementState: String?
    /// Nil until the purchase is paid.
    package var purchaseCompletionTime: DateTimeText?
    package var testPurchaseContext: TestContext?
    package var orderId: String?
    package var regionCode: String?
    package var obfuscatedExternalAccountId: String?
    package var obfuscatedExternalProfileId: String?
}

/// The body of an acknowledgement.
package struct AcknowledgeRequest: Codable, Sendable {
    package var developerPayload: String?
}
