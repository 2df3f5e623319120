import Commerce
import Entitlements
import Wire

extension GrantResource {
    init(_ grant: Grant) {
        self.init(
            grantId: grant.identifier, item: grant.item, reason: grant.reason, grantedBy: grant.grantedBy,
            grantedAt: grant.grantedAt.rfc3339, endsAt: grant.endsAt?.rfc3339,
            revocation: grant.revocation.map { RevocationResource($0) })
    }
}
