import Console
import HTTPSupport
import Ledger
import Proofs
import Service

/// The state of the installation and of the running service.
struct ServiceHealth: HealthSource {
    let configuration: ServeConfiguration
    let common: CommonOptions
    let service: RunningService
    let metrics: ServiceMetrics
    let startNotes: [String]

    func checks() async -> [HealthCheck] {
        await Examination(configuration, common: common, service: service).findings()
    }

    func certificates() async -> [HealthCertificate] {
        let examination = Examination(configuration, common: common, service: service)
        return (try? await BlockingWork.run { examination.certificates }) ?? []
    }

    func ledger() async throws -> HealthLedger {
        let data = DataDirectory(path: configuration.dataPath, catalogPath: configuration.localCatalogPath)
        return HealthLedger(
            place: configuration.ledger?.description ?? data.ledgerFile.path, state: try await service.ledger.state(),
            server: service.ledger.serverReachability)
    }

    var performance: HealthPerformance {
        HealthPerformance(
            commits: Self.times(metrics.recentCommits), requests: Self.times(metrics.recentRequests),
            requestsInFlight: metrics.requestsInFlightCount, waitingUseCases: service.ledger.waitingCount,
            waitingJobs: BlockingWork.waitingCount)
    }

    private static func times(_ durations: RecentDurations) -> [HealthPerformance.Times] {
        HealthPerformance.periods.map { minutes in
            let summary = durations.summary(ofMinutes: minutes)
            return HealthPerformance.Times(
                minutes: minutes, count: summary.count, median: summary.median, percentile99: summary.percentile99,
                maximum: summary.maximum)
        }
    }

    var settings: [HealthSetting] {
        configuration.rows.map { HealthSetting(name: $0.name, value: $0.value, source: $0.source) }
    }

    var versions: [(name: String, version: String)] {
        [
            ("Till", Till.version), ("Swift", "\(_SwiftStdlibVersion.current)"), ("OpenSSL", OpenSSLLibrary.version),
        ]
    }
}
