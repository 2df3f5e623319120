/// The result of a check of the installation, for `till doctor` and the console.
package struct HealthCheck: Sendable {
    /// The outcome of a check, by its name in the output of `till doctor`.
    package enum State: String, Encodable, Sendable {
        case passed = "ok"
        /// A remark, with an optional action.
        case note
        case problem
    }

    /// The subject of a check, by its name in the output of `till doctor`.
    package enum Subject: String, Encodable, Sendable {
        case settings
        case dataDirectory = "data directory"
        case permissions
        case trustedRoots = "trusted roots"
        case trustedRoot = "trusted root"
        case catalog
        case ledger
        case apiKeys = "API keys"
        case clock
        case port
        case tlsCertificate = "TLS certificate"
        case notifications

        /// The name in the console.
        var title: Phrase {
            switch self {
            case .settings: Phrase("Settings", "설정")
            case .dataDirectory: Phrase("Data directory", "데이터 디렉터리")
            case .permissions: Phrase("Permissions", "파일 권한")
            case .trustedRoots: Phrase("Trusted roots", "신뢰하는 루트")
            case .trustedRoot: Phrase("Trusted root", "신뢰하는 루트")
            case .catalog: Phrase("Catalog", "카탈로그")
            case .ledger: Phrase("Ledger", "원장")
            case .apiKeys: Phrase("API keys", "API 키")
            case .clock: Phrase("Clock", "시계")
            case .port: Phrase("Port", "포트")
            case .tlsCertificate: Phrase("TLS certificate", "TLS 인증서")
            case .notifications: Phrase("Notifications", "알림")
            }
        }
    }

    package let subject: Subject
    package let state: State
    package let detail: Phrase
    /// The next step; nil if none is needed.
    package let remedy: Phrase?

    package static func passed(_ subject: Subject, _ detail: Phrase) -> HealthCheck {
        HealthCheck(subject: subject, state: .passed, detail: detail, remedy: nil)
    }

    package static func note(_ subject: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> HealthCheck {
        HealthCheck(subject: subject, state: .note, detail: detail, remedy: remedy)
    }

    package static func problem(_ subject: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> HealthCheck {
        HealthCheck(subject: subject, state: .problem, detail: detail, remedy: remedy)
    }
}
