import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import NIOCore
import Proofs

/// The back end of a demonstration. It receives the messages of webhooks, and verifies each signature (Standard Webhooks, "Verifying
/// webhook authenticity").
struct DemoReceiver: Sendable {
    private static let path = "webhooks"
    /// The largest body of a message, in bytes.
    private static let maximumSize = 1 << 20
    /// The largest age of a message, in seconds.
    private static let tolerance: Int64 = 300

    let webhooks: WebhookService

    /// The address of the receiver at a server.
    static func url(at server: URL) -> URL { server.appending(path: path) }

    func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.post(RouterPath(Self.path)) { request, _ in
            let body = try await request.body.collect(upTo: Self.maximumSize)
            let isSigned = try await isSigned(Array(body.readableBytesView), request.headers)
            return Response(
                status: isSigned ? .ok : .unauthorized, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(string: isSigned ? "The signature is valid." : "The signature is not valid.")
                ))
        }
        return router
    }

    /// True if a message is recent, and has a signature with the secret of an endpoint of this ledger.
    private func isSigned(_ body: [UInt8], _ headers: HTTPFields) async throws -> Bool {
        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
        guard let identifier = header("webhook-id"), let sentAt = header("webhook-timestamp").flatMap({ Int64($0) }),
            let signatures = header("webhook-signature")
        else { return false }
        let now = webhooks.now()
        guard abs(now.secondsSince1970 - sentAt) <= Self.tolerance else { return false }
        let expected =
            SignedWebhook(
                body, identifier: identifier,
                secrets: try await webhooks.endpoints().flatMap { $0.secrets(at: now) },
                at: Timestamp(secondsSince1970: sentAt)
            ).headers.last?.value ?? ""
        return !Set(signatures.split(separator: " ")).isDisjoint(with: expected.split(separator: " "))
    }
}
