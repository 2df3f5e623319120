import Proofs

/// A transaction whose account token may determine the owner of its purchase.
///
/// The transaction with the latest purchase date decides. Of several statements about it, the one signed last decides.
package struct Naming: Hashable, Sendable {
    package let purchaseDate: Timestamp
    package let transactionIdentifier: String
    package let statedAt: Timestamp
}

extension Naming {
    package init(_ claim: Claim) {
        self.init(
            purchaseDate: claim.purchaseDate, transactionIdentifier: claim.transactionIdentifier,
            statedAt: claim.signedAt)
    }
}

extension Naming: Comparable {
    package static func < (left: Naming, right: Naming) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        let (first, second) = (ByteKey(left.transactionIdentifier), ByteKey(right.transactionIdentifier))
        return first == second ? left.statedAt < right.statedAt : first < second
    }
}
