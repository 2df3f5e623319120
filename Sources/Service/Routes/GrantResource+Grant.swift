import Features
import Proofs

extension GrantResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ grant: Grant, naming keys: [String: String] = [:]) {
        self.init(
            grantId: grant.identifier, item: grant.item, reason: grant.reason, grantedBy: grant.grantedBy,
            grantedByName: keys[grant.grantedBy],
            grantedAt: grant.grantedAt.rfc3339, endsAt: grant.endsAt?.rfc3339,
            revocation: grant.revocation.map { RevocationResource($0, naming: keys) })
    }
}
