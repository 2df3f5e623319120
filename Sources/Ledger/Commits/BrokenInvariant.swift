/// The error of what must hold, and does not. It is a defect of this program, and nobody can mend it by another request.
///
/// The requests of the group that broke it are refused, and nothing of them is written. A service logs it at `critical`.
package struct BrokenInvariant: Error, Hashable, CustomStringConvertible {
    /// What must hold, as a sentence without its point.
    package let rule: String
    /// The transaction, the purchase or the user of which it does not hold. It is no secret.
    package let subject: String

    package init(_ rule: String, _ subject: String) { (self.rule, self.subject) = (rule, subject) }

    package var description: String { "A rule of the ledger does not hold: \(rule) (\(subject))." }
}
