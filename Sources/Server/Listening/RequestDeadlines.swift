import NIOCore

/// Until when the requests on one connection have to be over, in their order.
///
/// A request's time runs from its head until it has been read whole and the last byte of its answer is out: it covers a body
/// sent in drops, before the answer or after it, work that takes long, and a client that does not read. A stream of events has
/// a longer time of its own.
package struct RequestDeadlines {
    /// What the owner of the timer has to do.
    package enum Action: Equatable {
        case schedule(NIODeadline)
        case close
        case none
    }

    private struct Exchange {
        var deadline: NIODeadline
        var isRead = false
        var isAnswered = false
    }

    private let limit: TimeAmount
    /// Oldest first; more than one when the client sends before it has read (pipelining, RFC 9112 section 9.3.2).
    private var open: [Exchange] = []
    /// Whether the timer runs, for a request that may be over: setting it anew for each would cost more than looking once.
    private var isTimed = false

    package init(limit: TimeAmount) {
        self.limit = limit
    }

    package mutating func requestBegan(at now: NIODeadline) -> Action {
        let deadline = now + limit
        open.append(Exchange(deadline: deadline))
        guard !isTimed else { return .none }
        isTimed = true
        return .schedule(deadline)
    }

    /// The answer that is being written goes on for long: it ends by itself, and only where it does not, it is ended.
    package mutating func answerStreams(until deadline: NIODeadline) {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].deadline = deadline
    }

    package mutating func requestRead() {
        guard let last = open.indices.last else { return }
        open[last].isRead = true
        removeThoseOver()
    }

    package mutating func answerWritten() {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].isAnswered = true
        removeThoseOver()
    }

    package mutating func timerFired(at now: NIODeadline) -> Action {
        isTimed = false
        guard let first = open.first else { return .none }
        guard first.deadline > now else { return .close }
        isTimed = true
        return .schedule(first.deadline)
    }

    private mutating func removeThoseOver() {
        guard let first = open.first, first.isRead, first.isAnswered else { return }
        open.removeFirst()
    }
}
