import Console

/// The result of one check of an installation.
struct Finding: Encodable {
    enum Status: String, Encodable {
        case passed = "ok"
        /// A remark with an optional action, or none.
        case note
        case problem
    }

    /// The subject of a check, by its name in the output of `till doctor`.
    enum Subject: String, Encodable {
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

    let check: Subject
    let status: Status
    let detail: Phrase
    /// The next step; nil if none is needed.
    let remedy: Phrase?

    static func passed(_ check: Subject, _ detail: Phrase) -> Finding {
        Finding(check: check, status: .passed, detail: detail, remedy: nil)
    }

    static func note(_ check: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> Finding {
        Finding(check: check, status: .note, detail: detail, remedy: remedy)
    }

    static func problem(_ check: Subject, _ detail: Phrase, remedy: Phrase? = nil) -> Finding {
        Finding(check: check, status: .problem, detail: detail, remedy: remedy)
    }

    private enum CodingKeys: String, CodingKey {
        case check, status, detail, remedy
    }

    /// The command line speaks English.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(status, forKey: .status)
        try container.encode(detail.english, forKey: .detail)
        try container.encodeIfPresent(remedy?.english, forKey: .remedy)
    }
}
