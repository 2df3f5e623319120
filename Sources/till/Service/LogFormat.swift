import Foundation
import Logging
import Proofs
import Synchronization

/// The format of the service's log on standard error.
enum LogFormat: String, CaseIterable {
    case text
    /// One JSON object a line.
    case json

    /// Makes the handler of a logger.
    func handler(label: String) -> any LogHandler {
        switch self {
        case .text: TextLogHandler(label: label)
        case .json: JSONLogHandler(label: label, clock: SystemClock())
        }
    }
}

/// A log handler that writes each event as a line of text, as `StreamLogHandler` does.
///
/// `StreamLogHandler` formats its metadata at each change, and each request changes it: it has an identifier of its own. Most requests
/// write no line, so this handler formats the metadata with the line. It escapes what a terminal obeys, as `Terminal` does.
package struct TextLogHandler: LogHandler {
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    /// The handler without metadata. It is a reference, so that this handler has three words, which a logger holds without memory of
    /// their own: each request copies its logger.
    private let lines: Lines

    private final class Lines: Sendable {
        let handler: StreamLogHandler

        init(_ handler: StreamLogHandler) { self.handler = handler }
    }

    /// - Parameter write: Writes a line with its line feed (default: to standard error).
    package init(
        label: String, write: @escaping @Sendable (Data) -> Void = JSONLogHandler.writeToStandardError
    ) {
        lines = Lines(StreamLogHandler(label: label, stream: ShownLines(write: write), metadataProvider: nil))
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var event = event
        event.metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        lines.handler.log(event: event)
    }
}

/// A stream of lines, which `StreamLogHandler` writes one by one, with the escapes of `TerminalText`.
private struct ShownLines: TextOutputStream, Sendable {
    let write: @Sendable (Data) -> Void

    func write(_ line: String) {
        write(Data("\(line.dropLast(line.hasSuffix("\n") ? 1 : 0))".shown(as: .line).utf8) + [UInt8(ascii: "\n")])
    }
}

/// A log handler that writes each event as one JSON object on a line of its own: `time`, `level`, `label`, `message` and, if there
/// is any, `metadata`.
package struct JSONLogHandler: LogHandler {
    /// Standard error behind a lock, so that lines of several threads do not mix.
    private static let standardError = Mutex(FileHandle.standardError)

    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let clock: any WallClock
    private let write: @Sendable (Data) -> Void

    /// - Parameter write: Writes a line with its line feed (default: to standard error).
    package init(
        label: String, clock: any WallClock, write: @escaping @Sendable (Data) -> Void = Self.writeToStandardError
    ) {
        self.label = label
        self.clock = clock
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let values = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        let line: Report = [
            "time": Self.time(clock.now()), "level": event.level.rawValue, "label": label,
            "message": event.message.description, "metadata": values.isEmpty ? nil : values,
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(line) else { return }
        write(Data("\(String(decoding: data, as: UTF8.self).shown(as: .json))\n".utf8))
    }

    package static func writeToStandardError(_ line: Data) {
        standardError.withLock { try? $0.write(contentsOf: line) }
    }

    /// RFC 3339 with milliseconds, UTC.
    private static func time(_ moment: Timestamp) -> String {
        let milliseconds = String(moment.millisecondsSince1970 - moment.secondsSince1970 * 1000)
        let padding = String(repeating: "0", count: 3 - milliseconds.count)
        return "\(moment.rfc3339.dropLast()).\(padding)\(milliseconds)Z"
    }
}

extension Logger.MetadataValue: @retroactive Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .stringConvertible(let value): try container.encode(value.description)
        case .array(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }
}
