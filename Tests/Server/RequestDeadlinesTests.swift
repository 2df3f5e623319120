import NIOCore
import Server
import Testing

@Suite struct RequestDeadlinesTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func aRequestInTimeLeavesNothingBehind() {
        var deadlines = RequestDeadlines(limit: .seconds(30))
        #expect(deadlines.requestBegan(at: start) == .schedule(start + .seconds(30)))
        #expect(deadlines.requestRead() == .none)
        #expect(deadlines.answerWritten() == .cancel)
        #expect(deadlines.timerFired(at: start + .seconds(60)) == .none)
        #expect(deadlines.answerWritten() == .none)
        #expect(deadlines.requestRead() == .none)
    }

    @Test func aRequestOutOfTimeClosesTheConnection() {
        var deadlines = RequestDeadlines(limit: .seconds(30))
        _ = deadlines.requestBegan(at: start)
        #expect(deadlines.timerFired(at: start + .seconds(30) - .nanoseconds(1)) == .schedule(start + .seconds(30)))
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .close)
    }

    @Test func anAnswerBeforeTheBodyEndsDoesNotStopTheClock() {
        var deadlines = RequestDeadlines(limit: .seconds(30))
        _ = deadlines.requestBegan(at: start)
        #expect(deadlines.answerWritten() == .none)
        #expect(deadlines.timerFired(at: start + .seconds(30)) == .close)
        #expect(deadlines.requestRead() == .cancel)
    }

    @Test func eachOfSeveralRequestsHasItsOwnTime() {
        var deadlines = RequestDeadlines(limit: .seconds(30))
        _ = deadlines.requestBegan(at: start)
        _ = deadlines.requestRead()
        #expect(deadlines.requestBegan(at: start + .seconds(20)) == .none)
        #expect(deadlines.requestRead() == .none)
        #expect(deadlines.answerWritten() == .schedule(start + .seconds(50)))
        #expect(deadlines.timerFired(at: start + .seconds(49)) == .schedule(start + .seconds(50)))
        #expect(deadlines.timerFired(at: start + .seconds(50)) == .close)
    }
}
