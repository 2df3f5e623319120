import NIOCore

/// The deadlines of one connection: of the head that is awaited, and of the requests under way in their order.
///
/// The time for a head runs from the connection, or from the first byte after an answer. The time for a request runs from its
/// head until its last byte is read and the last byte of its answer is written. A stream of events has a longer time.
package struct RequestDeadlines {
    /// The action that the owner of the timer takes.
    package enum Action: Equatable {
        /// Replaces the timer.
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
    private let headLimit: TimeAmount
    /// Oldest first; more than one if the client pipelines (RFC 9112 section 9.3.2).
    private var open: [Exchange] = []
    /// The deadline of a head that is awaited; nil while none is.
    private var headDeadline: NIODeadline?
    /// The time the timer is set to; nil without a timer. Setting it for each request would cost more than a look too early.
    private var timer: NIODeadline?

    package init(limit: TimeAmount, headLimit: TimeAmount = .seconds(10)) {
        self.limit = limit
        self.headLimit = headLimit
    }

    /// Whether bytes that arrive now may begin a head.
    package var mayAwaitHead: Bool { open.isEmpty && headDeadline == nil }

    /// Notes that a client has connected, or that bytes have arrived.
    package mutating func headAwaited(at now: NIODeadline) -> Action {
        guard mayAwaitHead else { return .none }
        let deadline = now + headLimit
        headDeadline = deadline
        return setTimer(deadline)
    }

    package mutating func requestBegan(at now: NIODeadline) -> Action {
        let deadline = now + limit
        headDeadline = nil
        open.append(Exchange(deadline: deadline))
        return setTimer(deadline)
    }

    /// Gives the answer that is being written more time.
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
        timer = nil
        guard let first = [headDeadline, open.first?.deadline].compactMap(\.self).min() else { return .none }
        return first > now ? setTimer(first) : .close
    }

    private mutating func setTimer(_ deadline: NIODeadline) -> Action {
        if let timer, timer <= deadline { return .none }
        timer = deadline
        return .schedule(deadline)
    }

    private mutating func removeThoseOver() {
        guard let first = open.first, first.isRead, first.isAnswered else { return }
        open.removeFirst()
    }
}
