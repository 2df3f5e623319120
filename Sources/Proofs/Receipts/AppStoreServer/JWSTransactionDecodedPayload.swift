import Foundation

/// A signed transaction (App Store Server API, `JWSTransactionDecodedPayload`).
public final class JWSTransactionDecodedPayload: Sendable {
    public let transactionId: String
    /// The original transaction. If Apple names none, the transaction itself.
    public let originalTransactionId: String
    public let bundleId: String
    public let productId: String
    public let purchaseDate: Timestamp
    public let quantity: Int
    public let signedDate: Timestamp
    /// The reason for a revocation in Apple's numbers (`RevocationReason`).
    public let revocationReason: Int64?
    public let revocationDate: Timestamp?
    public let environment: String
    /// The other known fields, and some of these.
    public let facts: TransactionFacts
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    /// The optional fields that a decision about a purchase without an end needs.
    private static let deciding: Set = ["originalTransactionId", "revocationDate", "inAppOwnershipType"]
    /// The same for a subscription. Without its end, the customer would get nothing for the price.
    private static let decidingOfSubscription = deciding.union(["expiresDate"])
    private static let typesWithoutEnd: [ProductType] = [.consumable, .nonConsumable, .nonRenewingSubscription]

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        let type = try fields.string("type").flatMap(ProductType.init)
        let isEndless = type.map(Self.typesWithoutEnd.contains) ?? false
        let fields = fields.deciding(isEndless ? Self.deciding : Self.decidingOfSubscription)
        transactionId = try fields.requiredString("transactionId")
        originalTransactionId = try fields.string("originalTransactionId") ?? transactionId
        bundleId = try fields.requiredString("bundleId")
        productId = try fields.requiredString("productId")
        purchaseDate = try fields.requiredDate("purchaseDate")
        quantity = try fields.quantity("quantity")
        signedDate = try fields.requiredDate("signedDate")
        revocationReason = try fields.integer("revocationReason")
        revocationDate = try fields.date("revocationDate")
        environment = try fields.requiredString("environment")
        var facts = try TransactionFacts(fields)
        // The revocation of an upgraded period is no revocation. The refund keeps the date.
        let revocation = facts.text(.revocationType).flatMap(RevocationType.init)
        if revocation == .refundFull || revocation == .refundProrated { facts[.refundedAt] = .init(revocationDate) }
        self.facts = facts
        self.fields = fields.object
    }
}

/// Signed renewal information of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
public final class JWSRenewalInfoDecodedPayload: Sendable {
    public let originalTransactionId: String
    public let signedDate: Timestamp
    public let environment: String
    /// The other known fields, and the environment.
    public let facts: RenewalFacts
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        // The end of a grace period decides what the customer owns.
        let fields = fields.deciding(["gracePeriodExpiresDate"])
        originalTransactionId = try fields.requiredString("originalTransactionId")
        signedDate = try fields.requiredDate("signedDate")
        environment = try fields.requiredString("environment")
        facts = try RenewalFacts(fields)
        self.fields = fields.object
    }
}

/// A signed app transaction: the purchase of the app itself (StoreKit, `AppTransaction`).
public final class AppTransaction: Sendable {
    public let bundleId: String
    /// The environment. App transactions use this field name.
    public let receiptType: String
    public let receiptCreationDate: Timestamp
    public let appAppleId: Int64?
    public let applicationVersion: String?
    public let versionExternalIdentifier: Int64?
    public let originalPurchaseDate: Timestamp?
    public let originalApplicationVersion: String?
    public let deviceVerification: String?
    public let deviceVerificationNonce: UUID?
    public let preorderDate: Timestamp?
    public let appTransactionId: String?
    /// The platform of the original purchase, such as a `PurchasePlatform`.
    public let originalPlatform: String?
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        let fields = fields.deciding(["appAppleId"])
        bundleId = try fields.requiredString("bundleId")
        receiptType = try fields.requiredString("receiptType")
        receiptCreationDate = try fields.requiredDate("receiptCreationDate")
        appAppleId = try fields.integer("appAppleId")
        applicationVersion = try fields.string("applicationVersion")
        versionExternalIdentifier = try fields.integer("versionExternalIdentifier")
        originalPurchaseDate = try fields.date("originalPurchaseDate")
        originalApplicationVersion = try fields.string("originalApplicationVersion")
        deviceVerification = try fields.string("deviceVerification")
        deviceVerificationNonce = try fields.uuid("deviceVerificationNonce")
        preorderDate = try fields.date("preorderDate")
        appTransactionId = try fields.string("appTransactionId")
        originalPlatform = try fields.string("originalPlatform")
        self.fields = fields.object
    }
}

/// The platform of the app's original purchase (App Store Server API, `originalPlatform`).
public enum PurchasePlatform: String, Sendable, CaseIterable, Codable {
    case iOS = "iOS"
    case macOS = "macOS"
    case tvOS = "tvOS"
    case visionOS = "visionOS"
}
