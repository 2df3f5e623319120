/// A developer's statement about a payment that the customer's bank disputes (`OrdersReviewRefundRequest`).
package struct RefundReviewRequest: Codable, Hashable, Sendable {
    package enum Preference: String, Codable, Sendable {
        case decline = "DECLINE"
        case approve = "APPROVE"
        case neutral = "NEUTRAL"
    }

    package struct Location: Codable, Hashable, Sendable {
        package var regionCode: String?
        package var administrativeArea: String?
        package var locality: String?
        package var sublocality: String?
    }

    /// A use of what was sold.
    package struct UsageEvent: Codable, Hashable, Sendable {
        package var consumptionTime: DateTimeText?
        package var consumptionItemDescription: String?
        package var ipAddress: String?
        package var location: Location?
        package var obfuscatedAccountId: String?
        package var obfuscatedProfileId: String?
    }

    package var pendingRefundToken: String?
    /// A text, because a value that is unknown is refused with the name of the field.
    package var refundPreference: String?
    package var sampleContentProvided: Bool?
    /// The share that the customer has used, in thousandths of a percent.
    package var consumptionPercentageMilliunits: Int32?
    package var consumptionUsageEvents: [UsageEvent]?
}

extension RefundReviewRequest {
    /// The preference; nil if it is of no kind.
    package var preference: Preference? { refundPreference.flatMap { Preference(rawValue: $0) } }
}
