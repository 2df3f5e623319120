import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// A team's back end that receives webhooks, on a free port of this machine, until its last owner releases it.
package final class WebhookReceiver: Sendable {
    package struct Received: JSONReadable, Sendable {
        package let identifier: String
        package let timestamp: String
        /// The signatures, one for each secret.
        package let signatures: [String]
        /// The header `Authorization`; empty without one.
        package let authorization: String
        package let mediaType: String
        package let body: String

        fileprivate init(_ request: Request) async throws {
            func field(_ name: String) -> String {
                HTTPField.Name(name).flatMap { request.headers[$0] } ?? ""
            }
            var request = request
            body = String(buffer: try await request.collectBody(upTo: 1 << 20))
            identifier = field("webhook-id")
            timestamp = field("webhook-timestamp")
            authorization = field("authorization")
            mediaType = field("content-type")
            signatures = field("webhook-signature").split(separator: " ").map(String.init)
        }

        package var jsonData: Data { Data(body.utf8) }
    }

    private final class Inbox: Sendable {
        private let messages = Mutex<[Received]>([])

        var all: [Received] { messages.withLock { $0 } }

        /// - Returns: The earlier messages.
        func append(_ message: Received) -> [Received] {
            messages.withLock { messages in
                defer { messages.append(message) }
                return messages
            }
        }
    }

    package let url: String
    private let inbox: Inbox
    private let task: Task<Void, Never>

    /// All received messages, accepted or refused.
    package var received: [Received] { inbox.all }

    struct NotListening: Error {}

    /// Starts the receiver and waits until it listens.
    ///
    /// - Parameters:
    ///   - body: The body of each answer.
    ///   - status: Returns the status of the answer, given the earlier messages.
    package init(
        body: [UInt8] = [],
        answering status: @Sendable @escaping (Received, [Received]) async throws -> Int = { _, _ in 204 }
    ) async throws {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let inbox = Inbox()
        let router = Router()
        router.post("hooks") { request, _ -> Response in
            let received = try await Received(request)
            let status = try await status(received, inbox.append(received))
            // The sender must not follow this redirect.
            return Response(
                status: .init(code: status), headers: [.location: "/elsewhere"],
                body: body.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: body)))
        }
        router.post("elsewhere") { request, _ -> HTTPResponse.Status in
            _ = inbox.append(try await Received(request))
            return .noContent
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? 0)
                continuation.finish()
            }, logger: Logger(label: "receiver", factory: { _ in SwiftLogNoOpLogHandler() }))
        task = Task { try? await application.run() }
        var port = 0
        for await found in ports { port = found }
        guard port != 0 else { throw NotListening() }
        url = "http://127.0.0.1:\(port)/hooks"
        self.inbox = inbox
    }

    deinit { task.cancel() }
}
