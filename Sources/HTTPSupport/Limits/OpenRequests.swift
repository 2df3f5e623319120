import Synchronization

/// A limit on each client address's requests in progress. It is for a service behind proxies, where one connection
/// carries the requests of many clients.
package final class OpenRequests: Sendable {
    private let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    package init(perAddress limit: Int) {
        self.limit = limit
    }

    /// Counts a request.
    ///
    /// - Returns: False if the address has reached its limit. Then the request is not counted.
    package func begin(from address: String) -> Bool {
        counts.withLock { counts in
            let count = counts[address] ?? 0
            guard count < limit else { return false }
            counts[address] = count + 1
            return true
        }
    }

    /// Removes a finished request from the count.
    package func end(from address: String) {
        counts.withLock { counts in
            let left = (counts[address] ?? 0) - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
