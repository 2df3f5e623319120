import Foundation
import Proofs

/// A user in the ledger.
package struct KnownUser: Hashable, Sendable {
    package let user: User
    /// The account token that the user's purchases may contain.
    package let appAccountToken: UUID
    package let firstSeenAt: Timestamp
}
