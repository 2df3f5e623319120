import HTTPSupport
import Logging
import Testing

/// The limit on log lines that anyone can cause.
@Suite struct LogLimitTests {
    @Test(arguments: [Logger.Level.info, .warning, .error])
    func `only the first lines of a minute keep their level`(level: Logger.Level) {
        let limit = LogLimit()
        let now = ContinuousClock.now
        for minute in 0..<3 {
            let levels = (0..<100).map { limit.level(level, at: now + .seconds(60 * minute) + .milliseconds($0)) }
            #expect(levels.count { $0 == level } == LogLimit.linesPerMinute)
            #expect(levels.allSatisfy { $0 == level || $0 == .debug })
        }
    }

    @Test func `a line for developers is not counted`() {
        let limit = LogLimit()
        for _ in 0..<100 { #expect(limit.level(.trace) == .trace) }
        #expect(limit.level(.error) == .error)
    }
}
