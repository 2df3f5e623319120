/// A proof in the ledger.
public struct StoredProof: Hashable, Sendable {
    /// The bytes of the proof: a JWS, or the DER of a receipt. Nil if the stored parts are damaged.
    public let bytes: [UInt8]?
}
