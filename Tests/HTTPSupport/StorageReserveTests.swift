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

    @Test(
        arguments: [
            (nil, 1000), (8000, 1000), (80_000, 1000), (7999, 999), (800, 100), (7, 0), (.max, 1000),
        ] as [(Int64?, Int64)])
    func `the reserve is an eighth of the file system at most`(size: Int64?, bound: Int64) {
        let reserve = StorageReserve(
            bytes: 1000, ofFileSystem: size, clock: clock,
            logger: Logger(label: "tests") { _ in Handler(lines: lines) },
            freeBytes: disk.askFree)
        disk.setFree(bound)
        #expect(!reserve.isReached)
        disk.setFree(bound - 1)
        clock.advance(milliseconds: 1000)
        #expect(reserve.isReached)
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

    @Test func `the size and the free space of a folder are known, and those of no folder are not`() throws {
        let folder = try TemporaryFolder()
        let free = try #require(StorageReserve.freeBytes(at: folder.url))
        #expect(free > 0)
        #expect(try #require(StorageReserve.size(at: folder.url)) > free)
        #expect(StorageReserve.size(at: folder.file("none")) == nil)
        #expect(StorageReserve.freeBytes(at: folder.file("none")) == nil)
    }
}
