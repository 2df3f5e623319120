import Features
import HTTPSupport
import Ledger
import Proofs

/// The export of all data of one user.
package struct UserExport: Sendable {
    private let service: EntitlementService
    private let clock: any WallClock

    package init(service: EntitlementService, clock: any WallClock) {
        self.service = service
        self.clock = clock
    }

    /// The archive of a user as JSON; nil for an unknown user.
    ///
    /// - Parameter namingKeys: True to name the API keys, which are the team's.
    package func json(of user: User, namingKeys: Bool) async throws -> [UInt8]? {
        let (origins, moment) = (service.accepted.origins(for: user), clock.now())
        // The export may be large. It runs in a read that blocks no writer.
        let (archive, keys) = try await service.ledger.read { transaction in
            (
                try transaction.archive(of: user, accepting: origins, at: moment),
                namingKeys ? try transaction.apiKeyNames() : [:]
            )
        }
        return try archive.map { archive in
            try JSONAnswer.encode(UserArchiveResource(archive, of: user, at: moment, naming: keys))
        }
    }
}
