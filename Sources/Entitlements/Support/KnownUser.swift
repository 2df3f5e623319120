import Commerce
import Foundation

/// A user whom the ledger knows.
public struct KnownUser: Hashable, Sendable {
    public let user: User
    /// The token that the user's purchases may name.
    public let appAccountToken: UUID
    public let firstSeenAt: Timestamp
}
