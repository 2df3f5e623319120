/// The display name and the description of a purchase.
public final class AdvancedCommerceDescriptors: Sendable {
    public let description: String
    public let displayName: String

    init(_ fields: PayloadFields) throws(PayloadError) {
        description = try fields.requiredString("description")
        displayName = try fields.requiredString("displayName")
    }
}

/// An offer on an item (price in milliunits).
public final class AdvancedCommerceOffer: Sendable {
    public let period: OpenEnumeration<AdvancedCommerceOfferPeriod>
    public let periodCount: Int64
    public let price: Int64
    public let reason: OpenEnumeration<AdvancedCommerceOfferReason>

    init(_ fields: PayloadFields) throws(PayloadError) {
        period = try fields.requiredEnumeration("period")
        periodCount = try fields.requiredInteger("periodCount")
        price = try fields.requiredInteger("price")
        reason = try fields.requiredEnumeration("reason")
    }
}
