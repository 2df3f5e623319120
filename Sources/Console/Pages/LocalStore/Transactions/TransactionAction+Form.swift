import AppStore
import Proofs

/// The words and the form of an action.
extension TransactionAction {
    var title: Phrase {
        switch self {
        case .requestRefund: "Request a refund as the customer"
        case .refund: "Refund"
        case .declineRefund: "Decline a refund request"
        case .reverseRefund: "Reverse the refund"
        case .share: "Share with a family member"
        case .revokeFamilySharing: "End family sharing"
        case .forceRenewal: "Renew now"
        case .failRenewal: "Let the renewal fail now"
        case .resolveBillingIssue: "Recover: charge the customer"
        case .expire: "Expire now"
        case .turnAutoRenewOff: "Turn automatic renewal off"
        case .turnAutoRenewOn: "Turn automatic renewal on"
        case .requestPriceIncrease: "Raise the price"
        case .consentToPriceIncrease: "Consent to the price increase"
        case .declinePriceIncrease: "Decline the price increase"
        case .delete: "Delete"
        }
    }

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
