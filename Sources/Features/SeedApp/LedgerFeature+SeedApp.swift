import Ledger

extension LedgerFeature {
    /// The members of the seed app, Till's first app.
    package static let seedApp = LedgerFeature(tables: [.member])
}

extension Table {
    fileprivate static let member = Table(
        name: "member", family: .userData,
        columns: [
            .integer("user_id"), .text("phone_number"), .text("email"), .text("fcm_token"), .text("birth"),
            .integer("gender"), .integer("joined_at"),
        ],
        key: ["user_id"], erasure: .deletion)
}
