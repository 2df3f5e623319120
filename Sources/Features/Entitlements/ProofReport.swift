/// The result of verifying the stored proofs again.
public struct ProofReport: Hashable, Sendable {
    /// The number of redeemed transactions whose proof is valid.
    public internal(set) var verified = 0
    /// The number of redeemed transactions without a stored proof.
    public internal(set) var notKept = 0
    /// A sentence for each of the first transactions whose proof is invalid.
    public internal(set) var problems: [String] = []

    public init(verified: Int = 0, notKept: Int = 0) {
        self.verified = verified
        self.notKept = notKept
    }
}
