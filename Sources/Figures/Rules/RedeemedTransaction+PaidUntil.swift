import Commerce
import Entitlements

extension RedeemedTransaction {
    /// The end of the time that was paid for; nil for a purchase that lasts.
    ///
    /// The ledger ends an upgraded period where it begins, since it grants nothing. It was paid for until the next one begins.
    var paidUntil: Timestamp? {
        if facts.bool(.isUpgraded) == true { return facts.date(.expiresDate) ?? expiresAt }
        return expiresAt ?? facts.date(.expiresDate)
    }
}
