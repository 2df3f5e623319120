import Logging
import Synchronization

/// A log in memory: of each line, the level, the message and the metadata in the order of their keys.
final class LogRecorder: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock(\.self) }

    var logger: Logger {
        Logger(label: "tests") { [self] _ in Handler(recorder: self) }
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = metadata.merging(event.metadata ?? [:]) { $1 }
            let words =
                [event.level.rawValue, event.message.description]
                + values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            recorder.recorded.withLock { $0.append(words.joined(separator: " ")) }
        }
    }
}
