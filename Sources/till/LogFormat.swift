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
        case .text: StreamLogHandler.standardError(label: label)
        case .json: JSONLogHandler(label: label, clock: SystemClock())
        }
    }
}
