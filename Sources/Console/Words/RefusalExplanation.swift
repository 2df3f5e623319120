import Features
import Proofs

/// The cause of a refusal and its remedy, in each language.
struct RefusalExplanation {
    let cause: Phrase
    let remedy: Phrase

    /// - Returns: Nil for a code that is no refusal of a proof or a purchase.
    init?(code: String) {
        // The English of these refusals is the API's.
        if let known = RefusalRemedy(code: code), let korean = Self.korean(code) {
            self.init(Phrase(known.cause, korean.cause), Phrase(known.remedy, korean.remedy))
        } else if let reason = ProofRefusal.Reason(rawValue: code) {
            self.init(reason)
        } else {
            return nil
        }
    }

    private static func korean(_ code: String) -> (cause: String, remedy: String)? {
        switch code {
        case Redemption.Result.ownedByAnotherUser.rawValue:
            (
                "다른 사용자가 이 구매를 등록했고 계속 소유합니다.",
                "고객에게 그 사용자로 로그인하도록 요청하거나, 그쪽의 구매를 회수하고 여기에 아이템을 지급하세요."
            )
        case Redemption.Result.transferTooSoon.rawValue:
            ("이 구매는 최근에 다른 사용자에게 이전되었습니다.", "소유권 정책의 대기 시간이 끝난 뒤 구매를 복원하세요.")
        case Redemption.Result.appAccountTokenMismatch.rawValue:
            ("구매에 다른 사용자의 계정 토큰이 있습니다.", "고객에게 구매한 사용자로 로그인하도록 요청하세요.")
        case Redemption.Result.productUnknown.rawValue:
            ("카탈로그에 이 상품이 없습니다.", "상품을 카탈로그에 추가하세요. 앱에서 다음에 복원할 때 구매가 등록됩니다.")
        case Redemption.Result.transactionConflict.rawValue:
            ("원장에 이 거래의 식별자로 다른 상품이 있습니다.", "두 증명을 비교하세요. 고객이 이 상품의 값을 치렀다면 그 아이템을 지급하세요.")
        case ProofRefusal.Reason.originNotAccepted.rawValue, ProofRefusal.Reason.environmentMismatch.rawValue:
            (
                "구매가 이 사용자에게 허용되지 않는 환경(예: 샌드박스)에서 왔습니다.",
                "테스터라면 사용자를 `sandbox-users`에 추가하세요. 고객이라면 앱 빌드를 확인하세요."
            )
        case ProofRefusal.Reason.bundleIdentifierMismatch.rawValue:
            ("다른 앱의 증명입니다.", "고객이 가진 앱과 카탈로그의 번들 식별자를 확인하세요.")
        default: nil
        }
    }

    private init(_ cause: Phrase, _ remedy: Phrase) {
        self.cause = cause
        self.remedy = remedy
    }

    private static let unchanged = Phrase("Send the proof unchanged and complete.", "증명을 바꾸지 말고 전체를 보내세요.")
    private static let forged = Phrase("Do not accept it: Apple never signs so.", "받아들이지 마세요. Apple은 이렇게 서명하지 않습니다.")

