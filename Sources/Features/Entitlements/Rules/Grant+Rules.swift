import Proofs

extension Grant {
    /// The grant after a revocation; nil if it was revoked before.
    package func revoked(by revocation: Revocation) -> Grant? {
        guard self.revocation == nil else { return nil }
        return Grant(
            sequence: sequence, identifier: identifier, item: item, reason: reason, grantedBy: grantedBy,
            grantedAt: grantedAt, endsAt: endsAt, revocation: revocation)
    }
}
