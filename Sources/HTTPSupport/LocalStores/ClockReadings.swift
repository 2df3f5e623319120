import Logging
import Synchronization

/// The last readings of a local store's clocks.
///
/// A clock throws nothing. While the database cannot be read, its last reading counts, and the log says so: the machine's time would
/// grant or end what the store's clock has not reached, or has long passed.
package final class ClockReadings: Sendable {
    package enum Reading: Sendable {
        /// The offset of the store's clock from the machine's, in milliseconds.
        case offset
        /// The largest offset of all clocks.
        case latestOffset
        /// True if any customer has an own clock.
        case hasCustomers
        case customers
    }

    private struct State {
        var last: [Reading: any Sendable] = [:]
        var isUnreadable = false
    }

    private let state = Mutex(State())
    private let logger: Logger

    package init(logger: Logger = Logger(label: "till.store")) {
        self.logger = logger
    }

    /// A reading, or else the last one.
    package func value<Value: Sendable>(
        _ reading: Reading, before first: Value, _ read: () throws -> Value
    ) -> Value {
        guard let value = attempt(read) else { return state.withLock { $0.last[reading] } as? Value ?? first }
        state.withLock { $0.last[reading] = value }
        return value
    }

    /// A reading that is not kept; nil if the database cannot be read.
    package func attempt<Value>(_ read: () throws -> Value) -> Value? {
        do {
            let value = try read()
            let isBack = state.withLock { state in
                defer { state.isUnreadable = false }
                return state.isUnreadable
            }
            if isBack { logger.notice("the clock of the local store can be read again") }
            return value
        } catch {
            let isNew = state.withLock { state in
                defer { state.isUnreadable = true }
                return !state.isUnreadable
            }
            if isNew {
                logger.critical(
                    "the clock of the local store cannot be read, so its last reading counts. Check the file and the disk.",
                    metadata: ["reason": "\(error)"])
            }
            return nil
        }
    }
}
