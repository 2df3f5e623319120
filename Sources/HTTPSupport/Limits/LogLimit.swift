import Ledger
import Logging
import Synchronization

/// A limit on the log lines that anyone can cause: a budget for each level and cause. Without it, strangers could fill the disk.
///
/// With one budget for all lines, strangers could also hide the others. The log says once a minute how many lines of each cause
/// it has suppressed.
package final class LogLimit: Sendable {
    package static let linesPerMinute = LogBudget.linesPerMinute
    /// The lines about the answered requests of strangers.
    package static let answersPerMinute = 120

    private static let summaryInterval = Duration.seconds(10)

    private let budget = Mutex(LogBudget())

    package init() {}

    /// The level of a line: the given level for the first lines of a cause in a minute, and `debug` for the others.
    ///
    /// - Parameters:
    ///   - cause: A word that the program defines, such as a code or a type. It is never text of a stranger.
    ///   - network: The network of the stranger who causes the line; nil for no stranger.
    ///   - logger: The logger that says what was suppressed in an earlier minute.
    ///   - count: The number of lines a minute.
    package func level(
        _ level: Logger.Level, of cause: String, from network: ClientNetwork? = nil, in logger: Logger,
        at now: ContinuousClock.Instant = .now, upTo count: Int = linesPerMinute
    ) -> Logger.Level {
        guard level > .debug else { return level }
        let (suppressed, isAdmitted) = budget.withLock {
            ($0.end(at: now), $0.admits(level, cause, from: network, at: now, upTo: count))
        }
        Self.report(suppressed, in: logger)
        return isAdmitted ? level : .debug
    }

    /// The task that says once a minute what was suppressed, and at the end of the service.
    package func summaries(in logger: Logger) -> Companion {
        Companion { await self.summarize(in: logger) }
    }

    package func summarize(in logger: Logger) async {
        await AsyncStream.ticksUntilShutdown(every: Self.summaryInterval) {
            Self.report(budget.withLock { $0.end(at: .now) }, in: logger)
        }
        Self.report(budget.withLock { $0.end() }, in: logger)
    }

    private static func report(_ suppressed: [LogBudget.Suppressed], in logger: Logger) {
        guard !suppressed.isEmpty else { return }
        var logger = logger
        // The lines are those of many requests.
        logger[metadataKey: "hb.request.id"] = nil
        for lines in suppressed {
            logger.log(
                level: lines.level, "log lines suppressed",
                metadata: lines.counts.mapValues { .stringConvertible($0) })
        }
    }
}

/// The rules of a limited log. Its memory is bounded by the number of causes.
///
/// One site of strangers has a quarter of the lines of a cause, but at least two. As many are kept for sites with less than half of that.
package struct LogBudget {
    package static let linesPerMinute = 6
    package static let minute = Duration.seconds(60)
    /// The largest number of causes with a budget of their own. All others share one.
    package static let maximumCauses = 256
    package static let otherCauses = "others"

    private struct Subject: Hashable {
        let level: Logger.Level
        let cause: String
    }

    /// The suppressed lines of a level, by their causes.
    package struct Suppressed: Equatable {
        package let level: Logger.Level
        package let counts: [String: Int]
    }

    private struct Lines {
        let limit: Int
        var admitted = 0
        var suppressed = 0
        var bySite: [ClientNetwork: Int] = [:]

        mutating func admits(_ network: ClientNetwork?) -> Bool {
            let (site, share) = (network?.site ?? .unknown, max(2, limit / 4))
            let isScarce = admitted >= limit - share
            let own = site == .unknown ? 0 : bySite[site] ?? 0
            guard admitted < limit, own < (isScarce ? share / 2 : share) else {
                suppressed += 1
                return false
            }
            admitted += 1
            bySite[site] = own + 1
            return true
        }
    }

    private var began: ContinuousClock.Instant?
    private var lines: [Subject: Lines] = [:]

    package init() {}

    /// Counts a line.
    ///
    /// - Parameters:
    ///   - network: The network of the stranger who causes the line; nil for no stranger.
    ///   - limit: The budget of the cause, which is the same for each of its lines.
    /// - Returns: False if the lines of the cause have used their budget.
    package mutating func admits(
        _ level: Logger.Level, _ cause: String, from network: ClientNetwork? = nil, at now: ContinuousClock.Instant,
        upTo limit: Int = linesPerMinute
    ) -> Bool {
        if began == nil { began = now }
        var subject = Subject(level: level, cause: cause)
        if lines[subject] == nil, lines.count >= Self.maximumCauses {
            subject = Subject(level: level, cause: Self.otherCauses)
        }
        let new = Lines(limit: subject.cause == cause ? limit : Self.linesPerMinute)
        return lines[subject, default: new].admits(network)
    }

    /// Ends a minute that is over.
    ///
    /// - Parameter now: The present; nil to end it at once.
    /// - Returns: The suppressed lines of the minute, the highest level first.
    package mutating func end(at now: ContinuousClock.Instant? = nil) -> [Suppressed] {
        guard let began, now.map({ $0 - began >= Self.minute }) ?? true else { return [] }
        var counts: [Logger.Level: [String: Int]] = [:]
        for (subject, lines) in lines where lines.suppressed > 0 {
            counts[subject.level, default: [:]][subject.cause] = lines.suppressed
        }
        (self.began, lines) = (nil, [:])
        return counts.sorted { $0.key > $1.key }.map { Suppressed(level: $0.key, counts: $0.value) }
    }
}
