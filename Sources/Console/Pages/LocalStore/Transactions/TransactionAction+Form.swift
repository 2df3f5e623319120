import AppStore
import HTTPSupport
import Proofs

/// The words and the form of an action.
extension TransactionAction {
    /// The title in each language.
    var words: Phrase { Phrase(stated: title) }

    /// The fields of the action's form; nil for an action that a button starts at once.
    var fields: HTML? {
        switch self {
        case .requestRefund:
            Field.choice(
                "request-reason", "Reason of the customer",
                ConsumptionRequestReason.allCases.map { ($0.rawValue, $0.title) },
                chosen: ConsumptionRequestReason.other.rawValue)
        case .refund:
            Field.choice(
                "refund-reason", "Reason",
                RevocationReason.allCases.map { (String($0.rawValue), StoreWords.title($0)) })
        case .share:
            Field.text(
                "member", "Account of the family member", maximumLength: Store.maximumAccountLength, isRequired: true)
        case .failRenewal:
            Field.choice(
                "then", "Afterwards",
                [
                    (Status.billingRetry.name, StoreWords.title(.billingRetry)),
                    (Status.billingGracePeriod.name, StoreWords.title(.billingGracePeriod)),
                ])
        case .requestPriceIncrease:
            HTML {
                Field.text(
                    "price", "New price", inputMode: "decimal", maximumLength: 13, isRequired: true,
                    note: "In the storefront's currency, such as 5.99.")
                Field.checkbox("needs-consent", "The customer has to consent", isChecked: true)
            }
        case .delete:
            p {
                "Deletes the transaction and its repetitions, or the whole subscription, from the store. The service keeps what it has granted."
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
    /// The values of the action's form.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    func values(_ form: ConsoleForm) throws(Problem) -> Parameters {
        var values = Parameters()
        switch self {
        case .requestRefund:
            guard let reason = ConsumptionRequestReason(rawValue: try form.requiredText("request-reason")) else {
                throw ConsoleForm.invalid("request-reason", "a reason of the list")
            }
            values.requestReason = reason
        case .refund:
            guard let number = try form.integer("refund-reason"), let reason = RevocationReason(rawValue: number) else {
                throw ConsoleForm.invalid("refund-reason", "a reason of the list")
            }
            values.refundReason = reason
        case .share: values.member = try form.requiredText("member", upTo: Store.maximumAccountLength)
        case .failRenewal: values.hasGracePeriod = try form.requiredText("then") == Status.billingGracePeriod.name
        case .requestPriceIncrease:
            guard let price = Price(majorUnits: try form.requiredText("price"), currency: "") else {
                throw ConsoleForm.invalid("price", "an amount such as 5.99")
            }
            values.price = price.milliunits
            values.needsConsent = form.isChecked("needs-consent")
        default: break
        }
        return values
    }
}

extension Status {
    /// The name in a form.
    fileprivate var name: String { String(rawValue) }
}
