import Commerce
import Entitlements

extension RedeemedTransaction {
    /// The end of the paid time; nil for a purchase without an end.
    ///
    /// The ledger ends an upgraded period at its start, because it grants nothing. The period was paid for until the next one
    /// begins.
    var paidUntil: Timestamp? {
        if facts.bool(.isUpgraded) == true { return facts.date(.expiresDate) ?? expiresAt }
        return expiresAt ?? facts.date(.expiresDate)
    }
}
