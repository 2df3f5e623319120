import Proofs

/// A proof that a person looks at: decoded, and verified as for a redemption.
package struct InspectedProof: Sendable {
    package let inspection: ProofInspection
    package let verdict: ProofVerdict
    /// The origin of an authentic proof. Nil if the proof was refused before its origin was known.
    package let origin: Origin?
}
