import Proofs

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
