import Foundation
import Hummingbird
import Logging

/// The service on a free port of the loopback interface, for use within this process.
package enum LoopbackServer {
    /// Starts the service, calls `body` with its address, and stops the service after `body` has returned.
    package static func run<Value: Sendable>(
        _ router: @escaping @Sendable () -> Router<ServiceContext>,
        body: @Sendable @escaping (URL) async throws -> Value
    ) async throws -> Value {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router(),
            configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: "till"),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { continuation.yield(port) }
                continuation.finish()
            },
            logger: Logger(label: "till.service", factory: { _ in SwiftLogNoOpLogHandler() }))
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                defer { continuation.finish() }
                do { try await application.run() } catch { throw Task.isCancelled ? error : ServerNotStarted() }
                return nil
            }
            group.addTask {
                for await port in ports {
                    guard let url = URL(string: "http://127.0.0.1:\(port)") else { break }
                    return try await body(url)
                }
                throw ServerNotStarted()
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw ServerNotStarted()
        }
    }
}
