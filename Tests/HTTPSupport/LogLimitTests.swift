import HTTPSupport
import Ledger
import Logging
import Synchronization
import Testing

/// The limit on log lines that anyone can cause.
@Suite struct LogLimitTests {
    private let start = ContinuousClock.now
    private let recorder = LogRecorder()

    private func count(_ levels: [Logger.Level], _ level: Logger.Level) -> Int { levels.count { $0 == level } }

    @Test(arguments: [Logger.Level.info, .warning, .error])
    func `only the first lines of a minute keep their level`(level: Logger.Level) {
        let limit = LogLimit()
        for minute in 0..<3 {
            let levels = (0..<100).map {
                limit.level(
                    level, of: "keyInvalid", in: recorder.logger,
                    at: start + .seconds(60 * minute) + .milliseconds($0))
            }
            #expect(count(levels, level) == LogLimit.linesPerMinute)
            #expect(levels.allSatisfy { $0 == level || $0 == .debug })
        }
    }

    @Test func `a line for developers is not counted`() {
        let limit = LogLimit()
        for _ in 0..<100 { #expect(limit.level(.trace, of: "x", in: recorder.logger) == .trace) }
        #expect(limit.level(.error, of: "x", in: recorder.logger) == .error)
    }

    @Test func `no flood hides the lines of another cause or level`() {
        let limit = LogLimit()
        for _ in 0..<10_000 { _ = limit.level(.error, of: "flood", in: recorder.logger, at: start) }
        for _ in 0..<LogLimit.linesPerMinute {
            #expect(limit.level(.error, of: "storageDamaged", in: recorder.logger, at: start) == .error)
            #expect(limit.level(.info, of: "flood", in: recorder.logger, at: start) == .info)
        }
        #expect(limit.level(.error, of: "storageDamaged", in: recorder.logger, at: start) == .debug)
    }

    @Test(arguments: [
        (0..<100).map { "192.0.2.\($0)" }, (0..<100).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `one site has two of six lines, and the last two are for sites without one`(addresses: [String]) {
        var budget = LogBudget()
        func admitted(from addresses: [String]) -> Int {
            addresses.count {
                budget.admits(.info, "keyInvalid", from: ClientNetwork(forwarded: $0), at: start)
            }
        }
        #expect(admitted(from: addresses) == 2)
        #expect(admitted(from: ["198.51.100.1", "198.51.100.2", "198.51.100.3"]) == 2)
        #expect(admitted(from: ["203.0.113.1", "203.0.113.2"]) == 1)
        #expect(admitted(from: ["203.0.114.1", "203.0.115.1"]) == 1)
        let suppressed = budget.end()
        #expect(suppressed.map(\.counts) == [["keyInvalid": 98 + 1 + 1 + 1]])
    }

    @Test func `one site has a quarter of a larger budget`() {
        var budget = LogBudget()
        func admitted(_ count: Int, from address: String?) -> Int {
            (0..<count).count { _ in
                budget.admits(.info, "GET /", from: address.map { ClientNetwork(forwarded: $0) }, at: start, upTo: 120)
            }
        }
        #expect((1...3).map { admitted(100, from: "192.0.\($0).1") } == [30, 30, 30])
        #expect((1...3).map { admitted(100, from: "198.51.\($0).1") } == [15, 15, 0])
        #expect(admitted(1, from: nil) == 0)
    }

    @Test func `lines of no stranger, or of one without an address, have the whole budget`() {
        for network in [nil, ClientNetwork.unknown] {
            var budget = LogBudget()
            let admitted = (0..<10).count { _ in budget.admits(.info, "x", from: network, at: start) }
            #expect(admitted == LogBudget.linesPerMinute)
        }
    }

    @Test func `a cause may have a larger budget`() {
        let limit = LogLimit()
        let levels = (0..<200).map { _ in
            limit.level(.info, of: "GET /health/live", in: recorder.logger, at: start, upTo: LogLimit.answersPerMinute)
        }
        #expect(count(levels, .info) == LogLimit.answersPerMinute)
        _ = limit.level(.info, of: "other", in: recorder.logger, at: start + .seconds(60))
        #expect(recorder.lines == ["info log lines suppressed GET /health/live=80"])
    }

    @Test func `the log says after a minute what it has suppressed, without the identifier of a request`() {
        let limit = LogLimit()
        var logger = recorder.logger
        logger[metadataKey: "hb.request.id"] = "1"
        for _ in 0..<10 { _ = limit.level(.info, of: "keyInvalid", in: logger, at: start) }
        for _ in 0..<7 { _ = limit.level(.info, of: "notFound", in: logger, at: start) }
        for _ in 0..<8 { _ = limit.level(.error, of: "internalError", in: logger, at: start) }
        for _ in 0..<6 { _ = limit.level(.error, of: "rare", in: logger, at: start + .seconds(59)) }
        #expect(recorder.lines == [])
        _ = limit.level(.info, of: "notFound", in: logger, at: start + .seconds(60))
        #expect(
            recorder.lines == [
                "error log lines suppressed internalError=2",
                "info log lines suppressed keyInvalid=4 notFound=1",
            ])
        _ = limit.level(.info, of: "notFound", in: logger, at: start + .seconds(120))
        #expect(recorder.lines.count == 2)
    }

    @Test func `the end of the service says what it has suppressed`() async {
        let limit = LogLimit()
        for _ in 0..<9 { _ = limit.level(.warning, of: "mailboxUnknown", in: recorder.logger) }
        let task = Task { await limit.summarize(in: recorder.logger) }
        task.cancel()
        await task.value
        #expect(recorder.lines == ["warning log lines suppressed mailboxUnknown=3"])
    }

    @Test func `more causes than the limit share a budget`() {
        var budget = LogBudget()
        var admitted = 0
        for number in 0..<LogBudget.maximumCauses where budget.admits(.info, "\(number)", at: start) { admitted += 1 }
        #expect(admitted == LogBudget.maximumCauses)
        for number in 0..<100 where budget.admits(.info, "new \(number)", at: start) { admitted += 1 }
        #expect(admitted == LogBudget.maximumCauses + LogLimit.linesPerMinute)
        // A line of another level is not among them.
        let isErrorAdmitted = budget.admits(.error, "new", at: start)
        #expect(isErrorAdmitted)
        let suppressed = budget.end()
        #expect(suppressed.map(\.level) == [.info])
        #expect(suppressed.first?.counts == [LogBudget.otherCauses: 100 - LogLimit.linesPerMinute])
        let rest = budget.end()
        #expect(rest == [])
    }
}
