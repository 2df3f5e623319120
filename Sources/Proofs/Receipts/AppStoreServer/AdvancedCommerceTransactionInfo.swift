/// The Advanced Commerce part of a signed transaction (`advancedCommerceInfo`; prices in milliunits).
final class AdvancedCommerceTransactionInfo: PayloadObject {
    let descriptors: AdvancedCommerceDescriptors?
    let estimatedTax: Int64?
    let items: [AdvancedCommerceTransactionItem]?
    let period: OpenEnumeration<AdvancedCommercePeriod>?
    let requestReferenceId: String?
    let taxCode: String?
    let taxExclusivePrice: Int64?
    let taxRate: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        descriptors = try fields.object("descriptors", AdvancedCommerceDescriptors.init)
        estimatedTax = try fields.integer("estimatedTax")
        items = try fields.objects("items", AdvancedCommerceTransactionItem.init)
        period = try fields.enumeration("period")
        requestReferenceId = try fields.string("requestReferenceId")
        taxCode = try fields.string("taxCode")
        taxExclusivePrice = try fields.integer("taxExclusivePrice")
        taxRate = try fields.string("taxRate")
    }
}

/// One item of an Advanced Commerce purchase (price in milliunits).
final class AdvancedCommerceTransactionItem: Sendable {
    let sku: String?
    let description: String?
    let displayName: String?
    let offer: AdvancedCommerceOffer?
    let price: Int64?
    let refunds: [AdvancedCommerceRefund]?
    let revocationDate: Timestamp?

    init(_ fields: PayloadFields) throws(PayloadError) {
        sku = try fields.string("sku")
        description = try fields.string("description")
        displayName = try fields.string("displayName")
        offer = try fields.object("offer", AdvancedCommerceOffer.init)
        price = try fields.integer("price")
        refunds = try fields.objects("refunds", AdvancedCommerceRefund.init)
        revocationDate = try fields.date("revocationDate")
    }
}

/// A refund of an item (amount in milliunits).
final class AdvancedCommerceRefund: Sendable {
    let refundAmount: Int64?
    let refundDate: Timestamp?
    let refundReason: OpenEnumeration<AdvancedCommerceRefundReason>?
    let refundType: OpenEnumeration<AdvancedCommerceRefundType>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        refundAmount = try fields.integer("refundAmount")
        refundDate = try fields.date("refundDate")
        refundReason = try fields.enumeration("refundReason")
        refundType = try fields.enumeration("refundType")
    }
}

/// The length of a period (Advanced Commerce API, `period`; ISO 8601 durations).
enum AdvancedCommercePeriod: String, Sendable, CaseIterable {
    case oneWeek = "P1W"
    case oneMonth = "P1M"
    case twoMonths = "P2M"
    case threeMonths = "P3M"
    case sixMonths = "P6M"
    case oneYear = "P1Y"
}

/// The length of an offer (Advanced Commerce API, `offerPeriod`; ISO 8601 durations).
enum AdvancedCommerceOfferPeriod: String, Sendable, CaseIterable {
    case threeDays = "P3D"
    case oneWeek = "P1W"
    case twoWeeks = "P2W"
    case oneMonth = "P1M"
    case twoMonths = "P2M"
    case threeMonths = "P3M"
    case sixMonths = "P6M"
    case nineMonths = "P9M"
    case oneYear = "P1Y"
}

/// The reason for an offer (Advanced Commerce API, `reason`).
enum AdvancedCommerceOfferReason: String, Sendable, CaseIterable {
    case acquisition = "ACQUISITION"
    case winBack = "WIN_BACK"
    case retention = "RETENTION"
}

/// The status of a price increase (Advanced Commerce API, `status`).
enum AdvancedCommercePriceIncreaseInfoStatus: String, Sendable, CaseIterable {
    case scheduled = "SCHEDULED"
    case pending = "PENDING"
    case accepted = "ACCEPTED"
}

/// The reason for the refund of an item (Advanced Commerce API, `refundReason`).
enum AdvancedCommerceRefundReason: String, Sendable, CaseIterable {
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    case legal = "LEGAL"
    case other = "OTHER"
    case modifyItemsRefund = "MODIFY_ITEMS_REFUND"
    case simulateRefundDecline = "SIMULATE_REFUND_DECLINE"
}

/// The extent of the refund of an item (Advanced Commerce API, `refundType`).
enum AdvancedCommerceRefundType: String, Sendable, CaseIterable {
    case full = "FULL"
    case prorated = "PRORATED"
    case custom = "CUSTOM"
}

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

/// The Advanced Commerce part of signed renewal information (`advancedCommerceInfo`).
final class AdvancedCommerceRenewalInfo: PayloadObject {
    let consistencyToken: String?
    let descriptors: AdvancedCommerceDescriptors?
    let items: [AdvancedCommerceRenewalItem]?
    let period: OpenEnumeration<AdvancedCommercePeriod>?
    let requestReferenceId: String?
    let taxCode: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        consistencyToken = try fields.string("consistencyToken")
        descriptors = try fields.object("descriptors", AdvancedCommerceDescriptors.init)
        items = try fields.objects("items", AdvancedCommerceRenewalItem.init)
        period = try fields.enumeration("period")
        requestReferenceId = try fields.string("requestReferenceId")
        taxCode = try fields.string("taxCode")
    }
}

/// One item of an Advanced Commerce subscription (price in milliunits).
final class AdvancedCommerceRenewalItem: Sendable {
    let sku: String?
    let description: String?
    let displayName: String?
    let offer: AdvancedCommerceOffer?
    let price: Int64?
    let priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

    init(_ fields: PayloadFields) throws(PayloadError) {
        sku = try fields.string("sku")
        description = try fields.string("description")
        displayName = try fields.string("displayName")
        offer = try fields.object("offer", AdvancedCommerceOffer.init)
        price = try fields.integer("price")
        priceIncreaseInfo = try fields.object("priceIncreaseInfo", AdvancedCommercePriceIncreaseInfo.init)
    }
}

/// A price increase of an item (price in milliunits).
final class AdvancedCommercePriceIncreaseInfo: Sendable {
    let dependentSKUs: [String]?
    let price: Int64?
    let status: OpenEnumeration<AdvancedCommercePriceIncreaseInfoStatus>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        dependentSKUs = try fields.strings("dependentSKUs")
        price = try fields.integer("price")
        status = try fields.enumeration("status")
    }
}
