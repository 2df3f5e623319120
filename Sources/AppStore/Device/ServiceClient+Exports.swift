import AsyncHTTPClient
import Foundation

extension ServiceClient {
    /// The largest part of an export, in bytes: a part has all records of its users.
    private static let maximumPart = 1 << 28
    private static let attempts = 10

    /// A part of an export.
    package struct ExportPart: Sendable {
        /// Whole lines.
        package let body: Data
        /// The path of the next part, with its query; nil after the last.
        package let next: String?
    }

    /// Reads a part of an export, and retries if the service limits the rate or is busy.
    ///
    /// Throws as `get` does.
    package func exportPart(_ path: String) async throws -> ExportPart {
        let (links, body) = try await answer(
            to: HTTPClientRequest(url: url.absoluteString + path), within: 120, upTo: Self.maximumPart,
            attempts: Self.attempts)
        return ExportPart(body: body, next: links.lazy.compactMap(Self.next).first)
    }

    /// The path of a link to the next part (RFC 8288), on the same service.
    private static func next(_ link: String) -> String? {
        link.wholeMatch(of: /<(\/[^>]*)>; *rel="next"/).map { String($0.1) }
    }
}
