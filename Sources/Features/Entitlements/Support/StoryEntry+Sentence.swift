import Ledger

extension StoryEntry {
    /// The entry as a sentence.
    package var sentence: String {
        switch content {
        case .event(let entry, _, _): Self.sentence(entry)
        case .notification(let notification): Self.sentence(notification)
        }
    }

    private static func sentence(_ entry: AuditEntry) -> String {
        let (subject, reference) = (entry.subject, entry.reference)
        let reason = entry.reason.map { ": \($0)" } ?? "."
        return switch entry.event {
        case .granted: "Transaction \(reference) grants \(subject)."
        case .revoked: "Transaction \(reference) of \(subject) was revoked\(reason)"
        case .productChanged: "\(entry.reason ?? "Another product") replaced \(subject) of transaction \(reference)."
        case .refused: "Transaction \(reference) of \(subject) was refused\(reason)"
        case .transferredIn:
            "Purchase \(reference) of \(subject) came from \(entry.reason.map { "the anonymous customer \($0)" } ?? "another user")."
        case .transferredOut: "Purchase \(reference) of \(subject) went to another user."
        case .itemGiven: "The team granted \(subject)\(reason)"
        case .itemTakenBack: "The team revoked a grant of \(subject)\(reason)"
        case .assigned: "The team assigned the unclaimed transaction \(reference) of \(subject)\(reason)"
        case .credited: "The team added \(subject)\(reason)"
        case .spent: "\(subject) were spent\(reason)"
        case .expired: "\(subject) expired\(reason)"
        case .renewalFailed: "The renewal of \(subject) could not be charged. Apple retries."
        case .gracePeriodBegan: "The renewal of \(subject) could not be charged. The grace period began."
        case .autoRenewDisabled: "The customer turned the renewal of \(subject) off."
        case .autoRenewEnabled: "The customer turned the renewal of \(subject) on."
        case .aliased where subject == "customer":
            "The anonymous customer\(entry.reason.map { " \($0)" } ?? "") logged in and became one with this user."
        case .aliased: "The anonymous id\(entry.reason.map { " \($0)" } ?? "") logged in as this user."
        case .erased: "The user was erased."
        }
    }

    private static func sentence(_ notification: StatedNotification) -> String {
        let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return "Apple notified of \(type): \(notification.outcome.rawValue)."
    }
}
