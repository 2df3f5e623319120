import Features
import Proofs

/// The App Store's notifications in plain words.
enum NotificationWords {
    /// The marks of a notification that came late or more than once.
    static func marks(_ received: ReceivedNotification) -> HTML {
        HTML {
            if received.isLate { Shown.badge(Phrase("Late", "늦음"), .warning) }
            if received.repeatedAt != nil {
                plain(" ")
                Shown.badge(Phrase("Repeated", "중복"))
            }
        }
    }

    /// The event that a type reports; nil for a type that this version does not know.
    static func meaning(ofType type: String) -> Phrase? {
        NotificationTypeV2(rawValue: type).map(meaning)
    }

    private static func meaning(_ type: NotificationTypeV2) -> Phrase {
        switch type {
        case .subscribed: Phrase("A customer subscribed, or came back.", "고객이 구독했거나 다시 구독했습니다.")
        case .didChangeRenewalPref:
            Phrase("A customer chose another plan for the renewal.", "고객이 갱신할 요금제를 바꿨습니다.")
        case .didChangeRenewalStatus:
            Phrase("A customer turned renewal on or off.", "고객이 자동 갱신을 켜거나 껐습니다.")
        case .offerRedeemed: Phrase("A customer redeemed an offer.", "고객이 할인 혜택을 사용했습니다.")
        case .didRenew: Phrase("A subscription renewed.", "구독이 갱신되었습니다.")
        case .expired: Phrase("A subscription expired.", "구독이 만료되었습니다.")
        case .didFailToRenew: Phrase("A renewal could not be charged.", "갱신 결제에 실패했습니다.")
        case .gracePeriodExpired: Phrase("A grace period ended without a payment.", "결제 없이 유예 기간이 끝났습니다.")
        case .priceIncrease: Phrase("A customer was asked about a higher price.", "고객에게 가격 인상을 알렸습니다.")
        case .refund: Phrase("The App Store refunded a purchase.", "App Store가 구매를 환불했습니다.")
        case .refundDeclined: Phrase("The App Store declined a refund.", "App Store가 환불을 거절했습니다.")
        case .consumptionRequest:
            Phrase(
                "The App Store asks about a purchase before it decides on a refund.",
                "App Store가 환불을 결정하기 전에 구매에 대해 묻습니다.")
        case .renewalExtended: Phrase("The renewal date was extended.", "갱신일이 연장되었습니다.")
        case .revoke: Phrase("A family no longer shares the purchase.", "가족 공유가 끝났습니다.")
        case .test: Phrase("A test that you requested.", "요청한 테스트입니다.")
        case .renewalExtension: Phrase("An extension of many renewal dates was processed.", "여러 갱신일의 연장을 처리했습니다.")
        case .refundReversed: Phrase("The App Store reversed a refund.", "App Store가 환불을 취소했습니다.")
        case .externalPurchaseToken: Phrase("A token for external purchases was created.", "외부 구매 토큰이 만들어졌습니다.")
        case .oneTimeCharge: Phrase("A customer bought a product once.", "고객이 일회성 상품을 구매했습니다.")
        case .rescindConsent: Phrase("A parent withdrew the consent.", "보호자가 동의를 철회했습니다.")
        case .metadataUpdate: Phrase("The metadata of a subscription changed.", "구독의 메타데이터가 바뀌었습니다.")
        case .migration: Phrase("A subscription was migrated.", "구독이 이전되었습니다.")
        case .priceChange: Phrase("The price of a subscription changed.", "구독 가격이 바뀌었습니다.")
        case .unclaimSeats: Phrase("Seats of a subscription were unclaimed.", "구독 좌석의 배정이 해제되었습니다.")
        }
    }
}
