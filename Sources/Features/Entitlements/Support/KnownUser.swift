import Foundation
import Proofs

/// A user in the ledger.
public struct KnownUser: Hashable, Sendable {
    public let user: User
    /// The account token that the user's purchases may contain.
    public let appAccountToken: UUID
    public let firstSeenAt: Timestamp
}
