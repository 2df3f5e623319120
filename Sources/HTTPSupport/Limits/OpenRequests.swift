import Synchronization

/// A limit on the requests of each client address that are under way, for a service behind proxies: there a connection carries
/// the requests of many clients.
package final class OpenRequests: Sendable {
    private let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    package init(perAddress limit: Int) {
        self.limit = limit
    }

    /// Counts a request.
    ///
    /// - Returns: False if the address has as many requests under way as it may; then the request does not count.
    package func begin(from address: String) -> Bool {
        counts.withLock { counts in
            let count = counts[address] ?? 0
            guard count < limit else { return false }
            counts[address] = count + 1
            return true
        }
    }

    /// Stops counting a request that has ended.
    package func end(from address: String) {
        counts.withLock { counts in
            let left = (counts[address] ?? 0) - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
