import Commerce
import Entitlements

extension RedeemedTransaction {
    /// The end of the paid time; nil for a purchase without an end.
    var paidUntil: Timestamp? { expiresAt ?? facts.date(.expiresDate) }
}
