import AppStore
import Proofs

/// The words and the form of an action.
extension TransactionAction {
    var title: Phrase {
        switch self {
        case .requestRefund: Phrase("Request a refund as the customer", "고객으로 환불 요청")
        case .refund: Phrase("Refund", "환불")
        case .declineRefund: Phrase("Decline a refund request", "환불 요청 거절")
        case .reverseRefund: Phrase("Reverse the refund", "환불 취소")
        case .share: Phrase("Share with a family member", "가족과 공유")
        case .revokeFamilySharing: Phrase("End family sharing", "가족 공유 종료")
        case .forceRenewal: Phrase("Renew now", "지금 갱신")
        case .failRenewal: Phrase("Let the renewal fail now", "지금 갱신 실패")
        case .resolveBillingIssue: Phrase("Recover: charge the customer", "복구: 요금 청구")
        case .expire: Phrase("Expire now", "지금 만료")
        case .turnAutoRenewOff: Phrase("Turn automatic renewal off", "자동 갱신 끄기")
        case .turnAutoRenewOn: Phrase("Turn automatic renewal on", "자동 갱신 켜기")
        case .requestPriceIncrease: Phrase("Raise the price", "가격 인상")
        case .consentToPriceIncrease: Phrase("Consent to the price increase", "가격 인상 동의")
        case .declinePriceIncrease: Phrase("Decline the price increase", "가격 인상 거절")
        case .delete: Phrase("Delete", "삭제")
        }
    }

    /// The fields of the action's form; nil for an action that a button starts at once.
    var fields: HTML? {
        switch self {
        case .requestRefund:
            Field.choice(
                "request-reason", Phrase("Reason of the customer", "고객의 이유"),
                ConsumptionRequestReason.allCases.map { ($0.rawValue, $0.title) },
                chosen: ConsumptionRequestReason.other.rawValue)
        case .refund:
            Field.choice(
                "refund-reason", Phrase("Reason", "이유"),
                RevocationReason.allCases.map { (String($0.rawValue), StoreWords.title($0)) })
        case .share:
            Field.text(
                "member", Phrase("Account of the family member", "가족 구성원의 계정"),
                maximumLength: Store.maximumAccountLength, isRequired: true)
        case .failRenewal:
            Field.choice(
                "then", Phrase("Afterwards", "그다음 상태"),
                [
                    (Status.billingRetry.name, StoreWords.title(.billingRetry)),
                    (Status.billingGracePeriod.name, StoreWords.title(.billingGracePeriod)),
                ])
        case .requestPriceIncrease:
            HTML {
                Field.text(
                    "price", Phrase("New price", "새 가격"), inputMode: "decimal", maximumLength: 13, isRequired: true,
                    note: Phrase("In the storefront's currency, such as 5.99.", "스토어프런트 통화로 입력하세요. 예: 5.99"))
                Field.checkbox(
                    "needs-consent", Phrase("The customer has to consent", "고객의 동의가 필요함"), isChecked: true)
            }
        case .delete:
            p {
                Phrase(
                    "Deletes the transaction and its repetitions, or the whole subscription, from the store. The service "
                        + "keeps what it has granted.",
                    "스토어에서 이 거래와 반복 거래, 또는 구독 전체를 삭제합니다. 서비스가 지급한 것은 남습니다.")
            }
        case .declineRefund, .reverseRefund, .revokeFamilySharing, .forceRenewal, .resolveBillingIssue, .expire,
            .turnAutoRenewOff, .turnAutoRenewOn, .consentToPriceIncrease, .declinePriceIncrease:
            nil
        }
    }

    /// The confirmation after the action.
    var notice: Notice {
        switch self {
        case .refund: .refunded
        case .declineRefund, .declinePriceIncrease: .declined
        case .delete: .removed
        default: .performed
        }
    }
}

extension TransactionAction {
    /// Returns the action with the fields of its form.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    func reading(_ form: ConsoleForm) throws -> @Sendable (Store, String) throws -> Void {
        switch self {
        case .requestRefund:
            guard let reason = ConsumptionRequestReason(rawValue: try form.requiredText("request-reason")) else {
                throw ConsoleForm.invalid("request-reason", "a reason of the list")
            }
            return { try $0.requestRefund(of: $1, reason: reason) }
        case .refund:
            guard let reason = try form.integer("refund-reason").flatMap(RevocationReason.init) else {
                throw ConsoleForm.invalid("refund-reason", "a reason of the list")
            }
            return { try $0.refund($1, reason: reason) }
        case .share:
            let member = try form.requiredText("member", upTo: Store.maximumAccountLength)
            return { _ = try $0.share($1, with: member) }
        case .failRenewal:
            let hasGracePeriod = try form.requiredText("then") == Status.billingGracePeriod.name
            return { try $0.failRenewal(of: $1, hasGracePeriod: hasGracePeriod) }
        case .requestPriceIncrease:
            guard let price = Price(majorUnits: try form.requiredText("price"), currency: "") else {
                throw ConsoleForm.invalid("price", "an amount such as 5.99")
            }
            let needsConsent = form.isChecked("needs-consent")
            return { try $0.requestPriceIncrease(of: $1, to: price.milliunits, needsConsent: needsConsent) }
        case .declineRefund: return { try $0.declineRefund(of: $1) }
        case .reverseRefund: return { try $0.reverseRefund(of: $1) }
        case .revokeFamilySharing: return { try $0.revokeFamilySharing(of: $1) }
        case .forceRenewal: return { try $0.forceRenewal(of: $1) }
        case .resolveBillingIssue: return { try $0.resolveBillingIssue(of: $1) }
        case .expire: return { try $0.expire($1) }
        case .turnAutoRenewOff: return { try $0.setAutoRenew(false, of: $1) }
        case .turnAutoRenewOn: return { try $0.setAutoRenew(true, of: $1) }
        case .consentToPriceIncrease: return { try $0.consentToPriceIncrease(of: $1) }
        case .declinePriceIncrease: return { try $0.declinePriceIncrease(of: $1) }
        case .delete: return { try $0.delete($1) }
        }
    }
}

extension Status {
    /// The name in a form.
    fileprivate var name: String { String(rawValue) }
}
