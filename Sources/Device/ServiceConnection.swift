import Commerce
import Wire

/// The device's line to the app's own back end, for one user.
public protocol ServiceConnection: Sendable {
    /// Hands in a proof.
    ///
    /// - Throws: `ServiceRefusal` when the service answers that it does not take it; anything else when there was no answer.
    func redeem(_ proof: Proof) async throws -> Redemption

    /// The items that the user owns, those of everybody included.
    func items() async throws -> [OwnedItemResource]
}
