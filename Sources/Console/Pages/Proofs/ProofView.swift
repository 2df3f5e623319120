import Features
import Proofs

/// A decoded proof with the result of each check.
struct ProofView {
    private let proof: InspectedProof

    init(_ proof: InspectedProof) {
        self.proof = proof
    }

    private var inspection: ProofInspection { proof.inspection }

    var html: HTML {
        HTML {
            h2 { Phrase("Verdict", "판정") }
            verdict
            h2 { Phrase("Proof", "증명") }
            section(.class("card")) { ProofFacts(inspection, origin: proof.origin).html }
            h2 { Phrase("Header", "헤더") }
            section(.class("card")) { Self.tree(inspection.header) }
            h2 { Phrase("Certificates", "인증서") }
            CertificateList(inspection).html
            h2 { Phrase("Payload", "내용") }
            section(.class("card")) { Self.tree(inspection.payload) }
        }
    }

    private static func tree(_ value: ProofValue?) -> HTML {
        value.map { ProofTree($0).html } ?? p(.class("empty")) { Phrase("Unreadable.", "읽을 수 없습니다.") }
    }

    private var verdict: HTML {
        HTML {
            p {
                if proof.verdict.isAccepted {
                    Shown.badge(Phrase("Accepted", "허용"), .good)
                } else {
                    Shown.badge(Phrase("Refused", "거절"), .bad)
                }
                plain(" ")
                if let failure = proof.verdict.failure {
                    Shown.identifier(failure.code)
                } else {
                    Phrase(
                        "Every check passes. Whether a user may have the purchase is checked at the redemption.",
                        "모든 검사를 통과했습니다. 사용자가 구매를 가질 수 있는지는 등록할 때 검사합니다.")
                }
            }
            Listing.table(
                Phrase("Checks in their order", "순서대로 본 검사"), of: ProofVerdict.Check.allCases,
                empty: Phrase("No checks.", "검사가 없습니다.")
            ) {
                column(Phrase("Check", "검사")) { $0.title }
                column(Phrase("Result", "결과")) { badge(of: $0) }
                column(Phrase("Finding and remedy", "원인과 해결 방법")) { check in
                    if case .failed(let failure) = proof.verdict[check] { finding(failure) } else { check.meaning }
                }
            }
        }
    }

    private func badge(of check: ProofVerdict.Check) -> HTML {
        switch proof.verdict[check] {
        case .passed: Shown.badge(Phrase("passed", "통과"), .good)
        case .failed: Shown.badge(Phrase("failed", "실패"), .bad)
        case .notReached: Shown.badge(Phrase("not reached", "검사하지 않음"))
        case .notNeeded: Shown.badge(Phrase("not needed", "필요 없음"))
        }
    }

    private func finding(_ failure: ProofVerdict.Failure) -> HTML {
        let explanation = RefusalExplanation(code: failure.code)
        return HTML {
            p { Shown.identifier(failure.code) }
            if let explanation {
                p { explanation.cause }
                p { explanation.remedy }
            }
            p(.class("note")) { data(failure.message) }
        }
    }
}

extension ProofVerdict.Check {
    var title: Phrase {
        switch self {
        case .size: Phrase("Size", "크기")
        case .encoding: Phrase("Encoding", "인코딩")
        case .container: Phrase("Container", "구조")
        case .chain: Phrase("Chain", "인증서 사슬")
        case .extensions: Phrase("Extensions", "확장")
        case .signature: Phrase("Signature", "서명")
        case .payload: Phrase("Payload", "내용")
        case .appAndOrigin: Phrase("App and origin", "앱과 출처")
        case .product: Phrase("Product", "상품")
        }
    }

    /// The rule of the check.
    var meaning: Phrase {
        switch self {
        case .size: Phrase("At most 8 MiB, a JWS at most 1 MiB.", "최대 8 MiB, JWS는 최대 1 MiB.")
        case .encoding: Phrase("DER, base64 of DER, or a JWS.", "DER, DER의 base64 또는 JWS.")
        case .container:
            Phrase(
                "PKCS#7 with one signer, or a JWS with ES256 and its certificates.",
                "서명자가 하나인 PKCS#7, 또는 ES256과 인증서가 있는 JWS.")
        case .chain:
            Phrase(
                "Leaf, intermediate and a trusted root, each valid at the proof's date.",
                "말단, 중간, 신뢰하는 루트 인증서가 증명의 날짜에 모두 유효.")
        case .extensions: Phrase("Apple's extensions in leaf and intermediate.", "말단과 중간 인증서의 Apple 확장.")
        case .signature: Phrase("Made with the leaf's key over these bytes.", "말단 인증서의 키로 이 바이트에 한 서명.")
        case .payload: Phrase("Apple's format, and no date in the future.", "Apple의 형식이고 미래의 날짜가 아님.")
        case .appAndOrigin: Phrase("An app of this service, and an accepted origin.", "이 서비스의 앱이고 허용된 출처.")
        case .product: Phrase("A product of the app's catalog.", "앱 카탈로그의 상품.")
        }
    }
}
