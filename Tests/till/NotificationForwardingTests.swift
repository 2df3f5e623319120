import Foundation
import Proofs
import TestSupport
import Testing

/// The forwarding of notifications by the real binary, even across a kill.
@Suite struct NotificationForwardingTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `a notification reaches the other server, even after a kill of the service`() async throws {
        let other = try await WebhookReceiver { _, before in before.isEmpty ? 500 : 200 }
        // The address may have a secret, so it is not on the command line.
        try Data("\n\(other.url)\n".utf8).write(to: till.folder.file("servers.txt"))
        let arguments = ["--forward-notifications-file", "servers.txt", "--webhook-private-addresses"]
        let chain = try TestChains.ellipticCurve.get()
        let root = till.folder.file("root.cer")
        try Data(chain.root.certificate.der).write(to: root)
        #expect(try await till.run("trust", "add", root.path).status == 0)
        let key = try await till.makeKey("metrics")
        let signed = try TestProofs.notification(
            "ONE_TIME_CHARGE", uuid: UUID().uuidString, about: TestProofs.transactionPayload(), with: chain.leaf.key,
            chain: chain.certificates)
        let body = "{\"signedPayload\": \"\(signed)\"}"
        let first = try await ServeProcess(till, arguments)
        #expect(try await first.curl("/v1/notifications/apple", body: body).status == 200)
        // Once the failed attempt is recorded, the next service retries within seconds. Otherwise it waits for the lease's end.
        await expectEventually {
            let text = try? await first.curl("/metrics", key: key).body
            return text.map { String(decoding: $0, as: UTF8.self) }?
                .contains("till_notification_forwards_total{outcome=\"retried\",code=\"status5xx\"} 1\n") ?? false
        }
        first.kill()
        let second = try await ServeProcess(till, arguments)
        await expectEventually { other.received.count == 2 }
        #expect(other.received.map(\.body) == [body, body])
        let path = try #require(URL(string: other.url)).path
        #expect(try !(first.log + second.log).contains(path))
        #expect(await second.end(SIGTERM) == 0)
        let printed = try await till.run(arguments: ["serve", "--print-configuration"] + arguments)
        #expect(!printed.output.contains(other.url))
    }

    @Test(arguments: [
        ["--forward-notifications", "http://b.example/"], ["--forward-notifications", "https://127.0.0.1/"],
        ["--forward-notifications", "https://a@b.example/"],
        ["--forward-notifications", "https://b.example/", "--forward-notifications", "https://b.example/"],
        (1...6).flatMap { ["--forward-notifications", "https://b.example/\($0)"] },
        ["--forward-notifications-file", "none.txt"],
    ])
    func `a wrong address is refused at the start`(arguments: [String]) async throws {
        let result = try await till.run(arguments: ["serve", "--port", "0"] + arguments)
        #expect(result.status == 1)
        #expect(result.error.contains("`\(arguments[0].dropFirst(2))` must be"), "\(result.error)")
    }
}
