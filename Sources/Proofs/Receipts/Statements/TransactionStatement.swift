import Foundation

/// A store's statement about a transaction (App Store Server API, `JWSTransactionDecodedPayload`).
public struct TransactionStatement: Sendable {
    public var transactionIdentifier: String
    public var originalTransactionIdentifier: String
    public var webOrderLineItemIdentifier: String?
    public var bundleIdentifier: String
    public var productIdentifier: String
    public var subscriptionGroupIdentifier: String?
    public var purchaseDate: Timestamp
    public var originalPurchaseDate: Timestamp
    public var expiresDate: Timestamp?
    public var quantity: Int
    public var type: ProductType
    public var appAccountToken: UUID?
    public var ownership: InAppOwnershipType
    public var reason: TransactionReason
    public var price: Price
    public var offer: OfferStatement?
    public var isUpgraded: Bool
    public var revocation: Revocation?
    public var environment: AppStoreEnvironment
    public var storefront: Storefront
    /// Apple's identifier of the account's download of the app.
    public var appTransactionIdentifier: String

    /// The revocation of a purchase.
    public struct Revocation: Hashable, Sendable, Codable {
        public let date: Timestamp
        public let reason: RevocationReason
        public let type: RevocationType

        public init(date: Timestamp, reason: RevocationReason, type: RevocationType) {
            self.date = date
            self.reason = reason
            self.type = type
        }
    }

    public init(
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        webOrderLineItemIdentifier: String? = nil,
        bundleIdentifier: String,
        productIdentifier: String,
        subscriptionGroupIdentifier: String? = nil,
        purchaseDate: Timestamp,
        originalPurchaseDate: Timestamp,
        expiresDate: Timestamp? = nil,
        quantity: Int = 1,
        type: ProductType,
        appAccountToken: UUID? = nil,
        ownership: InAppOwnershipType = .purchased,
        reason: TransactionReason = .purchase,
        price: Price,
        offer: OfferStatement? = nil,
        isUpgraded: Bool = false,
        revocation: Revocation? = nil,
        environment: AppStoreEnvironment,
        storefront: Storefront,
        appTransactionIdentifier: String
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.webOrderLineItemIdentifier = webOrderLineItemIdentifier
        self.bundleIdentifier = bundleIdentifier
        self.productIdentifier = productIdentifier
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.expiresDate = expiresDate
        self.quantity = quantity
        self.type = type
        self.appAccountToken = appAccountToken
        self.ownership = ownership
        self.reason = reason
        self.price = price
        self.offer = offer
        self.isUpgraded = isUpgraded
        self.revocation = revocation
        self.environment = environment
        self.storefront = storefront
        self.appTransactionIdentifier = appTransactionIdentifier
    }

    public func statement(at signedDate: Timestamp) -> SignedStatement {
        var fields = StatementFields()
        fields.set("transactionId", transactionIdentifier)
        fields.set("originalTransactionId", originalTransactionIdentifier)
        fields.set("webOrderLineItemId", webOrderLineItemIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("productId", productIdentifier)
        fields.set("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        fields.set("purchaseDate", purchaseDate)
        fields.set("originalPurchaseDate", originalPurchaseDate)
        fields.set("expiresDate", expiresDate)
        fields.set("quantity", quantity)
        fields.set("type", type)
        fields.set("appAccountToken", appAccountToken)
        fields.set("inAppOwnershipType", ownership)
        fields.set("signedDate", signedDate)
        fields.set("revocationReason", revocation?.reason)
        fields.set("revocationDate", revocation?.date)
        fields.set("revocationType", revocation?.type)
        fields.set("isUpgraded", isUpgraded ? true : nil)
        offer?.write(to: &fields)
        fields.set("environment", environment)
        fields.set("transactionReason", reason)
        fields.set("storefront", storefront.countryCode)
        fields.set("storefrontId", storefront.identifier)
        fields.set("price", price.milliunits)
        fields.set("currency", price.currency)
        fields.set("appTransactionId", appTransactionIdentifier)
        return SignedStatement(fields: fields.object)
    }
}
