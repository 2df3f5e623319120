/// A proof in the ledger.
package struct StoredProof: Hashable, Sendable {
    /// The bytes of the proof: a JWS, or the DER of a receipt. Nil if the stored parts are damaged.
    package let bytes: [UInt8]?
}
