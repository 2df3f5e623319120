import Ledger

extension LedgerFeature {
    /// The purchase tokens of Google Play, and the reports about sales outside its billing. The purchases themselves are those of
    /// `LedgerFeature.entitlements`.
    package static let googlePlay = LedgerFeature(
        tables: [.googlePurchase, .googleVoidedPurchase, .googleVoidedUnits, .googleBoughtUnits, .externalTransaction])
}

extension Table {
    static let googlePurchaseKey = ["purchase_token", "origin", "app"]

    /// The last statement of Google Play about each purchase token. `original_token`: the first token of its chain, which is the
    /// original transaction of its purchases; `successor_token`: the token of the purchase that has replaced it; `transaction_id`: the
    /// transaction that a user must have redeemed before the purchase is acknowledged; `product_id`: the first product of the purchase,
    /// under which Google Play accepts the acknowledgement; `ask_at`: the next time at which the service asks by itself;
    /// `acknowledge_by`: the end of the time in which the purchase is to be acknowledged or consumed, null if nothing is due;
    /// `package`: the app on Google Play, because an app of the catalog may have several there; `is_consumable`: true if the purchase is
    /// consumed instead, because the catalog has one of its products as a consumable.
    fileprivate static let googlePurchase = Table(
        name: "google_purchase", family: .globalKey,
        columns: [
            .text("purchase_token"), .text("origin"), .integer("app"), .text("original_token"),
            .text("successor_token").optional, .integer("is_subscription", check: "is_subscription IN (0, 1)"),
            .text("state"), .text("product_id").optional, .text("transaction_id").optional, .integer("asked_at"),
            .integer("ask_at").optional, .integer("acknowledge_by").optional, .integer("acknowledged_at").optional,
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional, .text("package"),
            .integer("is_consumable", check: "is_consumable IN (0, 1)"),
        ],
        key: googlePurchaseKey,
        checks: [
            "(acknowledge_by IS NULL) = (next_attempt_at IS NULL)", "(product_id IS NULL) = (transaction_id IS NULL)",
            "acknowledge_by IS NULL OR transaction_id IS NOT NULL",
        ]
    )
    .indexed("google_purchase_to_acknowledge", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("google_purchase_to_ask", by: ["ask_at"], where: "ask_at IS NOT NULL")

    /// The purchases that Google Play has listed as voided in full, redeemed or not. `order_id` is empty for a purchase without an order;
    /// `reason`: the reason in Apple's numbers.
    fileprivate static let googleVoidedPurchase = Table(
        name: "google_voided_purchase", family: .globalKey,
        columns: [
            .text("purchase_token"), .text("order_id"), .integer("app"), .text("package"), .integer("voided_at"),
            .integer("reason"),
        ],
        key: ["purchase_token", "order_id", "app", "package"])

    /// The sales outside Google's billing, and refunds of them, that back ends have reported. `refund_id`: empty for the sale, `~` for
    /// the refund of all that is left, else the identifier of a partial refund; `content`: the body of the request to Google Play;
    /// `initial_id`: the first transaction of the series that a sale continues; `next_attempt_at`: null once Google Play has the report
    /// (`passed_on_at`), or refuses it for good (`last_error`).
    fileprivate static let externalTransaction = Table(
        name: "external_transaction", family: .globalKey,
        columns: [
            .text("transaction_id"), .text("refund_id"), .text("package"), .text("realm"), .integer("app"),
            .text("content"), .text("initial_id").optional, .integer("reported_at"), .text("reported_by"),
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("passed_on_at").optional, .text("last_error").optional,
        ],
        key: ["transaction_id", "refund_id", "package", "realm"],
        checks: ["next_attempt_at IS NULL OR passed_on_at IS NULL"]
    )
    .indexed("external_transaction_waiting", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("external_transaction_by_time", by: ["reported_at", "transaction_id", "refund_id"])
}
