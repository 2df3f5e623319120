import Synchronization
import Vocabulary

/// Values kept in memory under their keys, within a bound. The ones that nobody asks for go first.
///
/// Values move through two generations. If the younger one is full, it becomes the older one, and the older one is forgotten.
package final class RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let size: Int
    }

    private struct Generations {
        var younger: [Key: Entry] = [:]
        var older: [Key: Entry] = [:]
        /// The sum of the sizes of the younger generation.
        var size = 0

        mutating func add(_ entry: Entry, for key: Key, upTo limit: Int) {
            if size + entry.size > limit { (younger, older, size) = ([:], younger, 0) }
            size += entry.size - (younger.updateValue(entry, forKey: key)?.size ?? 0)
        }
    }

    /// The largest sum of the sizes of one generation.
    private let limit: Int
    private let kept = Mutex(Generations())

    /// - Parameter limit: The largest sum of the sizes of all values. The owner chooses the unit: bytes, or 1 for each value.
    package init(upTo limit: Int) {
        self.limit = limit / 2
    }

    /// The value of a key; nil if none is kept.
    package subscript(key: Key) -> Value? {
        kept.withLock { kept in
            if let known = kept.younger[key] { return known.value }
            guard let known = kept.older.removeValue(forKey: key) else { return nil }
            kept.add(known, for: key, upTo: limit)
            return known.value
        }
    }

    /// Keeps a value in place of an earlier one. A value that is larger than a generation is not kept.
    package func keep(_ value: Value, for key: Key, size: Int) {
        kept.withLock { kept in
            kept.older[key] = nil
            guard size <= limit else {
                if let known = kept.younger.removeValue(forKey: key) { kept.size -= known.size }
                return
            }
            kept.add(Entry(value: value, size: size), for: key, upTo: limit)
        }
    }
}

/// The numbers of users by their own names, as earlier reads found them.
///
/// A merge, a log-in or an erasure gives a user another name. So the row that a reader finds by such a number must have the name:
/// only then the number is right.
package typealias UserNumbers = RecentValues<User, Int64>

extension UserNumbers {
    /// About a hundred thousand names of usual length.
    package convenience init() {
        self.init(upTo: 10 << 20)
    }

    package func keep(_ number: Int64, for user: User) {
        // Some ninety bytes are those of an entry without its texts.
        keep(number, for: user, size: 90 + user.issuer.utf8.count + user.name.utf8.count)
    }
}
