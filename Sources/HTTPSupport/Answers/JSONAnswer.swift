import Foundation
import HTTPTypes
import Hummingbird
import Proofs

/// A response with a JSON body.
package enum JSONAnswer {
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    package static func encode(_ value: JSONValue) -> [UInt8] {
        Array(value.compactText.utf8)
    }

    package static func response(_ value: some Encodable, headers: HTTPFields = [:]) throws -> Response {
        response(bytes: try encode(value), headers: headers)
    }

    /// Returns a response with an entity tag (see `CacheableAnswer`).
    package static func cacheable(
        _ value: some Encodable,
        for request: Request,
        headers: HTTPFields = [:]
    ) throws -> Response {
        CacheableAnswer.response(try encode(value), type: "application/json", for: request, headers: headers)
    }

    package static func response(
        bytes: [UInt8],
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// A response that a client may cache.
package enum CacheableAnswer {
    /// Returns a strong entity tag (RFC 9110 section 8.8.3).
    package static func tag(of bytes: [UInt8]) -> String {
        "\"" + DigestAlgorithm.sha256.digest(of: bytes).prefix(16).hexadecimal + "\""
    }

    /// Returns the bytes with their entity tag, or 304 without a body if the client already has them (RFC 9110 section
    /// 13.1.2).
    package static func response(
        _ bytes: [UInt8],
        type: String,
        for request: Request,
        headers: HTTPFields = [:]
    ) -> Response {
        let tag = tag(of: bytes)
        var headers = headers
        headers[.eTag] = tag
        let known = request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        if known.contains(where: { $0 == "*" || $0 == tag || $0 == "W/" + tag }) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = type
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
