import Ledger

/// The format of an endpoint's messages.
package enum WebhookFormat: String, Sendable, CaseIterable, SQLConvertible {
    case till
    /// The events of RevenueCat's webhooks, for back ends that already receive those.
    case revenueCat = "revenuecat"

    /// True if an entry of the audit log has a message in this format.
    func hasMessage(about entry: AuditEntry) -> Bool {
        switch self {
        case .till: WebhookMessage.Kind(entry.event) != nil
        case .revenueCat: RevenueCatEvent.isSent(about: entry)
        }
    }

    package var sqlValue: SQLValue { .text(rawValue) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        self.init(rawValue: text)
    }
}
