import Entitlements

/// The cause and the remedy of a refusal in both languages.
struct RefusalWords {
    let cause: Phrase
    let remedy: Phrase

    /// - Returns: Nil for a code that is not of a refusal.
    init?(code: String) {
        guard let english = RefusalRemedy(code: code), let korean = Self.korean(code) else { return nil }
        cause = Phrase(english.cause, korean.cause)
        remedy = Phrase(english.remedy, korean.remedy)
    }

    private static func korean(_ code: String) -> (cause: String, remedy: String)? {
        switch code {
        case "ownedByAnotherUser":
            (
                "다른 사용자가 이 구매를 등록해서 가지고 있습니다.",
                "고객에게 그 사용자로 로그인하도록 안내하거나, 그쪽의 구매를 회수하고 여기에 아이템을 지급하세요."
            )
        case "transferTooSoon":
            ("이 구매는 최근에 다른 사용자에게 옮겨졌습니다.", "소유권 정책의 대기 시간이 끝난 뒤에 구매를 복원하세요.")
        case "appAccountTokenMismatch":
            ("이 구매에는 다른 사용자의 계정 토큰이 있습니다.", "고객에게 구매한 사용자로 로그인하도록 안내하세요.")
        case "productUnknown":
            ("카탈로그에 없는 상품입니다.", "상품을 카탈로그에 추가하세요. 앱에서 다음에 복원하면 구매가 등록됩니다.")
        case "originNotAccepted", "environmentMismatch":
            (
                "이 사용자에게 허용되지 않은 환경(예: 샌드박스)의 구매입니다.",
                "테스터라면 `sandbox-users`에 추가하세요. 고객이라면 앱의 빌드를 확인하세요."
            )
        case "bundleIdentifierMismatch":
            ("다른 앱의 증명입니다.", "고객이 어느 앱을 쓰는지, 카탈로그의 번들 ID가 맞는지 확인하세요.")
        default: nil
        }
    }
}
