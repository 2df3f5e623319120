import HTTPSupport
import NIOCore
import Testing

@Suite struct RequestDeadlinesTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func `a request in time leaves no timer behind`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        #expect(deadlines.requestBegan(until: start + .seconds(30)) == .schedule(start + .seconds(30)))
        deadlines.requestRead()
        deadlines.answerWritten()
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .none)
        #expect(deadlines.timerFired(at: start + .seconds(60)) == .none)
        deadlines.answerWritten()
        deadlines.requestRead()
        #expect(deadlines.requestBegan(until: start + .seconds(60) + .seconds(30)) == .schedule(start + .seconds(90)))
    }

    @Test func `an overdue request closes the connection`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        _ = deadlines.requestBegan(until: start + .seconds(30))
        #expect(deadlines.timerFired(at: start + .seconds(30) - .nanoseconds(1)) == .schedule(start + .seconds(30)))
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .close)
    }

    @Test func `an answer before the end of the body does not stop the clock`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        _ = deadlines.requestBegan(until: start + .seconds(30))
        deadlines.answerWritten()
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .close)
        deadlines.requestRead()
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .none)
    }

    /// An event stream has more time, and the next request has its normal time.
    @Test func `an event stream has more time`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        _ = deadlines.requestBegan(until: start + .seconds(30))
        deadlines.requestRead()
        deadlines.answerStreams(until: start + .minutes(20))
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .schedule(start + .minutes(20)))
        #expect(deadlines.timerFired(at: start + .minutes(20)) == .close)
        deadlines.answerWritten()
        #expect(
            deadlines.requestBegan(until: start + .minutes(20) + .seconds(30))
                == .schedule(start + .minutes(20) + .seconds(30)))
        deadlines.requestRead()
        deadlines.answerWritten()
        deadlines.answerStreams(until: start + .minutes(40))
        #expect(deadlines.timerFired(at: start + .minutes(21)) == .none)
    }

    /// One timer serves all requests of a connection.
    @Test func `the timer of a finished request watches the next`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        #expect(deadlines.requestBegan(until: start + .seconds(30)) == .schedule(start + .seconds(30)))
        deadlines.requestRead()
        deadlines.answerWritten()
        #expect(deadlines.requestBegan(until: start + .seconds(10) + .seconds(30)) == .none)
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .schedule(start + .seconds(40)))
        #expect(deadlines.timerFired(at: start + .seconds(40)) == .close)
    }

    @Test func `a client that sends no head in time is closed`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        #expect(deadlines.headAwaited(at: start) == .schedule(start + .seconds(10)))
        // The bytes of a slow head arrive.
        #expect(deadlines.headAwaited(at: start + .seconds(5)) == .none)
        #expect(deadlines.timerFired(at: start + .seconds(10)) == .close)
    }

    @Test func `the time for the next head begins with its first byte`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        _ = deadlines.headAwaited(at: start)
        #expect(deadlines.requestBegan(until: start + .seconds(1) + .seconds(30)) == .none)
        deadlines.requestRead()
        deadlines.answerWritten()
        // Only the idle time limits the silence between requests.
        #expect(deadlines.timerFired(at: start + .seconds(10)) == .none)
        #expect(deadlines.headAwaited(at: start + .seconds(40)) == .schedule(start + .seconds(50)))
        #expect(deadlines.timerFired(at: start + .seconds(50)) == .close)
    }

    @Test func `a head is due before the request whose timer runs`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        #expect(deadlines.requestBegan(until: start + .seconds(30)) == .schedule(start + .seconds(30)))
        // Bytes of a body do not begin a head.
        #expect(deadlines.headAwaited(at: start + .seconds(1)) == .none)
        deadlines.requestRead()
        deadlines.answerWritten()
        #expect(deadlines.headAwaited(at: start + .seconds(2)) == .schedule(start + .seconds(12)))
        #expect(deadlines.timerFired(at: start + .seconds(12)) == .close)
    }

    @Test func `each of several requests has its own deadline`() {
        var deadlines = RequestDeadlines(headTime: .seconds(10))
        _ = deadlines.requestBegan(until: start + .seconds(30))
        deadlines.requestRead()
        #expect(deadlines.requestBegan(until: start + .seconds(20) + .seconds(30)) == .none)
        deadlines.requestRead()
        deadlines.answerWritten()
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .schedule(start + .seconds(50)))
        #expect(deadlines.timerFired(at: start + .seconds(50)) == .close)
    }
}
