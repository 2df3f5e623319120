import Ledger

extension AuditEntry.Event {
    /// The event, without its subject.
    var title: Phrase {
        switch self {
        case .granted: Phrase("Redeemed", "구매 반영")
        case .revoked: Phrase("Revoked", "회수")
        case .productChanged: Phrase("Product changed", "상품 변경")
        case .refused: Phrase("Refused", "거절")
        case .transferredIn: Phrase("Came from another customer", "다른 고객에게서 이전")
        case .transferredOut: Phrase("Went to another customer", "다른 고객에게 이전")
        case .itemGiven: Phrase("Item given", "아이템 지급")
        case .itemTakenBack: Phrase("Item taken back", "지급 아이템 회수")
        case .assigned: Phrase("Purchase assigned", "구매 배정")
        case .credited: Phrase("Balance increased", "잔액 추가")
        case .spent: Phrase("Balance spent", "잔액 사용")
        case .expired: Phrase("Expired", "만료")
        case .renewalFailed: Phrase("Renewal failed", "갱신 실패")
        case .gracePeriodBegan: Phrase("Grace period began", "유예 기간 시작")
        case .autoRenewDisabled: Phrase("Renewal turned off", "자동 갱신 꺼짐")
        case .autoRenewEnabled: Phrase("Renewal turned on", "자동 갱신 켜짐")
        case .aliased: Phrase("Anonymous customer logged in", "익명 고객 로그인")
        case .erased: Phrase("Customer erased", "고객 삭제")
        }
    }

    /// The effect for the customer.
    var mood: Shown.Mood {
        switch self {
        case .granted, .transferredIn, .itemGiven, .assigned, .credited, .autoRenewEnabled: .good
        case .refused, .revoked, .itemTakenBack: .bad
        case .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .transferredOut: .warning
        case .productChanged, .expired, .spent, .aliased, .erased: .neutral
        }
    }
}
