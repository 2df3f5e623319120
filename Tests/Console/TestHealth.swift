import Console
import Ledger
import Proofs
import Synchronization

/// An installation with one problem and a few certificates.
final class TestHealth: HealthSource {
    private let service: Ledger
    private let runs = Atomic(0)

    init(ledger: Ledger) {
        service = ledger
    }

    /// The number of runs of the checks.
    var runCount: Int { runs.load(ordering: .relaxed) }

    func checks() async -> [HealthCheck] {
        runs.add(1, ordering: .relaxed)
        return [
            .passed(.port, "any free one"),
            .problem(
                .permissions, Phrase(same: "<b>/data</b> is open"),
                remedy: Phrase(english: "Run: chmod 600", korean: "실행하세요: chmod 600")),
        ]
    }

    func certificates() async -> [HealthCertificate] {
        let now: Int64 = 1_790_000_000
        return [
            (HealthCertificate.Use.trustedRoot(.apple), "Apple Root CA - G3", Int64(1000)),
            (.trustedRoot(.local), "A <local> root", 20), (.tls, "shop.example.com", -1),
        ].map { use, name, days in
            HealthCertificate(
                use: use, name: name, file: "/keys/x.cer", notBefore: Timestamp(secondsSince1970: now - 10_000_000),
                notAfter: Timestamp(secondsSince1970: now + days * 86_400),
                fingerprint: String(repeating: "ab", count: 32))
        }
    }

    func ledger() async throws -> HealthLedger {
        HealthLedger(place: "/data/ledger.sqlite", state: try await service.state(), server: nil)
    }

    let performance = HealthPerformance(
        commits: [
            (
                1,
                .init(
                    count: 1234, median: .microseconds(850), percentile99: .milliseconds(12), maximum: .seconds(3))
            )
        ],
        requests: [(1, .init(count: 0, median: nil, percentile99: nil, maximum: nil))], requestsInFlight: 1,
        waitingUseCases: 7, waitingJobs: 0)
    let settings = [
        HealthSetting(name: "port", value: "8080", source: nil),
        HealthSetting(name: "accept", value: "local/Sandbox", source: "TILL_ACCEPT"),
    ]
    let versions = [(name: "Till", version: "9.8.7")]
    let startNotes = ["There is no valid API key & no back end."]
}
