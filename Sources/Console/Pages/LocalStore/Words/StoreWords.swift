import AppStore
import Proofs

/// The words of the local store's pages.
enum StoreWords {
    static func title(_ state: PaymentTransactionState) -> Phrase {
        switch state {
        case .purchasing: "Purchasing"
        case .deferred: "Waits for approval"
        case .purchased: "Purchased, not finished"
        case .failed: "Failed"
        case .restored: "Restored, not finished"
        case .finished: "Finished"
        }
    }

    /// The state of a payment as a badge, with the error of a failed one.
    @HTMLBuilder static func badge(_ payment: PaymentTransaction, isInterrupted: Bool) -> HTML {
        if isInterrupted {
            Shown.badge("Interrupted", .warning)
        } else {
            Shown.badge(title(payment.state), mood(payment.state))
        }
        if let error = payment.error, !isInterrupted {
            plain(" ")
            code { plain(error.name) }
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
        if transaction.isUpgraded { return Shown.badge("Upgraded") }
        if let payment = listed.payment { return Shown.badge(title(payment.state), mood(payment.state)) }
        return Shown.badge(title(transaction.reason), .good)
    }

    static func title(_ type: RevocationType) -> Phrase {
        switch type {
        case .refundFull: "Refunded"
        case .refundProrated: "Partly refunded"
        case .familyRevoke: "Family sharing ended"
        }
    }

    static func title(_ reason: RevocationReason) -> Phrase {
        switch reason {
        case .refundedDueToIssue: "An issue in the app"
        case .refundedForOtherReason: "Another reason"
        }
    }

    static func title(_ reason: TransactionReason) -> Phrase {
        switch reason {
        case .purchase: "Purchase"
        case .renewal: "Renewal"
        }
    }

    static func title(_ ownership: InAppOwnershipType) -> Phrase {
        switch ownership {
        case .purchased: "Bought by the account"
        case .familyShared: "Shared by the family"
        case .assigned: "A seat that another account has paid for"
        }
    }

    static func title(_ status: Status) -> Phrase {
        switch status {
        case .active: "Active"
        case .expired: Phrase("Expired", context: "subscription")
        case .billingRetry: "Billing retry"
        case .billingGracePeriod: "Grace period"
        case .revoked: Phrase("Revoked", context: "subscription")
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
        case .customerCancelled: "The customer cancelled"
        case .billingError: "The customer could not be charged"
        case .customerDidNotConsentToPriceIncrease: "No consent to the price increase"
        case .productNotAvailable: "The product is not sold any more"
        case .other: "Another reason"
        }
    }

    static func title(_ mode: SubscriptionOffer.PaymentMode) -> Phrase {
        switch mode {
        case .freeTrial: "free"
        case .payAsYouGo: "paid each period"
        case .payUpFront: "paid at once"
        }
    }

    static func title(_ kind: DueEvent.Kind) -> Phrase {
        switch kind {
        case .renewed: "Renewed"
        case .renewalFailed: "The charge failed"
        case .gracePeriodEnded: "The grace period ended"
        case .expired: Phrase("Expired", context: "subscription")
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
    @HTMLBuilder static func sentence(_ effect: PurchaseEffect) -> HTML {
        switch effect {
        case .charged(let price):
            "Charged"
            plain(" \(price.formatted)")
        case .alreadySubscribed(let date):
            "Already subscribed, so nothing was charged. It renews on"
            plain(" ")
            Shown.day(date)
        case .changes(let product, let date):
            "Nothing was charged. The subscription changes to"
            plain(" ")
            Shown.identifier(product)
            plain(" ")
            Phrase("on", context: "date")
            plain(" ")
            Shown.day(date)
        }
    }

    /// The setting of renewal, with its date.
    @HTMLBuilder static func renewal(_ subscription: SubscriptionSummary) -> HTML {
        switch subscription.status {
        case .active where subscription.isAutoRenewing:
            Phrase("renews", context: "date")
            plain(" ")
            Shown.day(subscription.expiresDate)
        case .active, .expired, .revoked:
            subscription.status == .active ? "ends" : "ended"
            plain(" ")
            Shown.day(subscription.expiresDate)
        case .billingGracePeriod, .billingRetry:
            "until"
            plain(" ")
            Shown.day(subscription.dueDate)
        }
    }
}

/// An offer in words: kind, name, length and price.
struct StoreOfferText {
    let offer: SubscriptionOffer

    @HTMLBuilder var html: HTML {
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
