import Proofs

/// The last statement of the App Store about a transaction: its revocation, its end, and the date of the signature.
package struct TransactionStatus: Hashable, Sendable, Codable {
    /// Nil if the transaction is not revoked.
    package var revocationDate: Timestamp?
    /// The reason in Apple's numbers.
    package var revocationReason: Int?
    /// Nil for a purchase without an end.
    package var expiresAt: Timestamp?
    package var statedAt: Timestamp

    package init(
        revocationDate: Timestamp?,
        revocationReason: Int?,
        expiresAt: Timestamp?,
        statedAt: Timestamp
    ) {
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.expiresAt = expiresAt
        self.statedAt = statedAt
    }

    package init(_ claim: Claim) {
        self.init(
            revocationDate: claim.revocationDate, revocationReason: claim.revocationReason, expiresAt: claim.expiresAt,
            statedAt: claim.signedAt)
    }

    package var isRevoked: Bool { revocationDate != nil }

    /// True if this statement supersedes another. The one signed later does. Of two signed in the same millisecond, the one
    /// that revokes does, otherwise the one that ends later.
    package func isLater(than other: TransactionStatus) -> Bool {
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        if isRevoked != other.isRevoked { return isRevoked }
        return (expiresAt?.millisecondsSince1970 ?? 0) > (other.expiresAt?.millisecondsSince1970 ?? 0)
    }

    /// This statement with the end of an earlier one, unless the catalog has the product. Only then a claim has an end.
    func keepingEnd(of before: TransactionStatus, unless isKnown: Bool) -> TransactionStatus {
        guard !isKnown else { return self }
        var status = self
        status.expiresAt = before.expiresAt
        return status
    }
}
