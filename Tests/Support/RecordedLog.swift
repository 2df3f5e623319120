import Logging
import Synchronization

/// The lines of a log, at every level, with their metadata.
package final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { recorded.withLock { $0 } }

    package var logger: Logger { Logger(label: "tests") { [self] _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            log.recorded.withLock { $0.append("\(event.level) \(event.message) \(all)") }
        }
    }
}
