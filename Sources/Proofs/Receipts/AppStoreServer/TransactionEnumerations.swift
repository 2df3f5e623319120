/// The customer's relationship to a purchase (App Store Server API, `inAppOwnershipType`).
public enum InAppOwnershipType: String, Sendable, CaseIterable, Codable {
    case familyShared = "FAMILY_SHARED"
    case purchased = "PURCHASED"
    /// A seat of a purchase that another customer has paid for.
    case assigned = "ASSIGNED"
}

/// The reason for a revocation (App Store Server API, `revocationReason`).
public enum RevocationReason: Int, Sendable, CaseIterable, Codable {
    case refundedForOtherReason = 0
    case refundedDueToIssue = 1
}

/// The extent of a revocation (App Store Server API, `revocationType`).
public enum RevocationType: String, Sendable, CaseIterable, Codable {
    case refundFull = "REFUND_FULL"
    case refundProrated = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
}

/// The payment mode of an offer (App Store Server API, `offerDiscountType`).
public enum OfferDiscountType: String, Sendable, CaseIterable, Codable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// The cause of a transaction (App Store Server API, `transactionReason`).
public enum TransactionReason: String, Sendable, CaseIterable, Codable {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"
}

/// The host of the invitations to seats (App Store Server API, `invitationManagement`).
public enum InvitationManagement: String, Sendable, CaseIterable, Codable {
    case apple = "APPLE"
    case developer = "DEVELOPER"
}

/// The platform of the app's original purchase (App Store Server API, `originalPlatform`).
public enum PurchasePlatform: String, Sendable, CaseIterable, Codable {
    case iOS = "iOS"
    case macOS = "macOS"
    case tvOS = "tvOS"
    case visionOS = "visionOS"
}

/// The seats of a purchase (`multiSeatInfo` of a transaction).
public final class TransactionMultiSeatInfo: PayloadObject {
    public let invitationManagement: OpenEnumeration<InvitationManagement>?
    public let priceTiers: [MultiSeatPriceTier]?
    /// The number of seats that the App Store has refunded. The transaction stays valid for the others.
    public let revokedSeatQuantity: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        invitationManagement = try fields.enumeration("invitationManagement")
        priceTiers = try fields.objects("priceTiers", MultiSeatPriceTier.init)
        revokedSeatQuantity = try fields.integer("revokedSeatQuantity")
    }
}

/// The seats of the next period of a subscription (`multiSeatInfo` of renewal information).
public final class RenewalMultiSeatInfo: PayloadObject {
    public let renewalPriceTiers: [MultiSeatPriceTier]?

    init(_ fields: PayloadFields) throws(PayloadError) {
        renewalPriceTiers = try fields.objects("renewalPriceTiers", MultiSeatPriceTier.init)
    }
}

/// The seats at one price, in milliunits of the currency for each (`priceTiers`, `renewalPriceTiers`).
public final class MultiSeatPriceTier: Sendable {
    public let price: Int64
    public let quantity: Int64

    init(_ fields: PayloadFields) throws(PayloadError) {
        price = try fields.requiredInteger("price")
        quantity = try fields.requiredInteger("quantity")
    }
}
