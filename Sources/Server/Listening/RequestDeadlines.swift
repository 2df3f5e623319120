import NIOCore

/// Until when the requests on one connection have to be answered, in their order.
///
/// A request's time runs from its head until the last byte of its answer is out: it covers a body sent in drops, work that
/// takes long, and a client that does not read.
package struct RequestDeadlines {
    /// What the owner of the timer has to do.
    package enum Action: Equatable {
        case schedule(NIODeadline)
        case cancel
        case close
        case none
    }

    private let limit: TimeAmount
    /// Oldest first; more than one when the client sends before it has read (pipelining, RFC 9112 section 9.3.2).
    private var open: [NIODeadline] = []

    package init(limit: TimeAmount) {
        self.limit = limit
    }

    package mutating func requestBegan(at now: NIODeadline) -> Action {
        let deadline = now + limit
        open.append(deadline)
        return open.count == 1 ? .schedule(deadline) : .none
    }

    package mutating func answerWritten() -> Action {
        guard !open.isEmpty else { return .none }
        open.removeFirst()
        return open.first.map { .schedule($0) } ?? .cancel
    }

    package mutating func timerFired(at now: NIODeadline) -> Action {
        guard let first = open.first else { return .none }
        return first <= now ? .close : .schedule(first)
    }
}
