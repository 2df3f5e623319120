import NIOCore

/// The deadlines of one connection: for the next head, and for the requests in progress in their order.
///
/// The time for a head begins with the connection, or with the first byte after a response. The time for a request
/// begins with its head. It ends when the request is read completely and the response is written completely. An event
/// stream has more time.
package struct RequestDeadlines {
    /// The action that the owner of the timer must perform.
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

    /// The time for a head.
    private static let headLimit = TimeAmount.seconds(10)

    /// The requests in progress, oldest first. There are several if the client pipelines (RFC 9112 section 9.3.2).
    private var open: [Exchange] = []
    /// The deadline for the next head. Nil if none is expected.
    private var headDeadline: NIODeadline?
    /// The time at which the timer fires. Nil without a timer. Replacing the timer for each request would cost more
    /// than firing early.
    private var timer: NIODeadline?

    package init() {}

    /// True if the next bytes may begin a head.
    var mayAwaitHead: Bool { open.isEmpty && headDeadline == nil }

    /// Records that a client has connected, or that bytes have arrived.
    package mutating func headAwaited(at now: NIODeadline) -> Action {
        guard mayAwaitHead else { return .none }
        let deadline = now + Self.headLimit
        headDeadline = deadline
        return setTimer(deadline)
    }

    package mutating func requestBegan(until deadline: NIODeadline) -> Action {
        headDeadline = nil
        open.append(Exchange(deadline: deadline))
        return setTimer(deadline)
    }

    /// Extends the deadline of the response that is being written.
    package mutating func answerStreams(until deadline: NIODeadline) {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].deadline = deadline
    }

    package mutating func requestRead() {
        guard let last = open.indices.last else { return }
        open[last].isRead = true
        removeFinished()
    }

    package mutating func answerWritten() {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].isAnswered = true
        removeFinished()
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

    private mutating func removeFinished() {
        guard let first = open.first, first.isRead, first.isAnswered else { return }
        open.removeFirst()
    }
}
