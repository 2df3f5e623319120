/// The exports for analysis. The raw value is the name in the API.
package enum Export: String, CaseIterable, Sendable {
    /// The redeemed transactions. The columns have the names of RevenueCat's export, if it has them.
    case transactions
    /// The users who are not erased.
    case customers
    /// The audit logs.
    case events

    var columns: [String] {
        switch self {
        case .transactions: ExportedTransaction.columns.map(\.name)
        case .customers:
            [
                "user", "user_issuer", "first_seen_time", "app_account_token", "transactions", "first_purchase_time",
                "last_purchase_time",
            ]
        case .events:
            [
                "user", "user_issuer", "number", "happened_at", "event", "actor", "origin", "reference", "subject",
                "reason", "actor_name",
            ]
        }
    }
}
