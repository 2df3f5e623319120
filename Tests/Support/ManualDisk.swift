import Synchronization

/// A disk whose free space a test sets.
package final class ManualDisk: Sendable {
    private struct State {
        var free: Int64?
        var questions = 0
    }

    private let state: Mutex<State>

    /// - Parameter free: The free bytes; nil if they are unknown.
    package init(free: Int64? = .max) {
        state = Mutex(State(free: free))
    }

    package func setFree(_ bytes: Int64?) {
        state.withLock { $0.free = bytes }
    }

    /// Returns the free bytes, and counts the question.
    package func askFree() -> Int64? {
        state.withLock { state in
            state.questions += 1
            return state.free
        }
    }

    /// The number of questions so far.
    package var questions: Int { state.withLock { $0.questions } }
}
