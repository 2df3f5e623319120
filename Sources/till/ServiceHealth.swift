import Console
import HTTPSupport
import Proofs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The state of the installation and of the running service.
struct ServiceHealth: HealthSource {
    let configuration: ServeConfiguration
    let common: CommonOptions
    let service: RunningService
    let startNotes: [String]

    func checks() async -> [HealthCheck] {
        await Examination(configuration, common: common, service: service).findings()
    }

    func certificates() async -> [HealthCertificate] {
        let examination = Examination(configuration, common: common, service: service)
        return (try? await BlockingWork.run { examination.certificates }) ?? []
    }

    var ledgerPlace: String { configuration.ledgerPlace.description }

    var settings: [(name: String, value: String, source: String?)] { configuration.rows }

    var versions: [(name: String, version: String)] {
        [
            ("Till", Till.version), ("Swift", "\(_SwiftStdlibVersion.current)"), ("OpenSSL", OpenSSLLibrary.version),
        ]
    }
}

/// The limit on open files and connections of this process.
enum OpenFiles {
    /// The files that the service needs besides its connections: the ledger, the log, its listener, and a reserve.
    private static let besidesConnections = 64

    /// Raises the limit as far as the system allows, and checks that it covers the number of connections.
    ///
    /// With too low a limit the service would hang instead of letting further connections wait.
    ///
    /// - Throws: `ConfigurationError`.
    static func allow(connections: Int) throws(ConfigurationError) {
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, Self.highest)
        _ = setrlimit(Self.resource, &limit)
        let allowed = getrlimit(Self.resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : Int.max
        guard allowed < connections + besidesConnections else { return }
        throw ConfigurationError(
            message:
                "`maximum-connections` must be \(max(1, allowed - besidesConnections)) or less, because this process may "
                + "have \(allowed) files open; it is \"\(connections)\". Lower it, or raise the limit (ulimit -Hn).")
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        private static let highest = rlim_t.max
    #elseif canImport(Darwin)
        private static let resource = RLIMIT_NOFILE
        /// Darwin refuses a higher limit, although its hard limit is infinite (setrlimit(2)).
        private static let highest = rlim_t(OPEN_MAX)
    #endif
}
