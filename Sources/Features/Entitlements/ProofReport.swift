/// The result of verifying the stored proofs again.
package struct ProofReport: Hashable, Sendable {
    /// The number of redeemed transactions whose proof is valid.
    package internal(set) var verified = 0
    /// The number of redeemed transactions without a stored proof.
    package internal(set) var notKept = 0
    /// A sentence for each of the first transactions whose proof is invalid.
    package internal(set) var problems: [String] = []

    package init(verified: Int = 0, notKept: Int = 0) {
        self.verified = verified
        self.notKept = notKept
    }
}
