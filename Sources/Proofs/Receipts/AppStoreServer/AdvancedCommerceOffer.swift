/// The display name and the description of a purchase.
final class AdvancedCommerceDescriptors: Sendable {
    let description: String
    let displayName: String

    init(_ fields: PayloadFields) throws(PayloadError) {
        description = try fields.requiredString("description")
        displayName = try fields.requiredString("displayName")
    }
}

/// An offer on an item (price in milliunits).
final class AdvancedCommerceOffer: Sendable {
    let period: OpenEnumeration<AdvancedCommerceOfferPeriod>
    let periodCount: Int64
    let price: Int64
    let reason: OpenEnumeration<AdvancedCommerceOfferReason>

    init(_ fields: PayloadFields) throws(PayloadError) {
        period = try fields.requiredEnumeration("period")
        periodCount = try fields.requiredInteger("periodCount")
        price = try fields.requiredInteger("price")
        reason = try fields.requiredEnumeration("reason")
    }
}
