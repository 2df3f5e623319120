import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// Realtime requests of retention messaging, against a developer's server that listens.
@Suite struct RetentionMessageTests {
    private static let product = "garden.basic.monthly"
    private static let image = "4a1f6f3e-0d0b-4a53-9a6c-3f1d2c5b7e81"
    private static let text = "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02"
    private static let pictured = "9c0f4d1e-7a35-4b0c-8f6e-1d2a3b4c5d6e"
    private static let standard = "5d1b7a90-3c2e-4f68-a1d7-6b9e0c8f2a43"
    private static let unknown = "7f3c2a10-5b1e-4c8d-9a6f-2d4e8b0c1a35"

    private let garden: TestGarden
    private let subscription: String
    private let token: String

    init() throws {
        garden = try TestGarden(isInMemory: true)
        subscription = try #require(try garden.buy(Self.product).purchase).transactionIdentifier
        var privateKey = ""
        let key = try garden.store.makeTeamKey { privateKey = $1 }
        token = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: key.keyIdentifier, issuerIdentifier: key.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier
        ).token(at: garden.clock.now())
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8],
        key: String
    ) async throws -> TestResponse {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        return try await application.test(.router) { client in
            try await client.executeRequest(
                uri: path, method: method, headers: [.authorization: "Bearer \(key)"], body: ByteBuffer(bytes: body))
        }
    }

    /// Calls the Retention Messaging API as the developer's server.
    private func put(_ path: String, _ body: [UInt8]) async throws {
        let answer = try await send(.put, "/inApps/v1/messaging/" + path, body, key: token)
        #expect(answer.status == .ok, "\(path)")
    }

    private func put(_ path: String, _ body: String) async throws { try await put(path, Array(body.utf8)) }

    /// Uploads the messages, and configures the default message of the product and the address.
    private func configure(_ url: String) async throws {
        let words = #""header":"Stay","body":"Much is in bloom.""#
        try await put("image/\(Self.image)", TestPicture.png(3840, 2160))
        for name in [Self.text, Self.standard] { try await put("message/\(name)", "{\(words)}") }
        try await put(
            "message/\(Self.pictured)",
            "{\(words),\"image\":{\"imageIdentifier\":\"\(Self.image)\",\"altText\":\"A garden\"}}")
        try await put("default/\(Self.product)/en-US", "{\"messageIdentifier\":\"\(Self.standard)\"}")
        try await put("realtime/url", "{\"realtimeURL\":\"\(url)\"}")
    }

    /// The answer of the sandbox.
    private func ask(_ body: String = "{}") async throws -> RetentionExchange {
        let path = "/sandbox/v1/transactions/\(subscription)/retentionMessage"
        let answer = try await send(.post, path, Array(body.utf8), key: "key")
        #expect(answer.status == .ok)
        return try JSONDecoder().decode(RetentionExchange.self, from: Data(answer.body.readableBytesView))
    }

    @Test(arguments: [
        (#"{"message":{"messageIdentifier":"\#(text)"}}"#, "message", text),
        (#"{"message":{"messageIdentifier":"\#(text.uppercased())"}}"#, "message", text),
        (#"{"message":{"messageIdentifier":"\#(pictured)"},"alternateProduct":null}"#, "message", pictured),
        (
            #"{"alternateProduct":{"messageIdentifier":"\#(text)","productId":"garden.premium.monthly"}}"#,
            "alternateProduct", text
        ),
    ])
    func `the customer sees the message of the answer`(body: String, shown: String, message: String) async throws {
        let receiver = try await WebhookReceiver(body: Array(body.utf8)) { _, _ in 200 }
        try await configure(receiver.url)
        let exchange = try await ask()
        #expect((exchange.shown, exchange.messageIdentifier, exchange.refusal) == (shown, message, nil))
        #expect((exchange.result, exchange.status, exchange.body) == ("SUCCESS", 200, body))
        #expect(exchange.url == receiver.url)
    }

    @Test(arguments: [
        ("", "not a RealtimeResponseBody"), ("[]", "not a RealtimeResponseBody"),
        (#"{"message":{}}"#, "not a RealtimeResponseBody"), ("{}", "must have one of message"),
        (
            #"{"message":{"messageIdentifier":"\#(text)"},"advancedCommerceInfo":{"messageIdentifier":"\#(text)","advancedCommerceData":"e30="}}"#,
            "must have one of message"
        ),
        (#"{"message":{"messageIdentifier":"\#(unknown)"}}"#, "No message \(unknown) is uploaded"),
        (
            #"{"alternateProduct":{"messageIdentifier":"\#(pictured)","productId":"garden.premium.monthly"}}"#,
            "has an image"
        ),
        (#"{"alternateProduct":{"messageIdentifier":"\#(text)","productId":"\#(product)"}}"#, "already"),
        (#"{"alternateProduct":{"messageIdentifier":"\#(text)","productId":"garden.seeds"}}"#, "the same group"),
        (#"{"promotionalOffer":{"messageIdentifier":"\#(text)"}}"#, "no signature"),
        (
            #"{"promotionalOffer":{"messageIdentifier":"\#(text)","promotionalOfferSignatureV1":{"encodedSignature":"AAAA","productId":"\#(product)","nonce":"\#(unknown)","timestamp":1793448000000,"keyId":"A","offerIdentifier":"spring"}}}"#,
            "is not the team's"
        ),
        (
            #"{"promotionalOffer":{"messageIdentifier":"\#(text)","promotionalOfferSignatureV2":"a.b.c"}}"#,
            "not a JWT"
        ),
        (#"{"advancedCommerceInfo":{"messageIdentifier":"\#(text)"}}"#, "not a RealtimeResponseBody"),
        (
            #"{"advancedCommerceInfo":{"messageIdentifier":"\#(text)","advancedCommerceData":"e30="}}"#,
            "must be the base64"
        ),
        (
            #"{"advancedCommerceInfo":{"messageIdentifier":"\#(text)","advancedCommerceData":"eyJzaWduYXR1cmVJbmZvIjp7InRva2VuIjoiYS5iLmMifX0="}}"#,
            "no items that your server has described"
        ),
        (
            #"{"alternateProduct":{"messageIdentifier":"\#(text)","productId":"garden.premium.monthly","billingPlanType":"MONTHLY"}}"#,
            "no monthly billing plan"
        ),
    ])
    func `an answer that is not used leaves the default message`(body: String, reason: String) async throws {
        let receiver = try await WebhookReceiver(body: Array(body.utf8)) { _, _ in 200 }
        try await configure(receiver.url)
        let exchange = try await ask()
        #expect((exchange.shown, exchange.messageIdentifier) == ("defaultMessage", Self.standard))
        #expect(exchange.refusal?.contains(reason) == true, "\(exchange.refusal ?? "nil")")
        // There is none for another locale.
        let other = try await ask(#"{"locale":"ko-KR"}"#)
        #expect((other.shown, other.messageIdentifier, other.refusal) == ("nothing", nil, exchange.refusal))
    }

    @Test(arguments: RetentionReviewState.allCases)
    func `a message or an image that is not approved is neither shown nor a default`(state: RetentionReviewState)
        async throws
    {
        let body = #"{"message":{"messageIdentifier":"\#(Self.pictured)"}}"#
        let receiver = try await WebhookReceiver(body: Array(body.utf8)) { _, _ in 200 }
        try await configure(receiver.url)
        func standard(_ message: String) async throws -> String {
            let path = "/inApps/v1/messaging/default/\(Self.product)/en-US"
            let answer = try await send(.put, path, Array("{\"messageIdentifier\":\"\(message)\"}".utf8), key: token)
            return String(buffer: answer.body)
        }
        _ = try garden.store.update { $0.retentionImageState = state }
        let images = try await send(.get, "/inApps/v1/messaging/image/list", [], key: token)
        #expect(String(buffer: images.body).contains(#""imageState":"\#(state.rawValue)""#))
        #expect(try await standard(Self.pictured).contains("4030018"))
        let pictured = try await ask()
        #expect((pictured.shown, pictured.messageIdentifier) == ("defaultMessage", Self.standard))
        #expect(pictured.refusal?.contains("is not approved") == true)
        _ = try garden.store.update { ($0.retentionImageState, $0.retentionMessageState) = (nil, state) }
        let messages = try await send(.get, "/inApps/v1/messaging/message/list", [], key: token)
        #expect(String(buffer: messages.body).contains(#""messageState":"\#(state.rawValue)""#))
        #expect(try await standard(Self.text).contains("4030017"))
        #expect(try await ask().shown == "nothing")
    }

    @Test(arguments: [204, 500]) func `an answer with another status is not used`(status: Int) async throws {
        let body = #"{"message":{"messageIdentifier":"\#(Self.text)"}}"#
        let receiver = try await WebhookReceiver(body: Array(body.utf8)) { _, _ in status }
        try await configure(receiver.url)
        let exchange = try await ask()
        #expect(exchange.shown == "defaultMessage" && exchange.result == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
        #expect(exchange.refusal == "The status is \(status). It must be 200.")
    }

    @Test func `a server that does not listen is no error`() async throws {
        try await configure("http://127.0.0.1:1/realtime")
        let exchange = try await ask()
        #expect((exchange.shown, exchange.status, exchange.body) == ("defaultMessage", nil, nil))
        #expect(exchange.result == "SOCKET_ISSUE")
        #expect(exchange.refusal == "The server did not answer: SOCKET_ISSUE.")
    }

    @Test func `a realtime request has the fields that Apple's clients require`() async throws {
        let receiver = try await WebhookReceiver { _, _ in 200 }
        try await configure(receiver.url)
        let exchange = try await ask(#"{"locale":"ko-KR"}"#)
        let received = try #require(receiver.received.first)
        #expect(try received.decoded([String: String].self) == ["signedPayload": exchange.signedPayload])
        let parts = exchange.signedPayload.split(separator: ".")
        #expect(parts.count == 3)
        let payload = try JSONDecoder().decode(
            JSONContent.self, from: Data(try #require(Base64.decode(parts[1].utf8, .urlSafe))))
        #expect(payload["originalTransactionId"]?.text == subscription)
        #expect(payload["productId"]?.text == Self.product && payload["userLocale"]?.text == "ko-KR")
        #expect(payload["environment"]?.text == "Sandbox" && payload["appAppleId"] == .integer(0))
        #expect(payload["signedDate"] == .integer(garden.store.now.millisecondsSince1970))
        #expect(payload["requestIdentifier"]?.text.flatMap(UUID.init(uuidString:)) != nil)
    }

    @Test func `a request without an address, a subscription or a locale is refused`() async throws {
        let seeds = try #require(try garden.buy("garden.seeds").purchase).transactionIdentifier
        for (transaction, body, status) in [
            (subscription, "{}", 409), (seeds, "{}", 404), ("1", "{}", 404), (subscription, #"{"locale":"1"}"#, 422),
            (subscription, #"{"place":"here"}"#, 400),
        ] {
            let path = "/sandbox/v1/transactions/\(transaction)/retentionMessage"
            let answer = try await send(.post, path, Array(body.utf8), key: "key")
            #expect(answer.status.code == status, "\(transaction) \(body)")
        }
    }

    @Test(arguments: ["http://example.com/a", "http://localhost.example.com/a", "ftp://localhost/a", "localhost"])
    func `plain HTTP is for this machine alone`(url: String) async throws {
        let body = Array("{\"realtimeURL\":\"\(url)\"}".utf8)
        let path = "/inApps/v1/messaging/realtime/url"
        #expect(try await send(.put, path, body, key: token).status == .badRequest)
        for accepted in ["http://localhost:3000/a", "http://127.0.0.1/a", "http://[::1]:3000/a", "https://example.com"]
        {
            try await put("realtime/url", "{\"realtimeURL\":\"\(accepted)\"}")
        }
    }
}
