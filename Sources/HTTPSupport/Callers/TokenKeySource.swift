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

    package func load() async throws(TokenKeysError) -> [UInt8] {
        switch self {
        case .file(let url):
            guard let data = try? Data(contentsOf: url) else { throw .unreadable }
            return [UInt8](data)
        case .address(let url):
            do { return try await Deadline.run(within: Self.timeout) { try await Self.fetch(url) } } catch {
                throw .unreachable
            }
        }
    }

    private static func fetch(_ url: URL) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .init(redirectConfiguration: .disallow)) { client in
            // The client's own timeout ends at the head of the response.
            let response = try await client.execute(
                HTTPClientRequest(url: url.absoluteString), deadline: .distantFuture)
            guard response.status == .ok else { throw TokenKeysError.unreachable }
            return Array(try await response.body.collect(upTo: TokenKeySet.maximumSize).readableBytesView)
        }
    }
}
