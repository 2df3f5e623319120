import AsyncHTTPClient
import Commerce
import Foundation

/// Where an issuer's keys come from: a file, or an address the issuer publishes them at.
public enum TokenKeySource: Sendable, Hashable, CustomStringConvertible {
    case file(URL)
    /// HTTPS, or HTTP on this machine.
    case address(URL)

    /// For how long an address is waited for, its answer's last byte included.
    private static let patience = Duration.seconds(10)

    /// - Parameter text: A path, or an address with its scheme.
    /// - Returns: nil for an address that anybody on the way could answer for.
    public init?(_ text: String) {
        guard text.contains("://") else {
            self = .file(URL(filePath: text))
            return
        }
        guard let url = URL(string: text), let host = url.host(), url.user == nil else { return nil }
        let isLoopback = ["127.0.0.1", "::1", "localhost"].contains(host)
        guard url.scheme == "https" || (url.scheme == "http" && isLoopback) else { return nil }
        self = .address(url)
    }

    public var description: String {
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
            do { return try await Deadline.run(within: Self.patience) { try await Self.fetch(url) } } catch {
                throw .unreachable
            }
        }
    }

    private static func fetch(_ url: URL) async throws -> [UInt8] {
        try await HTTPClient.withHTTPClient(configuration: .init(redirectConfiguration: .disallow)) { client in
            // The client's own time limit ends with the head of the answer.
            let response = try await client.execute(
                HTTPClientRequest(url: url.absoluteString), deadline: .distantFuture)
            guard response.status == .ok else { throw TokenKeysError.unreachable }
            return Array(try await response.body.collect(upTo: TokenKeySet.maximumSize).readableBytesView)
        }
    }
}
