import Ledger
import Proofs

/// The page of the service's health.
struct HealthPage {
    let context: ConsoleContext
    let now: Timestamp
    let results: HealthChecks.Results
    let ledger: HealthLedger
    let keys: [APIKeyRecord]
    let performance: HealthPerformance
    let versions: [(name: String, version: String)]
    let settings: [HealthSetting]
    let startNotes: [String]
    /// The last verification of the audit logs; nil for none.
    let verification: AuditCheck.Progress?

    var page: Page {
        Page(Phrase("Health", "상태"), section: .health) {
            HealthTabs.overview.html
            checks
            HealthPerformanceTable(performance: performance, ledger: ledger).html
            AuditCheckCard(context: context, progress: verification).html
            HealthCertificateTable(certificates: results.certificates, now: now).html
            HealthKeyTable(keys: keys, now: now).html
            configuration
        }
    }

    private var checks: HTML {
        HTML {
            h2 { Phrase("Checks", "검사") }
            summary
            Listing.table(
                Phrase("Checks", "검사"), of: results.checks, empty: Phrase("There are no checks.", "검사가 없습니다.")
            ) {
                column(Phrase("State", "상태")) { badge($0.state) }
                column(Phrase("Check", "검사")) { $0.subject.title }
                column(Phrase("Result", "결과")) { check in
                    div { check.detail }
                    if let remedy = check.remedy { div(.class("note")) { remedy } }
                }
            }
            div(.class("actions")) {
                context.form(to: ConsolePath("health", "checks")) {
                    button { Phrase("Check again", "다시 검사") }
                }
                span(.class("note")) {
                    Phrase("Checked:", "검사한 시각:")
                    plain(" ")
                    Shown.moment(results.ranAt)
                }
            }
        }
    }

    private var summary: HTML {
        let problems = results.checks.count { $0.state == .problem }
        return p {
            problems == 0
                ? Shown.badge(Phrase("No problems", "문제 없음"), .good)
                : Shown.badge(Phrase("Problems: \(problems)", "문제 \(problems)건"), .bad)
        }
    }

    private func badge(_ state: HealthCheck.State) -> HTML {
        switch state {
        case .passed: Shown.badge(Phrase("passed", "통과"), .good)
        case .note: Shown.badge(Phrase("note", "참고"), .warning)
        case .problem: Shown.badge(Phrase("problem", "문제"), .bad)
        }
    }

    private var configuration: HTML {
        HTML {
            h2 { Phrase("Versions", "버전") }
            section(.class("card")) {
                Facts.list(
                    versions.map { (Phrase(same: $0.name), plain($0.version)) } + [
                        (Phrase("Database", "데이터베이스"), plain(ledger.state.database))
                    ])
            }
            h2 { Phrase("Notes at the start", "시작할 때의 알림") }
            if startNotes.isEmpty {
                p(.class("empty")) { Phrase("There were none.", "없었습니다.") }
            } else {
                ul(HTMLAttribute("lang", "en")) { for note in startNotes { li { data(note) } } }
            }
            h2 { Phrase("Settings", "설정") }
            Listing.table(
                Phrase("Settings", "설정"), of: settings, empty: Phrase("There are no settings.", "설정이 없습니다.")
            ) {
                column(Phrase("Setting", "설정")) { Shown.identifier($0.name) }
                column(Phrase("Value", "값")) { data($0.value) }
                column(Phrase("Source", "출처")) { setting in
                    if let source = setting.source { data(source) } else { Phrase("default", "기본값") }
                }
            }
        }
    }
}

/// The trusted roots and the TLS certificate, with their ends.
struct HealthCertificateTable {
    let certificates: [HealthCertificate]
    let now: Timestamp

    var html: HTML {
        HTML {
            h2 { Phrase("Certificates", "인증서") }
            Listing.table(
                Phrase("Certificates", "인증서"), of: certificates,
                empty: Phrase("No certificate is trusted, so every proof is refused.", "신뢰하는 인증서가 없어 모든 증명을 거절합니다.")
            ) {
                column(Phrase("Use", "용도")) { use($0.use) }
                column(Phrase("Name", "이름")) { data($0.name ?? $0.file) }
                column(Phrase("From", "시작")) { Shown.day($0.notBefore) }
                column(Phrase("Until", "만료")) { Shown.day($0.notAfter) }
                column(Phrase("State", "상태")) { state($0) }
                column(Phrase("SHA-256", "SHA-256")) { Shown.identifier(String($0.fingerprint.prefix(16)) + "…") }
            }
        }
    }

    private func use(_ use: HealthCertificate.Use) -> Phrase {
        switch use {
        case .trustedRoot(.apple): Phrase("Root of Apple", "Apple 루트")
        case .trustedRoot(.xcode): Phrase("Root of Xcode", "Xcode 루트")
        case .trustedRoot(.local): Phrase("Root of a local store", "로컬 스토어 루트")
        case .tls: Phrase("TLS of this service", "이 서비스의 TLS")
        }
    }

    private func state(_ certificate: HealthCertificate) -> HTML {
        switch certificate.state(at: now) {
        case .notYetValid: Shown.badge(Phrase("not yet valid", "아직 유효하지 않음"), .bad)
        case .valid: Shown.badge(Phrase("valid", "유효"), .good)
        case .endsSoon: Shown.badge(Phrase("expires soon", "곧 만료"), .warning)
        case .expired: Shown.badge(Phrase("expired", "만료됨"), .bad)
        }
    }
}

/// The links between the pages of the service's health.
enum HealthTabs: CaseIterable {
    case overview
    case team

    private var title: Phrase {
        switch self {
        case .overview: Phrase("Service", "서비스")
        case .team: Phrase("Actions of the team", "팀의 작업")
        }
    }

    private var path: ConsolePath {
        switch self {
        case .overview: ConsolePath("health")
        case .team: ConsolePath("health", "team")
        }
    }

    /// The links, with this page's as the current one, and a link to the service's OpenAPI document.
    var html: HTML {
        Tabs.list(Phrase("Health", "상태")) {
            for tab in Self.allCases { Tabs.link(tab.title, to: tab.path, isPresent: tab == self) }
            a(HTMLAttribute("href", "/openapi.json")) { Phrase("OpenAPI document", "OpenAPI 문서") }
        }
    }
}
