import Logging
import Synchronization

/// A limit on the log lines that anyone can cause. Without it, strangers could fill the disk and hide other lines.
package final class LogLimit: Sendable {
    package static let linesPerMinute = 6

    private let minute = Mutex<(began: ContinuousClock.Instant?, lines: Int)>((nil, 0))

    package init() {}

    /// The level of a line: the given level for the first lines of a minute, and `debug` for the others.
    package func level(_ level: Logger.Level, at now: ContinuousClock.Instant = .now) -> Logger.Level {
        guard level > .debug else { return level }
        return minute.withLock { minute in
            if minute.began.map({ now - $0 >= .seconds(60) }) ?? true { minute = (now, 0) }
            minute.lines += 1
            return minute.lines > Self.linesPerMinute ? .debug : level
        }
    }
}
