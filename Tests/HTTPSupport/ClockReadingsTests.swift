import HTTPSupport
import Testing

/// The clocks of a local store whose database fails.
@Suite struct ClockReadingsTests {
    private struct Unreadable: Error {}

    @Test func `the last reading counts while the database cannot be read, and the log says so once`() {
        let log = LogRecorder()
        let readings = ClockReadings(logger: log.logger)
        func offset(_ value: Int64?) -> Int64 {
            readings.value(.offset, before: 0) {
                guard let value else { throw Unreadable() }
                return value
            }
        }
        #expect(offset(90) == 90)
        #expect(log.lines.isEmpty)
        for _ in 0..<3 { #expect(offset(nil) == 90) }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("critical the clock of the local store cannot be read") == true)
        #expect(offset(120) == 120)
        #expect(log.lines.count == 2)
        #expect(offset(nil) == 120)
    }

    @Test func `readings of one kind do not stand in for those of another`() {
        let readings = ClockReadings(logger: LogRecorder().logger)
        #expect(readings.value(.offset, before: 0) { 90 } == 90)
        #expect(readings.value(.latestOffset, before: 7) { throw Unreadable() } == 7)
        #expect(readings.value(.hasCustomers, before: false) { throw Unreadable() } == false)
        #expect(readings.attempt { throw Unreadable() } as Int? == nil)
    }
}
