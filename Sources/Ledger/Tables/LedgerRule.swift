/// A rule of the ledger that the constraints of its tables do not enforce.
package struct LedgerRule: Sendable {
    /// The description of a row that breaks the rule.
    let sentence: String
    /// A query for the rows that break the rule; the first column names a row.
    let violations: String

    package init(_ sentence: String, _ violations: String) {
        self.sentence = sentence
        self.violations = violations
    }
}
