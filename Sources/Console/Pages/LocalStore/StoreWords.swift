import AppStore
import HTTPSupport
import Proofs

enum StoreWords {
    static func word(_ state: PaymentTransactionState) -> Shown.Word {
        switch state {
        case .purchasing: ("Purchasing", .neutral)
        case .deferred: ("Waits for approval", .warning)
        case .purchased: ("Purchased, not finished", .warning)
        case .failed: ("Failed", .bad)
        case .restored: ("Restored, not finished", .warning)
        case .finished: ("Finished", .good)
        }
    }

    /// The state of a payment as a badge, with the error of a failed one.
    @HTMLBuilder static func badge(_ queued: QueuedTransaction) -> HTML {
        if queued.isInterrupted {
            Shown.badge("Interrupted", .warning)
        } else {
            Shown.badge(word(queued.transaction.state))
            if let error = queued.transaction.error { also(code { plain(error.name) }) }
        }
    }

    static func badge(_ listed: ListedTransaction) -> HTML {
        let transaction = listed.transaction
        if let revocation = transaction.revocation { return Shown.badge(title(revocation.type), .bad) }
        if listed.isRefundRequested { return Shown.badge(title(.refundRequested), .warning) }
        if transaction.isUpgraded { return Shown.badge("Upgraded") }
        if let payment = listed.payment { return Shown.badge(word(payment.transaction.state)) }
        return Shown.badge(title(transaction.reason), .good)
    }

    static func title(_ state: ListedState) -> Phrase {
        switch state {
        case .unfinished: "Not finished by the app"
        case .refundRequested: "Refund requested"
        case .revoked: "Refunded or revoked"
        case .subscribed: "Active subscription"
        case .unpaid: "Grace period or billing retry"
        }
    }

    static func title(_ type: RevocationType) -> Phrase {
        switch type {
        case .refundFull: "Refunded"
        case .refundProrated: "Partly refunded"
        case .familyRevoke: "Family sharing ended"
        case .assignmentRevoke: "Seat ended"
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

    static func title(_ plan: BillingPlanType) -> Phrase {
        switch plan {
        case .upFront: "Up front"
        case .monthly: "Monthly, with a commitment of twelve months"
        }
    }

    static func title(_ ownership: InAppOwnershipType) -> Phrase {
        switch ownership {
        case .purchased: "Bought by the account"
        case .familyShared: "Shared by the family"
        case .assigned: "A seat that another account has paid for"
        }
    }

    static func word(_ status: Status) -> Shown.Word {
        switch status {
        case .active: ("Active", .good)
        case .expired: (Phrase("Expired", context: "subscription"), .bad)
        case .billingRetry: ("Billing retry", .warning)
        case .billingGracePeriod: ("Grace period", .warning)
        case .revoked: (Phrase("Revoked", context: "subscription"), .bad)
        }
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

    static func word(_ kind: DueEvent.Kind) -> Shown.Word {
        switch kind {
        case .renewed: ("The subscription renewed and was charged:", .good)
        case .renewalFailed: ("The renewal could not be charged. The store tries again:", .warning)
        case .gracePeriodEnded: ("The grace period ended without a charge. The customer lost access:", .warning)
        case .expired: ("The subscription ended:", .bad)
        }
    }

    @HTMLBuilder static func sentence(_ effect: PurchaseEffect) -> HTML {
        switch effect {
        case .charged(_, isTrial: true): "Free trial"
        case .charged(let price, _):
            "Charged"
            also(price.phrase)
        case .alreadySubscribed(let date):
            "Already subscribed, so nothing was charged. It renews on"
            also(Shown.day(date))
        case .changes(let product, let date):
            "Nothing was charged. The subscription changes to"
            also(spaced(Shown.identifier(product), Phrase("on", context: "date"), Shown.day(date)))
        }
    }

    /// The status of a subscription, and the setting of its renewal with its date.
    static func state(_ subscription: SubscriptionSummary) -> HTML {
        let (words, day): (Phrase, Timestamp?) =
            switch subscription.status {
            case .active where subscription.willAutoRenew:
                (Phrase("renews", context: "date"), subscription.expiresDate)
            case .active: ("ends", subscription.expiresDate)
            case .expired, .revoked: ("ended", subscription.expiresDate)
            case .billingGracePeriod, .billingRetry: ("until", subscription.dueDate)
            }
        return spaced(Shown.badge(word(subscription.status)), words, Shown.day(day))
    }
}

extension SubscriptionOffer {
    /// The offer in words: kind, name, length and price.
    @HTMLBuilder var words: HTML {
        kind.title
        if let identifier { also(Shown.identifier(identifier)) }
        also(period.words(times: periodCount), by: ": ")
        plain(", ")
        if let price { spaced(by: "", price.phrase, plain(", ")) }
        StoreWords.title(paymentMode)
    }
}

/// The title of an action on a payment, and the confirmation after it.
extension PaymentAction {
    var words: (title: Phrase, notice: Notice) {
        switch self {
        case .approve: ("Approve", .approved)
        case .decline: ("Decline", .declined)
        case .resolve: ("Resolve the issue", .bought)
        case .finish: ("Finish", .performed)
        }
    }
}
