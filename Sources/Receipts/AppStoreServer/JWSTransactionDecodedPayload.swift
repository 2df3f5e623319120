import Commerce
import Foundation
import StrictJSON

/// A signed transaction (App Store Server API, `JWSTransactionDecodedPayload`).
public final class JWSTransactionDecodedPayload: Sendable {
    public let transactionId: String
    /// The original transaction. If Apple names none, the transaction itself.
    public let originalTransactionId: String
    public let webOrderLineItemId: String?
    public let bundleId: String
    public let productId: String
    public let subscriptionGroupIdentifier: String?
    public let purchaseDate: Timestamp
    public let originalPurchaseDate: Timestamp?
    public let expiresDate: Timestamp?
    public let quantity: Int
    public let type: OpenEnumeration<ProductType>?
    public let appAccountToken: UUID?
    public let inAppOwnershipType: OpenEnumeration<InAppOwnershipType>?
    public let signedDate: Timestamp
    public let revocationReason: OpenEnumeration<RevocationReason>?
    public let revocationDate: Timestamp?
    public let revocationType: OpenEnumeration<RevocationType>?
    /// The percentage in thousandths, as Apple sends it.
    public let revocationPercentage: Int64?
    public let isUpgraded: Bool?
    public let offerType: OpenEnumeration<OfferType>?
    public let offerIdentifier: String?
    public let offerDiscountType: OpenEnumeration<OfferDiscountType>?
    /// An ISO 8601 duration.
    public let offerPeriod: String?
    public let environment: String
    public let storefront: String?
    public let storefrontId: String?
    public let transactionReason: OpenEnumeration<TransactionReason>?
    public let currency: String?
    /// The price in milliunits of the currency: of the whole quantity, or of one seat on average.
    public let price: Int64?
    public let appTransactionId: String?
    public let billingPlanType: OpenEnumeration<BillingPlanType>?
    public let commitmentInfo: TransactionCommitmentInfo?
    public let advancedCommerceInfo: AdvancedCommerceTransactionInfo?
    public let multiSeatInfo: TransactionMultiSeatInfo?
    public let additionalTransactionReason: OpenEnumeration<AdditionalTransactionReason>?
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    /// The optional fields that a decision about a purchase without an end needs.
    private static let deciding: Set = ["originalTransactionId", "revocationDate", "inAppOwnershipType"]
    /// The same for a subscription. Without its end, the customer would get nothing for the price.
    private static let decidingOfSubscription = deciding.union(["expiresDate"])
    private static let typesWithoutEnd: [ProductType] = [.consumable, .nonConsumable, .nonRenewingSubscription]

    init(_ fields: PayloadFields) throws(PayloadError) {
        type = try fields.enumeration("type")
        let isEndless = if case .known(let type) = type { Self.typesWithoutEnd.contains(type) } else { false }
        let fields = fields.deciding(isEndless ? Self.deciding : Self.decidingOfSubscription)
        transactionId = try fields.requiredString("transactionId")
        originalTransactionId = try fields.string("originalTransactionId") ?? transactionId
        webOrderLineItemId = try fields.string("webOrderLineItemId")
        bundleId = try fields.requiredString("bundleId")
        productId = try fields.requiredString("productId")
        subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
        purchaseDate = try fields.requiredDate("purchaseDate")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        expiresDate = try fields.date("expiresDate")
        quantity = try fields.quantity("quantity")
        appAccountToken = try fields.uuid("appAccountToken")
        inAppOwnershipType = try fields.enumeration("inAppOwnershipType")
        signedDate = try fields.requiredDate("signedDate")
        revocationReason = try fields.enumeration("revocationReason")
        revocationDate = try fields.date("revocationDate")
        revocationType = try fields.enumeration("revocationType")
        revocationPercentage = try fields.integer("revocationPercentage")
        isUpgraded = try fields.bool("isUpgraded")
        offerType = try fields.enumeration("offerType")
        offerIdentifier = try fields.string("offerIdentifier")
        offerDiscountType = try fields.enumeration("offerDiscountType")
        offerPeriod = try fields.string("offerPeriod")
        environment = try fields.requiredString("environment")
        storefront = try fields.string("storefront")
        storefrontId = try fields.string("storefrontId")
        transactionReason = try fields.enumeration("transactionReason")
        currency = try fields.string("currency")
        price = try fields.integer("price")
        appTransactionId = try fields.string("appTransactionId")
        billingPlanType = try fields.enumeration("billingPlanType")
        commitmentInfo = try fields.object("commitmentInfo", TransactionCommitmentInfo.init)
        advancedCommerceInfo = try fields.object("advancedCommerceInfo", AdvancedCommerceTransactionInfo.init)
        multiSeatInfo = try fields.object("multiSeatInfo", TransactionMultiSeatInfo.init)
        additionalTransactionReason = try fields.enumeration("additionalTransactionReason")
        self.fields = fields.object
    }
}