    private init?(_ reason: ProofRefusal.Reason) {
        switch reason {
        case .tooLarge:
            self.init(
                Phrase("The proof is larger than any that Apple signs.", "증명이 Apple이 서명하는 어떤 것보다도 큽니다."),
                Phrase("Send only the receipt or the signed transaction.", "영수증이나 서명된 거래만 보내세요."))
        case .encodingInvalid:
            self.init(
                Phrase(
                    "The proof is neither an app receipt (base64 or DER) nor a JWS.",
                    "증명이 앱 영수증(base64 또는 DER)도 JWS도 아닙니다."),
                Phrase(
                    "Send StoreKit's data unchanged, without line breaks or URL encoding.",
                    "StoreKit의 데이터를 줄바꿈이나 URL 인코딩 없이 그대로 보내세요."))
        case .containerInvalid:
            self.init(
                Phrase("The proof does not have Apple's structure, or is cut off.", "증명이 Apple의 구조가 아니거나 잘렸습니다."),
                Self.unchanged)
        case .tooManyCertificates:
            self.init(
                Phrase(
                    "The proof has more certificates than Apple's, which have three.",
                    "인증서가 세 개인 Apple의 증명보다 인증서가 많습니다."),
                Self.unchanged)
        case .algorithmNotAllowed:
            self.init(
                Phrase(
                    "The proof is signed with an algorithm that Apple does not use.", "Apple이 쓰지 않는 알고리즘으로 서명되었습니다."),
                Self.forged)
        case .signerCertificateMissing:
            self.init(
                Phrase("The signer's certificate is missing or unreadable.", "서명자의 인증서가 없거나 읽을 수 없습니다."), Self.unchanged
            )
        case .chainUntrusted:
            self.init(
                Phrase("The certificates do not lead to a trusted root.", "인증서가 신뢰하는 루트로 이어지지 않습니다."),
                Phrase(
                    "If they should, run `till trust add` with the root and restart the service. Otherwise the proof is "
                        + "forged.", "신뢰해야 하는 루트라면 `till trust add`로 추가하고 서비스를 다시 시작하세요. 아니라면 위조된 증명입니다."))
        case .chainOutsideValidity:
            self.init(
                Phrase(
                    "A certificate was not valid when the proof was signed.", "증명에 서명한 시점에 유효하지 않은 인증서가 있습니다."),
                Phrase(
                    "Get a new proof from the App Store. If Apple did not sign with an expired certificate, this one is "
                        + "forged.", "App Store에서 새 증명을 받으세요. Apple이 만료된 인증서로 서명한 것이 아니라면 위조된 증명입니다."))
        case .chainShape:
            self.init(
                Phrase(
                    "The certificates are not a leaf, an intermediate and a root.", "인증서가 말단, 중간, 루트의 순서가 아닙니다."),
                Self.forged)
        case .appleExtensionMissing:
            self.init(
                Phrase(
                    "The root is trusted, but the certificates lack Apple's extensions for signing receipts.",
                    "루트는 신뢰하지만, 인증서에 영수증 서명용 Apple 확장이 없습니다."),
                Phrase(
                    "Do not accept it: another signer of the same authority has signed it.",
                    "받아들이지 마세요. 같은 기관의 다른 서명자가 서명했습니다."))
        case .signatureInvalid:
            self.init(
                Phrase("The proof was changed after it was signed, or is incomplete.", "서명한 뒤에 바뀌었거나 불완전한 증명입니다."),
                Self.unchanged)
        case .payloadInvalid:
            self.init(
                Phrase(
                    "The signature is valid, but the content does not have Apple's format.",
                    "서명은 유효하지만 내용이 Apple의 형식이 아닙니다."),
                Phrase("Look at the field that the finding names.", "결과에 적힌 필드를 확인하세요."))
        case .tooManyPurchases:
            self.init(
                Phrase("The receipt has more purchases than the service reads.", "영수증의 구매가 서비스가 읽는 수보다 많습니다."),
                Phrase("Redeem the signed transactions instead.", "대신 서명된 거래를 등록하세요."))
        case .innerProofInvalid:
            self.init(
                Phrase(
                    "A proof inside the notification is invalid or does not match it.",
                    "알림 안의 증명이 유효하지 않거나 알림과 맞지 않습니다."),
                Phrase("Look at the nested proof that the finding names.", "결과에 적힌 내부 증명을 확인하세요."))
        case .signedInFuture:
            self.init(
                Phrase("The proof's date is ahead of this machine's clock.", "증명의 날짜가 이 컴퓨터의 시계보다 앞섭니다."),
                Phrase("Check the clock, then send the proof again.", "시계를 확인하고 증명을 다시 보내세요."))
        case .deviceMismatch:
            self.init(
                Phrase("The receipt was made for another device.", "다른 기기용 영수증입니다."),
                Phrase("Refresh the receipt on the device.", "기기에서 영수증을 새로 고치세요."))
        case .bundleIdentifierMismatch, .environmentMismatch, .originNotAccepted:
            // `RefusalRemedy` has them.
            return nil
        case .certificateRevoked:
            self.init(
                Phrase("The authority has revoked a certificate of the proof.", "발급 기관이 증명의 인증서를 폐기했습니다."), Self.forged)
        case .revocationUnavailable:
            self.init(
                Phrase("The revocation status of a certificate is unavailable.", "인증서의 폐기 상태를 확인할 수 없습니다."),
                Phrase("Send the proof again later.", "나중에 증명을 다시 보내세요."))
        }
    }
}
