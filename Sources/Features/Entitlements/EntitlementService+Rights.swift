import Catalog
import Ledger
import Proofs

extension EntitlementService {
    /// The rights that a user has or had, in the order of the catalogs.
    ///
    /// - Parameter app: The bundle identifier of the app whose rights are read; nil for all apps.
    package func rights(of user: User, in app: String? = nil) async throws -> [UserRight] {
        let catalogs = catalogs
        let rights = catalogs.rights(in: limitingApp ?? app)
        guard !rights.isEmpty else { return [] }
        return try await ledger.read(.statement) {
            try $0.rights(
                rights, of: user, accepting: accepted.origins(for: user), owningBesides: ownedByEverybody(catalogs),
                seeing: catalogs.limit(to: limitingApp), at: clock.now()
            ) { catalogs.type(of: $0) }
        }
    }
}
