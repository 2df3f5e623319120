import AsyncHTTPClient
import Foundation
import Proofs

/// The source of an issuer's keys: a file, or an address at which the issuer publishes them.
package enum TokenKeySource: Sendable, Hashable, CustomStringConvertible {
    case file(URL)
    /// An address with HTTPS, or with HTTP on the loopback interface.
    case address(URL)

    /// The timeout of a download, up to the last byte of the response.
    private static let timeout = Duration.seconds(10)

    /// - Parameter text: A path, or an address with its scheme.
    /// - Returns: Nil if an attacker on the network could answer for the address.
    package init?(_ text: String) {
        guard text.contains("://") else {
            self = .file(URL(filePath: text))
            return
        }
        guard let url = URL(string: text), let host = url.host(), url.user == nil else { return nil }
        let isLoopback = ["127.0.0.1", "::1", "localhost"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback) else { return nil }
        self = .address(url)
    }

    package var description: String {
        switch self {
        case .file(let url): url.path
        case .address(let url): url.absoluteString
        }
    }

    /// - Returns: The bytes, and the seconds for which the response may be cached; nil if it does not say.
    package func load() async throws(TokenKeysError) -> (bytes: [UInt8], maximumAge: Int64?) {
        switch self {
        case .file(let url):
            guard let data = try? Data(contentsOf: url) else { throw .unreadable }
            return ([UInt8](data), nil)
        case .address(let url):
            do { return try await Deadline.run(within: Self.timeout) { try await Self.fetch(url) } } catch {
                throw .unreachable
            }
        }
    }

    private static func fetch(_ url: URL) async throws -> (bytes: [UInt8], maximumAge: Int64?) {
        try await HTTPClient.withHTTPClient(configuration: .init(redirectConfiguration: .disallow)) { client in
            // The client's own timeout ends at the head of the response.
            let response = try await client.execute(
                HTTPClientRequest(url: url.absoluteString), deadline: .distantFuture)
            guard response.status == .ok else { throw TokenKeysError.unreachable }
            let bytes = Array(try await response.body.collect(upTo: TokenKeySet.maximumSize).readableBytesView)
            return (bytes, maximumAge(response.headers[canonicalForm: "Cache-Control"]))
        }
    }

    /// The seconds of `max-age`, and 0 for `no-cache` and `no-store` (RFC 9111 section 5.2.2). Nil without them.
    private static func maximumAge(_ directives: [Substring]) -> Int64? {
        let directives = directives.map { $0.lowercased() }
        guard !directives.contains("no-cache"), !directives.contains("no-store") else { return 0 }
        let name = "max-age="
        return directives.first { $0.hasPrefix(name) }.flatMap { directive in
            Int64(directive.dropFirst(name.count).filter { $0 != "\"" }).map { max(0, $0) }
        }
    }
}

/// Typed access to the claims of a token (RFC 7519 section 4).
package struct TokenClaims: Sendable {
    package let object: JSONObject

    /// The text of a claim; nil for a missing claim, or one of another type.
    package func text(_ name: String) -> String? {
        if case .string(let text) = object[name] { text } else { nil }
    }

    /// The truth of a claim; nil for a missing claim, or one of another type.
    package func flag(_ name: String) -> Bool? {
        if case .bool(let flag) = object[name] { flag } else { nil }
    }

    /// The audiences of `aud`, which is a string or an array of strings (RFC 7519 section 4.1.3); nil for anything else.
    package var audiences: [String]? {
        guard case .array(let elements) = object["aud"] else { return text("aud").map { [$0] } }
        let audiences = elements.compactMap { if case .string(let audience) = $0 { audience } else { nil } }
        return audiences.count == elements.count ? audiences : nil
    }

    /// A NumericDate (RFC 7519 section 2), in seconds since 1970; nil for a missing claim, or one of another type.
    ///
    /// - Parameter standard: The date if the claim is missing or null.
    package func date(_ name: String, else standard: Double? = nil) -> Double? {
        switch object[name] {
        case nil, .null: standard
        case .number(let number): number.double
        default: nil
        }
    }
}
