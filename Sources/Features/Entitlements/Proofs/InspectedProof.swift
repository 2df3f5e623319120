import Proofs

/// A proof that a person looks at: decoded, and verified as for a redemption.
public struct InspectedProof: Sendable {
    public let inspection: ProofInspection
    public let verdict: ProofVerdict
    /// The origin of an authentic proof. Nil if the proof was refused before its origin was known.
    public let origin: Origin?
}
