/// A statement of the App Store about the renewal of a subscription.
public struct StatedRenewal: Hashable, Sendable, Codable {
    public let statedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    public let proofDigest: [UInt8]
    public let facts: RenewalFacts

    public init(statedAt: Timestamp, proofDigest: [UInt8], facts: RenewalFacts) {
        self.statedAt = statedAt
        self.proofDigest = proofDigest
        self.facts = facts
    }

    init(_ renewal: JWSRenewalInfoDecodedPayload, digest: [UInt8]) {
        self.init(statedAt: renewal.signedDate, proofDigest: digest, facts: renewal.facts)
    }
}
