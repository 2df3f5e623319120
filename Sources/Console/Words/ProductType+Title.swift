import Proofs

extension ProductType {
    /// The name of the type, as in App Store Connect.
    package var title: Phrase { Phrase(stated: rawValue.prefix(1) + rawValue.dropFirst().lowercased()) }
}

extension ConsumptionRequestReason {
    /// The reason of a customer for a refund request.
    var title: Phrase {
        switch self {
        case .unintendedPurchase: "Bought by mistake"
        case .fulfillmentIssue: "Did not get what was bought"
        case .unsatisfiedWithPurchase: "Not satisfied"
        case .legal: "A legal reason"
        case .other: "Another reason"
        }
    }
}

extension SubscriptionOffer.Kind {
    var title: Phrase {
        switch self {
        case .introductory: "Introductory offer"
        case .promotional: "Promotional offer"
        case .offerCode: "Offer code"
        case .winBack: "Win-back offer"
        }
    }
}

extension SubscriptionPeriod {
    /// The length of a number of periods, such as "3 months".
    func words(times count: Int = 1) -> Phrase {
        let number = value * count
        let plural = number == 1 ? "" : "s"
        return switch unit {
        case .day: "\(number) day\(plural)"
        case .week: "\(number) week\(plural)"
        case .month: "\(number) month\(plural)"
        case .year: "\(number) year\(plural)"
        }
    }
}
