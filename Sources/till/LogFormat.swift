import Logging
import Proofs

/// The format of the service's log on standard error.
enum LogFormat: String, CaseIterable {
    case text
    /// One JSON object a line.
    case json

    /// Makes the handler of a logger.
    func handler(label: String) -> any LogHandler {
        switch self {
        case .text: TextLogHandler(.standardError(label: label))
        case .json: JSONLogHandler(label: label, clock: SystemClock())
        }
    }
}

/// A log handler that writes each event as a line of text, as `StreamLogHandler` does.
///
/// `StreamLogHandler` formats its metadata at each change, and each request changes it: it has an identifier of its own. Most requests
/// write no line, so this handler formats the metadata with the line.
package struct TextLogHandler: LogHandler {
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    /// Writes with a handler without metadata. The closure is small: each request copies its logger.
    private let write: @Sendable (LogEvent) -> Void

    /// - Parameter handler: A handler without metadata.
    package init(_ handler: StreamLogHandler) {
        write = { handler.log(event: $0) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var event = event
        event.metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        write(event)
    }
}
