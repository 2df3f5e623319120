import HummingbirdCore
import Logging
import NIOCore
import Proofs
import Synchronization

/// The TLS certificate of the server with its key. New connections use those that were loaded last.
package final class ServerCertificate: Sendable {
    private let configuration: ServerConfiguration
    private let loaded: Mutex<TLSContext>

    /// - Returns: Nil without TLS.
    /// - Throws: `ServerNotStarted` if a file is unreadable or the key does not match the certificate.
    package init?(_ configuration: ServerConfiguration) throws(ServerNotStarted) {
        guard let loaded = try configuration.tlsContext() else { return nil }
        self.configuration = configuration
        self.loaded = Mutex(loaded)
    }

    /// The context of a new connection.
    var context: TLSContext { loaded.withLock(\.self) }

    /// The end of the certificate's validity; nil if it is unknown.
    package var endsAt: Timestamp? { context.endsAt }

    /// Reads the files anew. Connections that are open keep the certificate of their beginning.
    ///
    /// - Throws: `ServerNotStarted`. The certificate is then unchanged.
    package func reload() throws(ServerNotStarted) {
        guard let new = try configuration.tlsContext() else { return }
        loaded.withLock { $0 = new }
    }
}

/// The channel of a connection that begins with TLS. Hummingbird's own keeps one certificate for all connections.
struct CertifiedChannel: ServerChildChannel {
    let base: HTTP1Channel
    let certificate: ServerCertificate
    let lingerTime: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
                TLSHandler(certificate.context, lingerTime: lingerTime))
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
