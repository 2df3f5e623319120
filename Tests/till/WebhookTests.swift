import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import Synchronization
import TestSupport
import Testing

/// Webhook deliveries of the real binary, even across a kill.
@Suite struct WebhookTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private static let arguments = ["--webhooks", "--webhook-private-addresses"]

    private func key() async throws -> String {
        try await till.makeKey("grant", "webhooks")
    }

    /// The signature of a message by the program of OpenSSL.
    private func signature(of message: WebhookReceiver.Received, _ secret: String) async throws -> String {
        let content = till.folder.file("\(UUID().uuidString).content")
        try Data("\(message.identifier).\(message.timestamp).\(message.body)".utf8).write(to: content)
        let bytes = try #require(Base64.decode(Array(secret.dropFirst("whsec_".count).utf8)))
        let code = till.folder.file("\(UUID().uuidString).code")
        try await Tool.run(
            "openssl",
            [
                "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(bytes.hexadecimal)", "-binary", "-out",
                code.path, content.path,
            ], in: till.folder.url)
        return "v1," + Base64.encode([UInt8](try Data(contentsOf: code)))
    }

    @Test func `messages are delivered once the receiver works, even after a kill of the service`() async throws {
        let isWell = Mutex(false)
        let receiver = try await WebhookReceiver { _, _ in isWell.withLock { $0 } ? 204 : 500 }
        let key = try await key()
        let first = try await ServeProcess(till, Self.arguments)
        let answer = try await first.curl("/v1/webhooks", key: key, body: "{\"url\":\"\(receiver.url)\"}")
        let made = try answer.decoded(WebhookResource.self)
        let (secret, webhook) = (try #require(made.secret), made.webhookId)
        let grant = #"{"item":{"collection":"sprout","number":1},"reason":"a prize"}"#
        #expect(try await first.curl("/v1/users/alice/grants", key: key, body: grant).status == 201)
        // Once the failed attempt is recorded, the next service retries within seconds. Otherwise it waits for the lease's end.
        await expectEventually {
            let answer = try? await first.curl("/v1/webhooks/\(webhook)/deliveries", key: key)
            let list = try? answer?.decoded(List<WebhookDeliveryResource>.self)
            return list?.elements.first?.lastAttempt?.status == 500
        }
        first.kill()
        // The command line makes a sale while no service runs.
        _ = try await till.run("buy", "com.memolease.sesac1.background3", "--user", "bob")
        isWell.withLock { $0 = true }
        let second = try await ServeProcess(till, Self.arguments)
        let deliveries = "/v1/webhooks/\(webhook)/deliveries?state=delivered"
        await expectEventually { receiver.received.count >= 3 }
        await expectEventually {
            let answer = try? await second.curl(deliveries, key: key)
            let list = try? answer?.decoded(List<WebhookDeliveryResource>.self)
            return list?.elements.count == 2
        }
        let received = receiver.received
        let types = try received.map { try $0.decoded(WebhookMessageResource.self).type }
        #expect(Set(types) == ["item.given", "product.purchased"])
        #expect(Set(received.map(\.identifier)).count == 2)
        for message in received {
            #expect(try await message.signatures == [signature(of: message, secret)])
        }
        let metrics = try await till.run("keys", "make", "prometheus", "--scope", "metrics").output
        let text = try await second.curl("/metrics", key: metrics.trimmingCharacters(in: .newlines)).body
        #expect(
            String(decoding: text, as: UTF8.self)
                .contains("till_webhook_attempts_total{outcome=\"delivered\",code=\"\"} 2\n"))
        let log = try second.log + first.log
        #expect(!log.contains(receiver.url))
        #expect(!log.contains("whsec_"))
        #expect(await second.end(SIGTERM) == 0)
    }

    @Test func `webhooks and private addresses are off without their settings`() async throws {
        let key = try await key()
        let closed = try await ServeProcess(till)
        #expect(try await closed.curl("/v1/webhooks", key: key).code == "featureOff")
        let open = try await ServeProcess(till, ["--webhooks"])
        for url in ["http://127.0.0.1:9/", "https://127.0.0.1:9/"] {
            let refused = try await open.curl("/v1/webhooks", key: key, body: "{\"url\":\"\(url)\"}")
            #expect(refused.status == 422)
        }
    }
}
