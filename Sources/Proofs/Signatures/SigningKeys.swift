import Dispatch
import Synchronization

/// The keys that sign most proofs, each with a table of its multiples (`KeyMultiples`).
///
/// The uses of keys are counted in windows of 8,192. A key with 1,024 of them gets a table if there is room: a table costs as much as
/// some 1,500 verifications save. At the end of a window, the tables of keys with fewer than 256 uses are dropped. Only a
/// valid signature under a known chain is a use, so strangers cause no table.
package final class SigningKeys: Sendable {
    package static let window = 8192
    private static let usesForTable = 1024
    private static let usesToKeepTable = 256
    /// As many keys are counted as chains are kept.
    private static let maximumKeys = 32

    private struct Uses {
        let key: KeyHandle
        var count = 0
        var hasTable = false
    }

    private struct State {
        var keys: [Uses] = []
        var total = 0

        mutating func endWindow() {
            total = 0
            for rare in keys where rare.count < usesToKeepTable { rare.key.multiples = nil }
            keys.removeAll { $0.count < usesToKeepTable || !$0.hasTable }
            for index in keys.indices { keys[index].count = 0 }
        }
    }

    /// Tables are made one after another, off the threads that verify.
    private static let queue = DispatchQueue(label: "till.signatures", qos: .utility)

    /// The most tables at once.
    private let maximumTables: Int
    private let state = Mutex(State())

    package init(maximumTables: Int) {
        self.maximumTables = maximumTables
    }

    /// The number of tables, after those under way are made.
    package var tableCount: Int {
        Self.queue.sync {
            state.withLock { state in state.keys.count { $0.key.multiples != nil } }
        }
    }

    /// True if signatures of the key are verified with a table.
    package func hasTable(_ key: PublicKey) -> Bool { key.handle.multiples != nil }

    /// Counts a valid signature.
    package func count(_ key: PublicKey) {
        guard maximumTables > 0, key.kind == .ellipticCurve(.p256) else { return }
        let needsTable = state.withLock { state in
            state.total += 1
            if state.total == Self.window { state.endWindow() }
            guard let index = state.keys.firstIndex(where: { $0.key === key.handle }) else {
                if state.keys.count < Self.maximumKeys { state.keys.append(Uses(key: key.handle, count: 1)) }
                return false
            }
            state.keys[index].count += 1
            guard !state.keys[index].hasTable, state.keys[index].count >= Self.usesForTable,
                state.keys.count(where: \.hasTable) < maximumTables
            else { return false }
            state.keys[index].hasTable = true
            return true
        }
        guard needsTable else { return }
        Self.queue.async {
            let multiples = KeyMultiples(of: key)
            self.state.withLock { state in
                guard state.keys.contains(where: { $0.key === key.handle && $0.hasTable }) else { return }
                key.handle.multiples = multiples
            }
        }
    }
}
