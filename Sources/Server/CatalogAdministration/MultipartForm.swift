import Foundation
import HTTPTypes
import Hummingbird

/// A form that brings files (`multipart/form-data`, RFC 7578), read whole.
package struct MultipartForm {
    /// One field of it.
    package struct Part {
        package let name: String
        /// What the sender says that it is; nil where nothing is said.
        package let mediaType: String?
        package let bytes: [UInt8]
    }

    /// How many fields there may be, and how long the head of each, in bytes.
    private static let maximumParts = 16
    private static let maximumHead = 4096
    private static let lineEnd = Data("\r\n".utf8)

    package let parts: [Part]

    /// - Parameter maximumSize: The largest body read, in bytes.
    /// - Throws: `Problem`, `mediaTypeUnsupported`, `formInvalid`.
    init(_ request: Request, upTo maximumSize: Int) async throws {
        guard let boundary = Self.boundary(request.headers[.contentType] ?? "") else {
            throw Problem(
                status: .unsupportedMediaType, code: "mediaTypeUnsupported",
                detail: "The body has to be multipart/form-data, and its Content-Type has to name the boundary.")
        }
        try self.init(Data(try await JSONBody.collect(request, upTo: maximumSize)), boundary: boundary)
    }

    /// - Throws: `Problem`, `formInvalid`.
    package init(_ body: Data, boundary: String) throws {
        let delimiter = Data("--\(boundary)".utf8)
        guard body.starts(with: delimiter) else { throw Self.invalid("does not begin with its boundary") }
        var parts: [Part] = []
        var rest = body.dropFirst(delimiter.count)
        while !rest.starts(with: Data("--".utf8)) {
            guard parts.count < Self.maximumParts else { throw Self.invalid("has too many fields") }
            // Spaces may follow a boundary.
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.starts(with: Self.lineEnd) else { throw Self.invalid("ends amid a boundary") }
            rest = rest.dropFirst(Self.lineEnd.count)
            guard let next = rest.range(of: Self.lineEnd + delimiter) else { throw Self.invalid("does not end") }
            parts.append(try Self.part(rest[..<next.lowerBound]))
            rest = rest[next.upperBound...]
        }
        self.parts = parts
    }

    private static func part(_ bytes: Data) throws(Problem) -> Part {
        guard let end = bytes.prefix(maximumHead).range(of: lineEnd + lineEnd),
            let head = String(bytes: bytes[..<end.lowerBound], encoding: .utf8)
        else { throw invalid("has a field whose head does not end") }
        var fields: [String: String] = [:]
        for line in head.split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { throw invalid("has a field whose head is none") }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        let disposition = fields["content-disposition"] ?? ""
        guard disposition.lowercased().hasPrefix("form-data"),
            let name = disposition.firstMatch(of: /;\s*name="([^"\\]*)"/)
        else { throw invalid("has a field without a name") }
        let mediaType = fields["content-type"]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return Part(name: String(name.1), mediaType: mediaType, bytes: [UInt8](bytes[end.upperBound...]))
    }

    /// - Returns: nil where a content type is another, or names no boundary.
    private static func boundary(_ contentType: String) -> String? {
        guard contentType.lowercased().hasPrefix("multipart/form-data"),
            let match = contentType.firstMatch(
                of: /;\s*(?i:boundary)=(?:"([A-Za-z0-9'()+_,.\/:=? -]{1,70})"|([A-Za-z0-9'+_.-]{1,70}))/)
        else { return nil }
        return (match.1 ?? match.2).map(String.init)
    }

    private static func invalid(_ reason: String) -> Problem {
        Problem(status: .badRequest, code: "formInvalid", detail: "The body is no form: it \(reason).")
    }
}
