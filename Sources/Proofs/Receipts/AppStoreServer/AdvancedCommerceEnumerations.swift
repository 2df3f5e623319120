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
