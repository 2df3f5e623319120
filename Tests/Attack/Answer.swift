import Foundation
import NIOCore

/// The service's answer to a request.
struct Answer: Sendable {
    /// The part of an answer that a client waits for.
    enum Extent: Sendable {
        case whole
        /// The head and the first bytes of the body, as of a stream.
        case beginning
    }

    let status: Int
    let body: String
    /// The time from opening the connection to the last byte awaited.
    let latency: TimeAmount

    /// Reads an answer.
    ///
    /// - Returns: Nil if more bytes must arrive.
    init?(_ bytes: ByteBuffer, until extent: Extent, latency: TimeAmount) {
        let view = bytes.readableBytesView
        guard let separator = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: view[..<separator.lowerBound], as: UTF8.self)
        let body = view[separator.upperBound...]
        let lines = head.split(whereSeparator: \.isNewline)
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        // A refusal is no stream.
        let isStream = extent == .beginning && status == 200
        guard body.count >= (isStream ? 1 : Self.contentLength(lines.dropFirst())) else { return nil }
        self.status = status
        self.body = String(decoding: body, as: UTF8.self)
        self.latency = latency
    }

    private static func contentLength(_ lines: ArraySlice<Substring>) -> Int {
        let field = "content-length:"
        let line = lines.first { $0.lowercased().hasPrefix(field) }
        return line.flatMap { Int($0.dropFirst(field.count).trimmingCharacters(in: .whitespaces)) } ?? 0
    }
}
