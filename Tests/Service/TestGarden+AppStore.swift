import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

extension TestGarden {
    /// Runs something beside the garden's store, which listens, and a client with a key of the store's.
    func withStore(_ body: @Sendable @escaping (AppStoreServerClient) async throws -> Void) async throws {
        let routes = store.routes(sandboxKey: APIKey("key"), clock: clock)
        try await withServer(routes.router(), body)
    }

    /// The same with another server in the store's place.
    func withServer<Context: RequestContext>(
        _ router: Router<Context>,
        _ body: @Sendable @escaping (AppStoreServerClient) async throws -> Void
    ) async throws where Context.Source == ApplicationRequestContextSource {
        var privateKey = ""
        let made = try store.makeTeamKey { privateKey = $1 }
        let key = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
            bundleIdentifier: Self.bundleIdentifier)
        try await Application(router: router).test(.live) { [clock] server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            try await body(key.client(at: url, clock: clock))
        }
    }
}
