import Features
import Proofs

extension RevocationResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ revocation: Revocation, naming keys: [String: String] = [:]) {
        self.init(
            revokedAt: revocation.revokedAt.rfc3339, reason: revocation.reason, revokedBy: revocation.revokedBy,
            revokedByName: keys[revocation.revokedBy])
    }
}
