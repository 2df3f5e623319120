import Proofs

extension RedeemedTransaction {
    /// True for an auto-renewable subscription. An app receipt states no type, but an end.
    var isSubscription: Bool {
        facts.text(.type).map { $0 == ProductType.autoRenewableSubscription.rawValue } ?? (facts[.expiresDate] != nil)
    }

    /// The end of the paid time; nil for a purchase without an end.
    ///
    /// The ledger ends an upgraded period at its start, because it grants nothing. The period was paid for until the next one
    /// begins.
    var paidUntil: Timestamp? {
        if facts.bool(.isUpgraded) == true { return facts.date(.expiresDate) ?? expiresAt }
        return expiresAt ?? facts.date(.expiresDate)
    }
}
