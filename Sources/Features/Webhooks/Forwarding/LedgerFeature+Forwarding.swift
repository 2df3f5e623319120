import Ledger

extension LedgerFeature {
    /// The notifications of the App Store that wait to be forwarded to further servers.
    package static let forwarding = LedgerFeature(tables: [.notificationForward])
}

extension Table {
    /// The waiting notifications, one for each server. A delivered one is deleted. `target`: `ForwardingTarget.identifier`;
    /// `body`: the request as the App Store has sent it; `last_outcome`: the code of the last attempt's outcome.
    fileprivate static let notificationForward = Table(
        name: "notification_forward", family: .globalKey,
        columns: [
            .text("notification_uuid"), .text("origin"), .text("target"), .integer("queued_at"),
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at"), .text("last_outcome").optional,
            .blob("body"),
        ],
        key: ["notification_uuid", "origin", "target"], hasLargeRows: true
    )
    .indexed("notification_forward_due", by: ["target", "next_attempt_at", "queued_at"])
    .indexed("notification_forward_by_age", by: ["queued_at"])
}
