import AppStore
import Proofs

/// The words of the local store's pages.
enum StoreWords {
    static func title(_ state: PaymentTransactionState) -> Phrase {
        switch state {
        case .purchasing: Phrase("Purchasing", "구매 중")
        case .deferred: Phrase("Waits for approval", "승인 대기")
        case .purchased: Phrase("Purchased, not finished", "구매됨, 완료 전")
        case .failed: Phrase("Failed", "실패")
        case .restored: Phrase("Restored, not finished", "복원됨, 완료 전")
        case .finished: Phrase("Finished", "완료")
        }
    }

    /// The state of a payment as a badge, with the error of a failed one.
    static func badge(_ payment: PaymentTransaction, isInterrupted: Bool) -> HTML {
        HTML {
            if isInterrupted {
                Shown.badge(Phrase("Interrupted", "중단됨"), .warning)
            } else {
                Shown.badge(title(payment.state), mood(payment.state))
            }
            if let error = payment.error, !isInterrupted {
                plain(" ")
                code { plain(error.name) }
            }
        }
    }

    private static func mood(_ state: PaymentTransactionState) -> Shown.Mood {
        switch state {
        case .purchasing: .neutral
        case .deferred, .purchased, .restored: .warning
        case .failed: .bad
        case .finished: .good
        }
    }

    /// The state of a transaction as a badge.
    static func badge(_ listed: ListedTransaction) -> HTML {
        let transaction = listed.transaction
        if let revocation = transaction.revocation { return Shown.badge(title(revocation.type), .bad) }
        if transaction.isUpgraded { return Shown.badge(Phrase("Upgraded", "상위 상품으로 변경됨")) }
        if let payment = listed.payment { return Shown.badge(title(payment.state), mood(payment.state)) }
        return Shown.badge(title(transaction.reason), .good)
    }

    static func title(_ type: RevocationType) -> Phrase {
        switch type {
        case .refundFull: Phrase("Refunded", "환불됨")
        case .refundProrated: Phrase("Partly refunded", "일부 환불됨")
        case .familyRevoke: Phrase("Family sharing ended", "가족 공유 종료됨")
        }
    }

    static func title(_ reason: RevocationReason) -> Phrase {
        switch reason {
        case .refundedDueToIssue: Phrase("An issue in the app", "앱의 문제")
        case .refundedForOtherReason: Phrase("Another reason", "다른 이유")
        }
    }

    static func title(_ reason: TransactionReason) -> Phrase {
        switch reason {
        case .purchase: Phrase("Purchase", "구매")
        case .renewal: Phrase("Renewal", "갱신")
        }
    }

    static func title(_ ownership: InAppOwnershipType) -> Phrase {
        switch ownership {
        case .purchased: Phrase("Bought by the account", "계정이 구매함")
        case .familyShared: Phrase("Shared by the family", "가족이 공유함")
        case .assigned: Phrase("A seat that another account has paid for", "다른 계정이 결제한 좌석")
        }
    }

    static func title(_ status: Status) -> Phrase {
        switch status {
        case .active: Phrase("Active", "이용 중")
        case .expired: Phrase("Expired", "만료됨")
        case .billingRetry: Phrase("Billing retry", "결제 재시도 중")
        case .billingGracePeriod: Phrase("Grace period", "결제 유예 기간")
        case .revoked: Phrase("Revoked", "취소됨")
        }
    }

    static func badge(_ status: Status) -> HTML {
        let mood: Shown.Mood =
            switch status {
            case .active: .good
            case .billingRetry, .billingGracePeriod: .warning
            case .expired, .revoked: .bad
            }
        return Shown.badge(title(status), mood)
    }

    static func title(_ intent: ExpirationIntent) -> Phrase {
        switch intent {
        case .customerCancelled: Phrase("The customer cancelled", "고객이 해지함")
        case .billingError: Phrase("The customer could not be charged", "요금을 청구하지 못함")
        case .customerDidNotConsentToPriceIncrease:
            Phrase("No consent to the price increase", "가격 인상에 동의하지 않음")
        case .productNotAvailable: Phrase("The product is not sold any more", "상품 판매가 중단됨")
        case .other: Phrase("Another reason", "다른 이유")
        }
    }

    static func title(_ mode: SubscriptionOffer.PaymentMode) -> Phrase {
        switch mode {
        case .freeTrial: Phrase("free", "무료")
        case .payAsYouGo: Phrase("paid each period", "기간마다 결제")
        case .payUpFront: Phrase("paid at once", "한 번에 결제")
        }
    }

    static func title(_ kind: DueEvent.Kind) -> Phrase {
        switch kind {
        case .renewed: Phrase("Renewed", "갱신됨")
        case .renewalFailed: Phrase("The charge failed", "결제 실패")
        case .gracePeriodEnded: Phrase("The grace period ended", "결제 유예 기간 종료")
        case .expired: Phrase("Expired", "만료됨")
        }
    }

    static func mood(_ kind: DueEvent.Kind) -> Shown.Mood {
        switch kind {
        case .renewed: .good
        case .renewalFailed, .gracePeriodEnded: .warning
        case .expired: .bad
        }
    }

    /// The effect of a payment, as a sentence.
    static func sentence(_ effect: PurchaseEffect) -> HTML {
        switch effect {
        case .charged(let price):
            HTML {
                Phrase("Charged", "청구 금액:")
                plain(" \(price.formatted)")
            }
        case .alreadySubscribed(let date):
            HTML {
                Phrase(
                    "Already subscribed, so nothing was charged. It renews on",
                    "이미 구독 중이라 청구하지 않았습니다. 갱신일:")
                plain(" ")
                Shown.day(date)
            }
        case .changes(let product, let date):
            HTML {
                Phrase("Nothing was charged. The subscription changes to", "청구하지 않았습니다. 변경될 상품:")
                plain(" ")
                Shown.identifier(product)
                plain(" ")
                Phrase("on", "변경일:")
                plain(" ")
                Shown.day(date)
            }
        }
    }

    /// The setting of renewal, with its date.
    static func renewal(_ subscription: SubscriptionSummary) -> HTML {
        switch subscription.status {
        case .active where subscription.isAutoRenewing:
            HTML {
                Phrase("renews", "갱신일")
                plain(" ")
                Shown.day(subscription.expiresDate)
            }
        case .active, .expired, .revoked:
            HTML {
                subscription.status == .active ? Phrase("ends", "종료일") : Phrase("ended", "종료일")
                plain(" ")
                Shown.day(subscription.expiresDate)
            }
        case .billingGracePeriod, .billingRetry:
            HTML {
                Phrase("until", "기한")
                plain(" ")
                Shown.day(subscription.dueDate)
            }
        }
    }
}

/// An offer in words: kind, name, length and price.
struct StoreOfferText {
    let offer: SubscriptionOffer

    var html: HTML {
        HTML {
            offer.kind.title
            if let identifier = offer.identifier {
                plain(" ")
                Shown.identifier(identifier)
            }
            plain(": ")
            offer.period.words(times: offer.periodCount)
            plain(", ")
            if let price = offer.price { plain(price.formatted + ", ") }
            StoreWords.title(offer.paymentMode)
        }
    }
}
