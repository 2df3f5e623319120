import Commerce
import Ledger

/// How a user shows themselves.
public struct Profile: Hashable, Sendable {
    /// nil where the user has chosen none.
    public let nickname: String?
    /// One of each collection, in order: what was chosen while it is owned, else the one that everybody owns.
    public let chosen: [Item]

    /// - Parameter free: What everybody owns.
    init(_ record: ProfileRecord, collections: [String], free: [Item]) {
        nickname = record.nickname
        chosen = collections.compactMap { collection in
            let owned = free + record.items
            return record.chosen.first { $0.collection == collection && owned.contains($0) }
                ?? free.filter { $0.collection == collection }.min()
        }
    }
}
