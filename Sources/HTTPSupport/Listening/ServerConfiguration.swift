import Foundation
import Hummingbird
import Logging
import Proofs

/// The settings of the HTTP server: address, TLS and limits.
package struct ServerConfiguration: Sendable {
    /// A certificate chain and its key, both in PEM.
    package typealias TLS = (certificate: URL, key: URL)

    package var host = "127.0.0.1"
    /// The port, or 0 for any free port.
    package var port = 8080
    package var tls: TLS?
    /// The maximum number of connections. A further connection evicts one without a request or is closed.
    package var maximumConnections = 1024
    /// The maximum number of connections per client address. Nil behind proxies.
    package var maximumConnectionsPerAddress: Int? = 256
    package var idleTime = Duration.seconds(60)
    /// The time limit of a head, from the connection or its first byte. It includes the handshake of TLS.
    package var headTime = Duration.seconds(10)
    /// The time limit of a request, from its first line to the last byte of the response. Then the connection is
    /// closed.
    package var requestTime = Duration.seconds(30)
    /// The time in which a client may read the rest of a response over TLS, and end its side, before the connection is closed.
    package var lingerTime = Duration.seconds(5)
    package var requestLimits = RequestLimits()
    /// The grace period in which requests can finish during shutdown.
    package var gracePeriod = Duration.seconds(30)

    package init() {}

    /// The host as a URL has it.
    var writtenHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Returns the certificate and the rules of TLS; nil without TLS.
    ///
    /// - Throws: `ServerNotStarted` if a file is unreadable or the key does not match the certificate.
    package func tlsContext() throws(ServerNotStarted) -> TLSContext? {
        guard let (certificate, key) = tls else { return nil }
        do {
            // Of a file that cannot be read, there is no certificate.
            return try TLSContext(chain: NamedFile.bytes(of: certificate) ?? [], key: NamedFile.bytes(of: key) ?? [])
        } catch {
            throw ServerNotStarted(
                reason: "Cannot use the certificate \"\(certificate.path)\" with the key \"\(key.path)\" for TLS. "
                    + "Both must be in PEM, and the key must match the certificate. RSA needs 2048 bits, and SHA-1 signatures are "
                    + "refused.")
        }
    }
}

package struct ServerNotStarted: CodedError {
    var reason = "The service cannot listen on 127.0.0.1. Check the system's network permissions."

    package var code: String { "serverNotStarted" }
    package var message: String { reason }
}

extension ServerNotStarted {
    /// - Parameters:
    ///   - code: The system's error; nil if the host has no address.
    package init(listeningOn address: String, _ code: Int32?, option: String = "--port") {
        switch code {
        case EADDRINUSE:
            reason = "\(address) is in use by another program. End it, or choose another port with \(option)."
        case EACCES: reason = "This user may not listen on \(address). Choose a port above 1023 with \(option)."
        default:
            let cause = code.map { String(cString: strerror($0)) } ?? "no such address"
            reason = "The service cannot listen on \(address): \(cause). Check --host and \(option)."
        }
    }
}

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
