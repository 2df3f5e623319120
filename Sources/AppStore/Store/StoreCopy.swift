import Foundation
import GRDB
import Proofs

/// A copy of a named store's database, with which another process plays the store.
///
/// The process takes a copy, changes it, and gives it back. Deliveries wait for that. It is refused if the store has changed meanwhile.
package struct StoreCopy: Codable, Sendable {
    /// The largest database, in bytes.
    static let maximumSize = 12 << 20

    /// The revision of the store from which the copy was taken.
    package let revision: String
    /// A database of SQLite in base64.
    let database: String
}

extension Store {
    /// The store of a copy. No process delivers its notifications.
    ///
    /// - Parameters:
    ///   - main: The store without a name, which sells the same products for the same app.
    ///   - path: The path of its routes below that store's address.
    package static func playing(_ copy: StoreCopy, besides main: Store, at path: String) throws -> Store {
        let store = try Store(besides: main, at: path, delivers: false)
        try copy.withDatabase { copied in try store.queue.writeWithoutTransaction { try copied.backup(to: $0) } }
        return store
    }

    /// A copy of a store in memory.
    ///
    /// - Parameter revision: The revision to state; nil for the store's own.
    /// - Throws: `StoreError`, `invalidAction`, for a store that is too large.
    package func copy(stating revision: String? = nil) throws -> StoreCopy {
        let file = StoreCopy.temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try PrivateFile.ensureExists(at: file)
        let target = try DatabaseQueue(path: file.path)
        let own = try queue.read { database in
            try target.writeWithoutTransaction { try database.backup(to: $0) }
            return self.revision(in: database)
        }
        try target.close()
        let bytes = try Data(contentsOf: file)
        guard bytes.count <= StoreCopy.maximumSize else {
            throw StoreError.invalidAction(
                "The store has more than \(StoreCopy.maximumSize >> 20) MB. Play it over HTTP, or clear it with POST /sandbox/v1/reset."
            )
        }
        return StoreCopy(revision: revision ?? own, database: bytes.base64EncodedString())
    }

    /// Replaces the store by a changed copy.
    ///
    /// - Returns: The new revision.
    /// - Throws: `StoreError`, `invalidAction`, if the store has changed since the copy was taken.
    func replace(by copy: StoreCopy) throws -> String {
        let revision = try copy.withDatabase { copied in
            try queue.writeWithoutTransaction { database in
                guard self.revision(in: database) == copy.revision else {
                    throw StoreError.invalidAction("The store has changed since the copy was taken. Take another one.")
                }
                try copied.backup(to: database)
                lending.withLock { ($0.replacements, $0.end) = ($0.replacements + 1, nil) }
                return self.revision(in: database)
            }
        }
        notifyObservers()
        return revision
    }

    /// The present revision of a store in memory. Each change gives it another.
    package var revision: String { get throws { try queue.read(revision(in:)) } }

    /// A connection counts the rows that it has changed, and no copied ones.
    private func revision(in database: Database) -> String {
        let (store, replacements) = lending.withLock { ($0.store, $0.replacements) }
        return "\(store.uuidString) \(database.totalChangesCount).\(replacements)"
    }
}

/// The state of a named store that is lent to another process as a copy.
struct StoreLending {
    /// The longest time for which deliveries wait for a copy.
    static let time = Duration.seconds(30)

    /// The identity of the store. A later one of the same name has another.
    let store = UUID()
    /// The number of copies that have replaced the store.
    var replacements = 0
    /// The end of the time for which deliveries wait; nil if no copy is out.
    var end: ContinuousClock.Instant?
    /// True while a notification is delivered, or its result is recorded.
    var isDelivering = false
    /// True if a process waits for a copy.
    var isAwaited = false
}

extension Store {
    /// Begins a delivery, unless another process has a copy of the store, or waits for one.
    ///
    /// - Returns: False if it has not begun. A delivery that has begun needs `endDelivery`.
    func beginDelivery() -> Bool {
        lending.withLock { lending in
            guard !lending.isAwaited, lending.end.map({ $0 < .now }) ?? true else { return false }
            lending.isDelivering = true
            return true
        }
    }

    func endDelivery() { lending.withLock { $0.isDelivering = false } }
}

extension StoreCopy {
    fileprivate static func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory.appending(
            path: "till-store-\(UUID().uuidString.lowercased()).sqlite", directoryHint: .notDirectory)
    }

    /// Passes `body` the database of the copy.
    ///
    /// - Throws: `StoreError`, `invalidAction`, for anything else than the database of a store of this version.
    fileprivate func withDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let refusal = StoreError.invalidAction("The copy is no database of a store of this version.")
        guard let bytes = Data(base64Encoded: database), bytes.count <= Self.maximumSize else { throw refusal }
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(at: file) }
        try PrivateFile.create(Array(bytes), at: file)
        let copied: DatabaseQueue
        do {
            copied = try DatabaseQueue(path: file.path)
            guard try copied.read({ try !StoreSchema.isOfOtherVersion($0) }) else { throw refusal }
        } catch { throw refusal }
        defer { try? copied.close() }
        return try copied.read(body)
    }
}
