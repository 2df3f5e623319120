import Proofs

/// The device's connection to the service, for one user.
package protocol ServiceConnection: Sendable {
    /// Redeems a proof.
    ///
    /// - Throws: `ServiceRefusal` if the service refuses the proof; another error if it did not answer.
    func redeem(_ proof: Proof) async throws -> Redemption

    /// The items that the user owns, including those that everybody owns.
    func items() async throws -> [OwnedItemResource]
}
