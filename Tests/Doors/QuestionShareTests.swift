import Features
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport
import Testing

/// The share of one network in the questions to Google Play that strangers cause.
@Suite struct QuestionShareTests {
    /// The tokens that a Google Play was asked about.
    private final class Asked: Sendable {
        let tokens = Mutex(Set<String>())
    }

    private static let path = "/v1/purchase/verify"

    @Test(arguments: [
        (0..<256).map { "192.0.2.\($0)" }, (0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `the addresses of one site cause a quarter of the questions`(addresses: [String]) async throws {
        let asked = Asked()
        let router = Router()
        router.post("/token") { _, _ in #"{"access_token":"t","expires_in":3600,"token_type":"Bearer"}"# }
        router.get("/androidpublisher/**") { request, _ in
            let token = String(request.uri.path.split(separator: "/").last ?? "")
            _ = asked.tokens.withLock { $0.insert(token) }
            return Response(
                status: .badRequest,
                body: .init(byteBuffer: ByteBuffer(string: #"{"error":{"errors":[{"reason":"invalid"}]}}"#)))
        }
        try await Application(router: router).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let account = JSONValue.object([
                "type": "service_account", "client_email": "till@example.iam.gserviceaccount.com",
                "private_key": .string(try PrivateKey.generateRSA().pem()), "token_uri": .string("\(url)/token"),
            ])
            let door = try await DoorGarden(
                [.iapkit],
                play: PlayDeveloperClient(
                    account: try GoogleServiceAccount(json: account.compactBytes), url: url,
                    packageName: TestGarden.bundleIdentifier, realm: .localPlay),
                proxies: 1)
            let name = try #require(HTTPField.Name("X-Forwarded-For"))
            func present(_ token: String, from address: String) async throws {
                let body = JSONValue.object([
                    "store": "google", "purchaseToken": .string("aaaabbbbccccddddeeeeffff.AO-J1Oz_-\(token)"),
                    "includeClientPayload": .bool(true),
                ])
                _ = try await door.send(.post, Self.path, body, headers: [name: address])
            }
            for number in 0..<520 { try await present("\(number)", from: addresses[number % 256]) }
            #expect(asked.tokens.withLock { $0.count } == 500)
            try await present("other", from: "198.51.100.1")
            #expect(asked.tokens.withLock { $0.count } == 501)
        }
    }
}
