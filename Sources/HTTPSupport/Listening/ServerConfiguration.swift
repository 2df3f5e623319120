import Foundation
import NIOSSL

/// Where and how the service listens, and what it puts up with.
public struct ServerConfiguration: Sendable {
    /// A certificate chain and its key, both in PEM.
    public struct TLS: Sendable {
        public var certificate: URL
        public var key: URL

        public init(certificate: URL, key: URL) {
            self.certificate = certificate
            self.key = key
        }

        /// TLS 1.2 and later, as NIO's defaults are.
        ///
        /// - Throws: `ServerNotStarted` when a file cannot be read or the key is not the certificate's.
        package func configuration() throws(ServerNotStarted) -> TLSConfiguration {
            do {
                let configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.path).map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: key.path, format: .pem)))
                _ = try NIOSSLContext(configuration: configuration)
                return configuration
            } catch {
                throw ServerNotStarted(
                    reason: "The certificate \(certificate.path) and the key \(key.path) cannot be used for TLS: "
                        + "both have to be in PEM, and the key the certificate's.")
            }
        }
    }

    public var host: String
    /// 0 for any free one.
    public var port: Int
    public var tls: TLS?
    /// A connection beyond this number evicts one without a request, or is closed.
    public var maximumConnections: Int
    /// The same for one client address; nil behind proxies.
    public var maximumConnectionsPerAddress: Int?
    /// A connection on which nothing comes for so long is closed.
    public var idleTime: Duration
    /// A request that is not answered in so long, from its first line to the answer's last byte, loses its connection.
    public var requestTime: Duration
    public var requestLimits: RequestLimits
    /// What is under way when the service is told to stop has so long to end.
    public var gracePeriod: Duration

    public init(
        host: String = "127.0.0.1",
        port: Int = 8080,
        tls: TLS? = nil,
        maximumConnections: Int = 1024,
        maximumConnectionsPerAddress: Int? = 256,
        idleTime: Duration = .seconds(60),
        requestTime: Duration = .seconds(30),
        requestLimits: RequestLimits = RequestLimits(),
        gracePeriod: Duration = .seconds(30)
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.maximumConnections = maximumConnections
        self.maximumConnectionsPerAddress = maximumConnectionsPerAddress
        self.idleTime = idleTime
        self.requestTime = requestTime
        self.requestLimits = requestLimits
        self.gracePeriod = gracePeriod
    }
}
