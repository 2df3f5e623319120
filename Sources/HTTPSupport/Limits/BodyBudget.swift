import Ledger
import Proofs
import Synchronization

/// A limit on the bytes of request bodies in memory, in total, per user and per client network.
///
/// The first bytes of each body are free. A signed transaction fits into them, and the connection limit bounds their
/// total. Callers that hold large unfinished bodies therefore cannot block the redemption of one.
package final class BodyBudget: Sendable {
    /// The largest body of any route: a proof in the encoding of forms, which writes some characters as three.
    package static let largestBody = ProofVerifier.maximumTextSize * 9 / 8
    /// The bytes of each body that are not counted.
    package static let freePerBody = 16 * 1024

    /// The holder of the bytes of a body.
    package struct Caller: Sendable {
        /// A user; nil for none.
        let user: ByteKey?
        /// The network of a stranger; nil for a caller whom the team has named.
        let network: ClientNetwork?

        package init(user: String? = nil, network: ClientNetwork? = nil) {
            (self.user, self.network) = (user.map { ByteKey($0) }, network)
        }
    }

    private struct Usage {
        var total = 0
        var byUser: [ByteKey: Int] = [:]
        var byNetwork: NetworkCounts
    }

    private let total: Int
    /// The bytes of one user, and of one site.
    private let share: Int
    private let usage: Mutex<Usage>

    /// - Parameter megabytes: The total in MiB. One user or site gets a quarter, and one host an eighth, but at least one proof. A
    ///   site gets a sixteenth while the others hold more than half.
    package init(megabytes: Int = 64) {
        total = megabytes << 20
        share = max(total / 4, Self.largestBody)
        let ofNetwork = NetworkCounts(ofHost: max(total / 8, Self.largestBody), ofSite: share)
        usage = Mutex(Usage(byNetwork: ofNetwork))
    }

    /// The counted bytes of all bodies.
    package var bytesInFlight: Int { usage.withLock { $0.total } }

    /// The share of one request. It is returned when the request ends.
    package final class Lease: Sendable {
        private let budget: BodyBudget
        private let caller: Caller
        private let bytes = Mutex((read: 0, counted: 0))

        /// - Parameter caller: The caller; without a user and a network, only the total limits it, as for a back end.
        package init(_ budget: BodyBudget, for caller: Caller) {
            self.budget = budget
            self.caller = caller
        }

        /// Counts bytes that have arrived.
        ///
        /// - Throws: `Problem` with the code `tooBusy`. Then the bytes are not counted.
        package func reserve(_ count: Int) throws {
            let added = bytes.withLock { bytes in
                bytes.read += count
                let added = max(0, bytes.read - BodyBudget.freePerBody) - bytes.counted
                guard added == 0 || budget.add(added, caller) else { return -1 }
                bytes.counted += added
                return added
            }
            if added < 0 { throw Problem.tooBusy }
        }

        deinit {
            let counted = bytes.withLock { $0.counted }
            if counted > 0 { budget.remove(counted, caller) }
        }
    }

    private func add(_ count: Int, _ caller: Caller) -> Bool {
        usage.withLock { usage in
            guard usage.total + count <= total else { return false }
            if let user = caller.user, usage.byUser[user, default: 0] + count > share { return false }
            if let network = caller.network {
                let own = usage.byNetwork[network.site]
                let isScarce = usage.total - own > total / 2
                guard usage.byNetwork.full(around: network, for: count) == nil,
                    !isScarce || own + count <= total / 16
                else { return false }
                usage.byNetwork.add(count, of: network)
            }
            if let user = caller.user { usage.byUser[user, default: 0] += count }
            usage.total += count
            return true
        }
    }

    private func remove(_ count: Int, _ caller: Caller) {
        usage.withLock { usage in
            usage.total -= count
            if let network = caller.network { usage.byNetwork.remove(count, of: network) }
            guard let user = caller.user else { return }
            let left = (usage.byUser[user] ?? 0) - count
            usage.byUser[user] = left > 0 ? left : nil
        }
    }
}
