import Foundation
import HTTPTypes
import Hummingbird

/// A form with files (`multipart/form-data`, RFC 7578), read as a whole.
package struct MultipartForm {
    package struct Part {
        package let name: String
        /// The media type that the sender states; nil if it states none.
        package let mediaType: String?
        package let bytes: [UInt8]
    }

    /// The maximum number of fields, and the longest head of a field in bytes.
    private static let maximumParts = 16
    private static let maximumHead = 1024
    /// The longest header value that is parsed, in bytes. A longer one is treated as empty.
    private static let maximumValue = 1024
    private static let lineEnd = Data("\r\n".utf8)

    package let parts: [Part]

    /// - Parameter maximumSize: The largest body read, in bytes.
    /// - Throws: `Problem`, `mediaTypeUnsupported`, `formInvalid`.
    package init(
        _ request: Request, _ context: ServiceContext, upTo maximumSize: Int
    ) async throws {
        let (mediaType, parameters) = Self.value(request.headers[.contentType] ?? "")
        guard mediaType == "multipart/form-data", let boundary = parameters["boundary"],
            (1...70).contains(boundary.utf8.count)
        else {
            throw Problem(
                status: .unsupportedMediaType, code: "mediaTypeUnsupported",
                detail: "The body must be multipart/form-data. Send a Content-Type with the boundary.")
        }
        let body = Data(try await RequestBytes.collect(request, context, upTo: maximumSize))
        self = try await BlockingWork.process(body.count) { try MultipartForm(body, boundary: boundary) }
    }

    /// - Throws: `Problem`, `formInvalid`.
    package init(_ body: Data, boundary: String) throws {
        let delimiter = Data("--\(boundary)".utf8)
        // The preamble before the first boundary is ignored.
        let first =
            body.starts(with: delimiter) ? body.startIndex : body.range(of: Self.lineEnd + delimiter)?.upperBound
        guard let first else { throw Self.invalid("has no boundary") }
        var parts: [Part] = []
        var rest = body.starts(with: delimiter) ? body.dropFirst(delimiter.count) : body[first...]
        while !rest.starts(with: Data("--".utf8)) {
            guard parts.count < Self.maximumParts else { throw Self.invalid("has too many fields") }
            // Spaces may follow a boundary.
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.starts(with: Self.lineEnd) else { throw Self.invalid("ends within a boundary") }
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
        else { throw invalid("has a field whose head is not UTF-8, too long or cut off") }
        var fields: [String: String] = [:]
        for line in head.split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { throw invalid("has a field with an invalid header line") }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        let (disposition, parameters) = value(fields["content-disposition"] ?? "")
        guard disposition == "form-data", let name = parameters["name"] else {
            throw invalid("has a field without a name")
        }
        return Part(
            name: name, mediaType: fields["content-type"].map { value($0).0 }, bytes: [UInt8](bytes[end.upperBound...]))
    }

    /// A header's value in lower case, and its parameters, whose values are tokens or quoted (RFC 9110 section 5.6.6).
    private static func value(_ text: String) -> (String, [String: String]) {
        guard text.utf8.count <= maximumValue else { return ("", [:]) }
        let parts = text.matches(of: /(?:"(?:[^"\\]|\\.)*"|[^;"])+/).map {
            $0.0.trimmingCharacters(in: .whitespaces)
        }
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let name = halves.first?.lowercased() else { continue }
            let isQuoted = halves[1].count > 1 && halves[1].hasPrefix("\"") && halves[1].hasSuffix("\"")
            let token = String(halves[1])
            let value = isQuoted ? token.dropFirst().dropLast().replacing(/\\(.)/) { $0.1 } : token[...]
            parameters[name] = parameters[name] ?? String(value)
        }
        return (parts.first?.lowercased() ?? "", parameters)
    }

    private static func invalid(_ reason: String) -> Problem {
        Problem(status: .badRequest, code: "formInvalid", detail: "The body is not a valid form: it \(reason).")
    }
}

/// A form in the encoding `application/x-www-form-urlencoded` (URL Standard section 5.1), parsed by bytes.
package struct URLEncodedForm {
    /// The decoded names and values, in their order.
    package let fields: [(name: ArraySlice<UInt8>, value: [UInt8])]

    /// - Returns: Nil for a form with too many fields.
    package init?(_ bytes: [UInt8], upTo maximumFields: Int = 64) {
        var fields: [(name: ArraySlice<UInt8>, value: [UInt8])] = []
        // The last part has all further fields, so many tiny fields need little memory.
        for part in bytes.split(separator: UInt8(ascii: "&"), maxSplits: maximumFields) {
            guard fields.count < maximumFields else { return nil }
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            fields.append((Self.decode(part[..<end])[...], Self.decode(part[end...].dropFirst())))
        }
        self.fields = fields
    }

    /// The first value of a name; nil if the form has none.
    package subscript(name: String) -> [UInt8]? {
        fields.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if let high = rest.first.flatMap(digit), let low = rest.dropFirst().first.flatMap(digit) {
                    decoded.append(high << 4 | low)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

package enum RequestBytes {
    /// The maximum memory reserved for announced bytes that have not arrived.
    private static let maximumReserved = 16 * 1024

    /// Collects a body as it arrives.
    ///
    /// - Parameter maximumSize: The maximum size of the body, in bytes.
    /// - Throws: `Problem` with the code `tooBusy` if too many bytes are in flight; `HTTPError` if the body is too
    ///   large.
    package static func collect(_ request: Request, _ context: ServiceContext, upTo maximumSize: Int) async throws
        -> [UInt8]
    {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximumSize { throw HTTPError(.contentTooLarge) }
        let lease = context.bodyLease(of: request)
        context.notes.hold(lease)
        var bytes: [UInt8] = []
        do {
            for try await chunk in request.body {
                guard bytes.count + chunk.readableBytes <= maximumSize else { throw HTTPError(.contentTooLarge) }
                try lease?.reserve(chunk.readableBytes)
                if bytes.isEmpty, let length { bytes.reserveCapacity(min(length, maximumReserved)) }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let problem as Problem {
            throw problem
        } catch let error as any HTTPResponseError {
            throw error
        } catch {
            // The client has disconnected. This is not a failure of the service.
            throw Problem(
                status: .badRequest, code: "httpError", detail: "The connection closed before the end of the body.")
        }
        return bytes
    }
}
