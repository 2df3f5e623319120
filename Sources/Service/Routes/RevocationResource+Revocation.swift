import Commerce
import Entitlements
import Wire

extension RevocationResource {
    init(_ revocation: Revocation) {
        self.init(
            revokedAt: revocation.revokedAt.rfc3339, reason: revocation.reason, revokedBy: revocation.revokedBy)
    }
}
