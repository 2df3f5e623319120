import Proofs

/// The rules of facts that several statements state of one transaction.
extension TransactionFacts {
    /// The facts after a further statement, in any order of the two.
    ///
    /// The statement signed last wins, and the earlier one completes it. An app receipt completes signed transactions. Of two
    /// receipts, or two statements of the same millisecond, each fact takes the greater value.
    package func completed(by other: TransactionFacts) -> TransactionFacts {
        if isEmpty || other.isEmpty { return isEmpty ? other : self }
        let (date, otherDate) = (integer(.signedDate) ?? .min, other.integer(.signedDate) ?? .min)
        guard date != otherDate else { return TransactionFacts(values.merging(other.values, uniquingKeysWith: max)) }
        let (earlier, later) = date < otherDate ? (self, other) : (other, self)
        var facts = TransactionFacts(earlier.values.merging(later.values) { $1 })
        for fact in TransactionFact.allCases {
            switch fact.field.source {
            case .anyStatement: break
            case .lastStatement: facts[fact] = later[fact]
            case .appReceipts: facts[fact] = [self[fact], other[fact]].compactMap(\.self).max()
            }
        }
        return facts
    }
}

extension StatedRenewal {
    /// True if this statement supersedes another, because it was signed later.
    package func isLater(than other: StatedRenewal?) -> Bool {
        guard let other else { return true }
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        return other.proofDigest.lexicographicallyPrecedes(proofDigest)
    }
}
