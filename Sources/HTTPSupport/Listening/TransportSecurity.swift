import AsyncHTTPClient
import NIOSSL

extension TLSConfiguration {
    /// The suites of TLS 1.2 with ephemeral keys and authenticated encryption. TLS 1.3 has no others.
    private static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ]

    /// Restricts connections to TLS 1.2 and later, and to forward secrecy.
    ///
    /// NIO's defaults begin with TLS 1.0, which RFC 8996 forbids. RFC 9325 (section 4.1) forbids suites whose recorded traffic the key of the
    /// certificate decrypts.
    package mutating func requireForwardSecrecy() {
        minimumTLSVersion = .tlsv12
        cipherSuiteValues = Self.suites
    }

    package static var client: TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.requireForwardSecrecy()
        return configuration
    }
}

extension HTTPClient.Configuration {
    /// The configuration of requests to other servers.
    ///
    /// - Parameters:
    ///   - redirects: Nil for the default of the library, which follows them.
    ///   - retries: True to repeat a failed connection until the request's time is over. Most callers retry by themselves.
    package static func outgoing(
        _ redirects: HTTPClient.Configuration.RedirectConfiguration? = nil, retries: Bool = false
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: .client, redirectConfiguration: redirects)
        configuration.connectionPool.retryConnectionEstablishment = retries
        return configuration
    }
}
