import Console
import Foundation
import Proofs
import Synchronization
import TestSupport

/// An installation with one problem and a few certificates.
final class TestHealth: HealthSource {
    private let runs = Atomic(0)

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
            (CertificateUse.trustedRoot(.apple), "Apple Root CA - G3", Int64(1000)),
            (.trustedRoot(.local), "A <local> root", 20), (.tls, "shop.example.com", -1),
        ].compactMap { use, name, days in
            let chain = try? TestChains.make {
                guard $0.role == .root else { return }
                ($0.commonName, $0.notBefore, $0.notAfter) = (name, now - 10_000_000, now + days * 86_400)
            }
            return chain.map { (use, $0.root.certificate, URL(fileURLWithPath: "/keys/x.cer")) }
        }
    }

    let ledgerPlace = "/data/ledger.sqlite"
    let settings: [(name: String, value: String, source: String?)] = [
        ("port", "8080", nil), ("accept", "local/Sandbox", "TILL_ACCEPT"),
    ]
    let versions = [(name: "Till", version: "9.8.7")]
    let startNotes = ["There is no valid API key & no back end."]
}
