import Proofs

/// The certificates of a proof.
struct CertificateList {
    private let inspection: ProofInspection

    init(_ inspection: ProofInspection) {
        self.inspection = inspection
    }

    var html: HTML {
        HTML {
            if inspection.certificates.isEmpty {
                p(.class("empty")) { Phrase("The proof has no readable certificates.", "읽을 수 있는 인증서가 없습니다.") }
            }
            if inspection.certificateCount > inspection.certificates.count {
                p(.class("note")) {
                    Phrase(
                        "The first \(inspection.certificates.count) of \(inspection.certificateCount) certificates.",
                        "인증서 \(inspection.certificateCount)개 중 처음 \(inspection.certificates.count)개.")
                }
            }
            div(.class("columns")) {
                for certificate in inspection.certificates {
                    section(.class("card")) { facts(of: certificate) }
                }
            }
        }
    }

    private func facts(of inspected: InspectedCertificate) -> HTML {
        guard let certificate = inspected.certificate else {
            return p(.class("empty")) {
                Phrase(
                    "\(inspected.der.count) bytes that are no certificate.", "인증서가 아닌 \(inspected.der.count)바이트.")
            }
        }
        return HTML {
            p { badges(inspected, certificate) }
            Facts.list([
                (Phrase("Subject", "주체"), data(certificate.subjectName.description)),
                (Phrase("Issuer", "발급자"), data(certificate.issuerName.description)),
                (Phrase("Serial number", "일련번호"), Shown.identifier(certificate.serialNumber.hexadecimal)),
                (Phrase("Valid from", "유효 시작"), Shown.moment(Timestamp(secondsSince1970: certificate.notBefore))),
                (Phrase("Valid until", "유효 종료"), Shown.moment(Timestamp(secondsSince1970: certificate.notAfter))),
                (Phrase("Key", "키"), plain(certificate.publicKey.kind.text)),
                (Phrase("Apple's extensions", "Apple 확장"), extensions(of: certificate)),
                (Phrase(same: "SHA-256"), Shown.identifier(certificate.fingerprint.hexadecimal)),
            ])
        }
    }

    @HTMLBuilder private func badges(_ inspected: InspectedCertificate, _ certificate: Certificate) -> HTML {
        if inspected.isSigner { Shown.badge(Phrase("signer", "서명자")) }
        plain(" ")
        if certificate.isAuthority { Shown.badge(Phrase("authority", "발급 기관")) }
        plain(" ")
        if certificate == inspection.anchor?.certificate {
            Shown.badge(Phrase("trusted root", "신뢰하는 루트"), .good)
        } else if inspected.isOnTrustedPath {
            Shown.badge(Phrase("leads to the trusted root", "신뢰하는 루트로 이어짐"), .good)
        } else {
            Shown.badge(Phrase("not trusted", "신뢰하지 않음"), .bad)
        }
        plain(" ")
        // OpenSSL treats the last second as expired.
        let second = inspection.moment.secondsSince1970
        if certificate.notBefore <= second && second < certificate.notAfter {
            Shown.badge(Phrase("valid at the proof's date", "증명의 날짜에 유효"), .good)
        } else {
            Shown.badge(Phrase("not valid at the proof's date", "증명의 날짜에 유효하지 않음"), .bad)
        }
    }

    private func extensions(of certificate: Certificate) -> HTML {
        let found = certificate.appleExtensions
        guard !found.isEmpty else { return Shown.nothing }
        return ul(.class("plain")) {
            for identifier in found {
                li {
                    Shown.identifier(identifier)
                    if let known = AppleExtension(rawValue: identifier) {
                        plain(" ")
                        known.title
                    }
                }
            }
        }
    }
}

extension AppleExtension {
    fileprivate var title: Phrase {
        switch self {
        case .receiptSigning: Phrase("receipt signing", "영수증 서명")
        case .worldwideDeveloperRelations: Phrase("Worldwide Developer Relations", "Worldwide Developer Relations")
        }
    }
}

extension PublicKey.Kind {
    fileprivate var text: String {
        switch self {
        case .ellipticCurve(let curve): "ECDSA \(curve.rawValue)"
        case .rsa(let bits): "RSA \(bits)"
        case .ed25519: "Ed25519"
        case .other: "–"
        }
    }
}
