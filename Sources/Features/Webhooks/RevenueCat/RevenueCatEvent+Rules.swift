import Ledger
import Proofs

/// The rules that derive the type of an event from the ledger's facts.
extension RevenueCatEvent {
    /// True if an entry of the audit log has a message in this format.
    ///
    /// A transfer is one event, which the former owner's log causes. At a log-in, the former owner no longer exists.
    static func isSent(about entry: AuditEntry) -> Bool {
        switch entry.event {
        case .granted, .revoked, .productChanged, .transferredOut, .expired, .renewalFailed, .gracePeriodBegan,
            .autoRenewDisabled, .autoRenewEnabled, .itemGiven, .itemTakenBack:
            true
        case .transferredIn: entry.reason != nil
        case .refused, .assigned, .credited, .spent, .aliased, .erased: false
        }
    }

    /// - Returns: Nil for a change without a message.
    package init?(_ facts: RevenueCatFacts) {
        guard let kind = Kind(facts) else { return nil }
        self.init(kind: kind, members: kind == .transfer ? Self.transfer(facts) : Self.change(kind, facts))
    }
}

extension RevenueCatEvent.Kind {
    fileprivate init?(_ facts: RevenueCatFacts) {
        guard RevenueCatEvent.isSent(about: facts.entry) else { return nil }
        switch facts.entry.event {
        case .granted: self = Self.granted(facts)
        case .revoked, .autoRenewDisabled: self = .cancellation
        case .transferredIn, .transferredOut: self = .transfer
        // RevenueCat's back ends remove access at this event. After a failed renewal the user no longer owns the item.
        case .expired, .renewalFailed, .itemTakenBack: self = .expiration
        case .gracePeriodBegan: self = .billingIssue
        case .productChanged: self = .productChange
        case .autoRenewEnabled: self = .uncancellation
        case .itemGiven: self = .nonRenewingPurchase
        case .refused, .assigned, .credited, .spent, .aliased, .erased: return nil
        }
    }

    private static func granted(_ facts: RevenueCatFacts) -> Self {
        if facts.revocation != nil { return .refundReversed }
        guard facts.isSubscription else { return .nonRenewingPurchase }
        let original = facts.transaction?.originalTransactionIdentifier
        return original?.hasSameBytes(as: facts.entry.reference) == false ? .renewal : .initialPurchase
    }
}
