import Foundation
import HTTPSupport
import Logging
import Synchronization
import TestSupport
import Testing

/// The reserve of free space.
@Suite struct StorageReserveTests {
    /// The lines of a logger.
    private final class Lines: Sendable {
        private let written = Mutex<[String]>([])

        var all: [String] { written.withLock { $0 } }

        func add(_ line: String) { written.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.level) \(event.message)") }
    }

    private let disk = ManualDisk()
    private let clock = ManualClock()
    private let lines = Lines()
    private let reserve: StorageReserve

    init() {
        reserve = StorageReserve(
            bytes: 1000, clock: clock, logger: Logger(label: "tests") { [lines] _ in Handler(lines: lines) },
            freeBytes: disk.askFree)
    }

    @Test(
        arguments: [
            ([1000], [false]), ([999], [true]), ([0], [true]),
            // The reserve is left only at a higher bound.
            ([999, 1000, 1249, 1250, 1000, 999], [true, true, true, false, false, true]),
            // An unknown space changes nothing.
            ([nil], [false]), ([999, nil, 2000, nil], [true, true, false, false]),
        ] as [([Int64?], [Bool])])
    func `the reserve is reached below its size, and left above a quarter more`(free: [Int64?], isReached: [Bool]) {
        let answers = free.map { bytes in
            disk.setFree(bytes)
            clock.advance(milliseconds: 1000)
            return reserve.isReached
        }
        #expect(answers == isReached)
    }

    @Test func `the disk is asked once a second, also by a clock that is set back`() {
        for _ in 0..<10 { #expect(!reserve.isReached) }
        disk.setFree(0)
        clock.advance(milliseconds: 999)
        #expect(!reserve.isReached)
        #expect(disk.questions == 1)
        clock.advance(milliseconds: 1)
        #expect(reserve.isReached)
        #expect(disk.questions == 2)
        disk.setFree(.max)
        clock.advance(milliseconds: -3_600_000)
        #expect(!reserve.isReached)
        #expect(disk.questions == 3)
    }

    @Test func `each change is logged once`() {
        for free in [2000, 10, 10, 1100, 2000, 2000] as [Int64] {
            disk.setFree(free)
            clock.advance(milliseconds: 1000)
            _ = reserve.isReached
        }
        #expect(
            lines.all == [
                "warning the disk is almost full: only purchases, notifications and back ends write",
                "notice the disk has free space again: all callers write",
            ])
    }

    @Test func `the free space of a folder is known, and that of no folder is not`() throws {
        let folder = try TemporaryFolder()
        #expect(try #require(StorageReserve.freeBytes(at: folder.url)) > 0)
        #expect(StorageReserve.freeBytes(at: folder.file("none")) == nil)
    }
}
