import Ledger
import Proofs

/// The use cases of customers' attributes. Each is one transaction of the ledger.
package struct AttributeService: Sendable {
    private let ledger: Ledger
    private let clock: any WallClock
    /// The bundle identifier of the only app whose public key the caller has; nil for the team.
    private var app: String?

    package init(ledger: Ledger, clock: any WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// The same service for a caller with the public key of an app. The caller sees what the team and the app have stated, and
    /// changes what the app has stated.
    package func limited(to app: String) -> AttributeService {
        var service = self
        service.app = app
        return service
    }

    /// The attributes of a user, without removed ones, in the order of their names.
    package func attributes(of user: User) async throws -> [Attribute] {
        try await ledger.read { try $0.attributes(of: user, seenBy: app) }
    }

    /// Applies statements about a user's attributes. The newest statement about each attribute counts, in whatever order they
    /// come. A time in the future becomes the present.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `AttributeError.tooMany`; `LedgerError`.
    package func state(_ statements: [Attribute], of user: User, newcomers: NewcomerAllowance? = nil) async throws {
        let moment = clock.now()
        try await ledger.write {
            try $0.state(statements, of: user, from: app, newcomers: newcomers, at: moment)
        }
    }
}
