/// The exports for analysis. The raw value is the name in the API.
public enum Export: String, CaseIterable, Sendable {
    /// The redeemed transactions. The columns have the names of RevenueCat's export, if it has them.
    case transactions
    /// The users who are not erased.
    case customers
    /// The audit logs.
    case events

    var columns: [String] {
        switch self {
        case .transactions:
            [
                "rc_original_app_user_id", "user_issuer", "first_seen_time", "app", "origin", "store", "is_sandbox",
                "country", "product_identifier", "product_display_name", "product_duration", "quantity",
                "store_transaction_id", "original_store_transaction_id", "start_time", "end_time",
                "grace_period_end_time", "effective_end_time", "refunded_at", "unsubscribe_detected_at",
                "billing_issues_detected_at", "is_auto_renewable", "is_trial_period", "is_in_intro_offer_period",
                "is_trial_conversion", "renewal_number", "offer", "offer_type", "ownership_type", "purchased_currency",
                "price_in_purchased_currency", "purchase_price_in_purchased_currency", "entitlement_identifiers",
                "redeemed_at", "updated_at",
            ]
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
