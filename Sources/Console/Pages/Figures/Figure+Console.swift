import Features

extension Figure {
    /// The name of the figure for people.
    var title: Phrase {
        switch self {
        case .units: "Units"
        case .transactions: "Transactions"
        case .withoutPrice: "Transactions without a price"
        case .revenue: "Revenue"
        case .refunds: "Refunds"
        case .refundedRevenue: "Refunded revenue"
        case .refundRate: "Refund rate"
        case .newCustomers: "New customers"
        case .activeSubscriptions: "Active subscriptions"
        case .subscriptionMovement: "Movement of subscriptions"
        case .renewals: "Renewals"
        case .churn: "Churn"
        case .activeTrials: "Active trials"
        case .newTrials: "New trials"
        case .conversions: "Conversions of trials"
        case .trialConversion: "Conversion rate of trials"
        case .monthlyRevenue: "Monthly recurring revenue (MRR)"
        case .monthlyRevenueMovement: "Movement of the MRR"
        }
    }

    /// The definition in each language.
    var explanation: Phrase { Phrase(stated: definition) }

    /// The kind of chart that fits the figure.
    var chartKind: Chart.Kind {
        switch kind {
        case "level": .areas
        case "rate": .lines
        default: .bars
        }
    }

    /// True if the values are divided by denominators.
    var isRate: Bool { kind == "rate" }
}

extension FigureQuery.Environment {
    var title: Phrase {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox and tests"
        }
    }
}
