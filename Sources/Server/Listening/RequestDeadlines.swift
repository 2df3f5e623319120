import NIOCore

/// Until when the requests on one connection have to be over, in their order.
///
/// A request's time runs from its head until it has been read whole and the last byte of its answer is out: it covers a body
/// sent in drops, before the answer or after it, work that takes long, and a client that does not read.
package struct RequestDeadlines {
    /// What the owner of the timer has to do.
    package enum Action: Equatable {
        case schedule(NIODeadline)
        case cancel
        case close
        case none
    }

    private struct Exchange {
        let deadline: NIODeadline
        var isRead = false
        var isAnswered = false
    }

    private let limit: TimeAmount
    /// Oldest first; more than one when the client sends before it has read (pipelining, RFC 9112 section 9.3.2).
    private var open: [Exchange] = []

    package init(limit: TimeAmount) {
        self.limit = limit
    }

    package mutating func requestBegan(at now: NIODeadline) -> Action {
        let deadline = now + limit
        open.append(Exchange(deadline: deadline))
        return open.count == 1 ? .schedule(deadline) : .none
    }

    package mutating func requestRead() -> Action {
        guard let last = open.indices.last else { return .none }
        open[last].isRead = true
        return removeThoseOver()
    }

    package mutating func answerWritten() -> Action {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return .none }
        open[first].isAnswered = true
        return removeThoseOver()
    }

    package mutating func timerFired(at now: NIODeadline) -> Action {
        guard let first = open.first else { return .none }
        return first.deadline <= now ? .close : .schedule(first.deadline)
    }

    private mutating func removeThoseOver() -> Action {
        guard let first = open.first, first.isRead, first.isAnswered else { return .none }
        open.removeFirst()
        return open.first.map { .schedule($0.deadline) } ?? .cancel
    }
}
