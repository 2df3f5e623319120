import Ledger
import Proofs

/// A user's profile.
package struct Profile: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package let nickname: String?
    /// One item of each collection, in order: the chosen one if the user owns it, otherwise the free one.
    package let chosen: [Item]

    /// - Parameter free: The items that every user owns.
    init(_ record: ProfileRecord, collections: [String], free: [Item]) {
        nickname = record.nickname
        chosen = collections.compactMap { collection in
            let owned = free + record.items
            return record.chosen.first { $0.collection == collection && owned.contains($0) }
                ?? free.filter { $0.collection == collection }.min()
        }
    }
}
