import Proofs

/// The rules of refused proofs: the sentence for the sender, the cause and the remedy for the team.
extension ProofRefusal: RuledError {
    package var rule: ErrorRule { reason.rule.retrying(couldSucceedLater).stating(message) }
}

extension ProofRefusal.Reason {
    package var rule: ErrorRule {
        switch self {
        case .tooLarge:
            rule(
                "The proof is larger than any that a store signs.",
                "Send only the receipt, the signed transaction or the signed purchase.",
                korean: "증명이 스토어가 서명하는 어떤 것보다도 큽니다.",
                "영수증, 서명된 거래나 서명된 구매만 보내세요.")
        case .encodingInvalid:
            rule(
                "The proof is neither an app receipt (base64 or DER) nor a JWS.",
                "Send StoreKit's data unchanged, without line breaks or URL encoding.",
                korean: "증명이 앱 영수증(base64 또는 DER)도 JWS도 아닙니다.",
                "StoreKit의 데이터를 줄바꿈이나 URL 인코딩 없이 그대로 보내세요.")
        case .containerInvalid:
            unchanged(
                "The proof does not have Apple's structure, or is cut off.",
                korean: "증명이 Apple의 구조가 아니거나 잘렸습니다.")
        case .tooManyCertificates:
            unchanged(
                "The proof has more certificates than Apple's, which have three.",
                korean: "인증서가 세 개인 Apple의 증명보다 인증서가 많습니다.")
        case .algorithmNotAllowed:
            forged(
                "The proof is signed with an algorithm that Apple does not use.",
                korean: "Apple이 쓰지 않는 알고리즘으로 서명되었습니다.")
        case .signerCertificateMissing:
            unchanged(
                "The signer's certificate is missing or unreadable.",
                korean: "서명자의 인증서가 없거나 읽을 수 없습니다.")
        case .chainUntrusted:
            rule(
                "The certificates do not lead to a trusted root.",
                "If they should, run `till trust add` with the root and restart the service. Otherwise the proof is "
                    + "forged.",
                korean: "인증서가 신뢰하는 루트로 이어지지 않습니다.",
                "신뢰해야 하는 루트라면 `till trust add`로 추가하고 서비스를 다시 시작하세요. 아니라면 위조된 증명입니다.")
        case .chainOutsideValidity:
            rule(
                "A certificate was not valid when the proof was signed.",
                "Get a new proof from the App Store. If Apple did not sign with an expired certificate, this one is "
                    + "forged.",
                korean: "증명에 서명한 시점에 유효하지 않은 인증서가 있습니다.",
                "App Store에서 새 증명을 받으세요. Apple이 만료된 인증서로 서명한 것이 아니라면 위조된 증명입니다.")
        case .chainShape:
            forged(
                "The certificates are not a leaf, an intermediate and a root.",
                korean: "인증서가 말단, 중간, 루트의 순서가 아닙니다.")
        case .appKeyMissing:
            rule(
                "No public key of an app on Google Play is known.",
                "Copy the app's licensing key from the Play Console, and give it to the verifier.",
                korean: "구매를 검증할 Google Play 앱의 공개 키가 없습니다.",
                "Play Console에서 앱의 라이선스 키를 복사해 검증기에 설정하세요.")
        case .serviceAccountMissing:
            rule(
                "A purchase token is not signed, and there is no service account with which Google Play could be asked.",
                "Set up a service account for the app, or send the signed purchase.",
                korean: "구매 토큰에는 서명이 없고, Google Play에 물어볼 서비스 계정이 없습니다.",
                "앱의 서비스 계정을 설정하거나 서명된 구매를 보내세요.")
        case .appleExtensionMissing:
            rule(
                "The root is trusted, but the certificates lack Apple's extensions for signing receipts.",
                "Do not accept it: another signer of the same authority has signed it.",
                korean: "루트는 신뢰하지만, 인증서에 영수증 서명용 Apple 확장이 없습니다.",
                "받아들이지 마세요. 같은 기관의 다른 서명자가 서명했습니다.")
        case .staticTestPurchase:
            rule(
                "The purchase has no signature. Google Play signs no static test product such as android.test.purchased.",
                "Test with a real product and a license tester.",
                korean: "구매에 서명이 없습니다. Google Play는 고정 테스트 상품(android.test.purchased 등)에 서명하지 않습니다.",
                "실제 상품과 라이선스 테스터로 테스트하세요.")
        case .signatureInvalid:
            unchanged(
                "The proof was changed after it was signed, or is incomplete.",
                korean: "서명한 뒤에 바뀌었거나 불완전한 증명입니다.")
        case .payloadInvalid:
            rule(
                "The signature is valid, but the content does not have the store's format.",
                "Look at the field that the finding names.",
                korean: "서명은 유효하지만 내용이 스토어의 형식이 아닙니다.",
                "결과에 적힌 필드를 확인하세요.")
        case .purchaseFormRetired:
            rule(
                "The purchase has the form of In-app Billing 1 and 2, which Google has retired.",
                "Send a purchase of the Play Billing Library.",
                korean: "Google이 지원을 종료한 이전 결제 API의 형식입니다.",
                "Play 결제 라이브러리의 구매를 보내세요.")
        case .purchasePending:
            rule(
                "The customer has not paid the purchase yet.",
                "Wait until Google Play reports it as purchased. The app then gets a new signed purchase.",
                korean: "고객이 아직 구매 대금을 내지 않았습니다.",
                "Google Play가 구매 완료를 알릴 때까지 기다리세요. 그때 앱이 서명된 새 구매를 받습니다.")
        case .purchaseKindUnsupported:
            rule(
                "The purchase is a rental, and Google Play does not say how long it lasts.",
                "Let the service account view app information, and keep the purchase option in the app's catalog.",
                korean: "대여 구매인데, Google Play가 대여 기간을 알려 주지 않습니다.",
                "서비스 계정에 앱 정보 보기 권한을 주고, 앱의 카탈로그에 구매 옵션을 남겨 두세요.")
        case .tooManyPurchases:
            rule(
                "The receipt has more purchases than the service reads.",
                "Redeem the signed transactions instead.",
                korean: "영수증의 구매가 서비스가 읽는 수보다 많습니다.",
                "대신 서명된 거래로 지급받으세요.")
        case .innerProofInvalid:
            rule(
                "A proof inside the notification is invalid or does not match it.",
                "Look at the nested proof that the finding names.",
                korean: "알림 안의 증명이 유효하지 않거나 알림과 맞지 않습니다.",
                "결과에 적힌 내부 증명을 확인하세요.")
        case .signedInFuture:
            rule(
                "The proof's date is ahead of this machine's clock.",
                "Check the clock, then send the proof again.",
                korean: "증명의 날짜가 이 컴퓨터의 시계보다 앞섭니다.",
                "시계를 확인하고 증명을 다시 보내세요.")
        case .deviceMismatch:
            rule(
                "The receipt was made for another device.",
                "Refresh the receipt on the device.",
                korean: "다른 기기용 영수증입니다.",
                "기기에서 영수증을 새로 고치세요.")
        case .bundleIdentifierMismatch:
            rule(
                "The proof is for another app.",
                "Check which app the customer has, and the bundle identifier of the catalog.",
                korean: "다른 앱의 증명입니다.",
                "고객이 가진 앱과 카탈로그의 번들 식별자를 확인하세요.")
        case .certificateRevoked:
            forged(
                "The authority has revoked a certificate of the proof.",
                korean: "발급 기관이 증명의 인증서를 폐기했습니다.")
        case .revocationUnavailable:
            rule(
                "The revocation status of a certificate is unavailable.",
                "Send the proof again later.",
                korean: "인증서의 폐기 상태를 확인할 수 없습니다.",
                "나중에 증명을 다시 보내세요.")
        case .purchaseConsumed:
            rule(
                "The purchase was consumed before its first redemption, and bought before `google-refuse-consumed-before`.",
                "If the earlier back end has not delivered it, grant the item, or add to the balance.",
                korean: "처음 지급되기 전에 이미 소비(consume)되었고, `google-refuse-consumed-before` 전에 구매되었습니다.",
                "이전 백엔드가 지급하지 않았다면 아이템을 지급하거나 잔액에 더하세요.")
        case .environmentMismatch, .originNotAccepted:
            rule(
                "The purchase comes from an environment that is not accepted for this user, such as the sandbox.",
                "For a tester, add the user to `sandbox-users`. For a customer, check the build of the app.",
                korean: "구매가 이 사용자에게 허용되지 않는 환경(예: 샌드박스)에서 왔습니다.",
                "테스터라면 사용자를 `sandbox-users`에 추가하세요. 고객이라면 앱 빌드를 확인하세요.")
        }
    }

    private func rule(
        _ cause: String,
        _ remedy: String,
        korean: String,
        _ koreanRemedy: String
    ) -> ErrorRule {
        ErrorRule(
            rawValue, self == .tooLarge ? .tooLarge : .unprocessable, mayRetry: couldSucceedLater,
            isOfOperator: [
                .chainUntrusted, .appKeyMissing, .serviceAccountMissing, .originNotAccepted,
                .bundleIdentifierMismatch,
            ].contains(self),
            hasReason: self == .originNotAccepted, sentence, cause, remedy, korean: korean, koreanRemedy)
    }

    private func unchanged(_ cause: String, korean: String) -> ErrorRule {
        rule(
            cause, "Send the proof unchanged and complete.", korean: korean, "증명을 바꾸지 말고 전체를 보내세요.")
    }

    private func forged(_ cause: String, korean: String) -> ErrorRule {
        rule(
            cause, "Do not accept it: Apple never signs so.",
            korean: korean, "받아들이지 마세요. Apple은 이렇게 서명하지 않습니다.")
    }
}
