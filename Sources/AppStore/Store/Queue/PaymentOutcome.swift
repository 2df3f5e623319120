import Catalog
import HTTPSupport
import Proofs

/// The outcome of a payment, chosen by the tester of an app.
package enum PaymentOutcome: Hashable, Sendable {
    case purchased
    /// Waits for approval (Ask to Buy).
    case deferred
    /// Fails until the customer has resolved an issue outside the app, then is purchased.
    case interrupted
    case failed(SKErrorCode)

    /// Short names for the most common failures.
    private static let shortNames: [String: SKErrorCode] = [
        "cancelled": .paymentCancelled, "notAllowed": .paymentNotAllowed, "notAvailable": .storeProductNotAvailable,
    ]

    /// - Parameter name: `purchased`, `deferred`, `interrupted`, `cancelled`, `notAllowed`, `notAvailable`, or an `SKError` by its name.
    /// - Returns: Nil for any other name.
    package init?(name: String) {
        switch name {
        case "purchased": self = .purchased
        case "deferred": self = .deferred
        case "interrupted": self = .interrupted
        default:
            guard let error = Self.shortNames[name] ?? SKErrorCode(name: name) else { return nil }
            self = .failed(error)
        }
    }

    package var name: String {
        switch self {
        case .purchased: "purchased"
        case .deferred: "deferred"
        case .interrupted: "interrupted"
        case .failed(let error): error.name
        }
    }

    /// The outcome under the store's settings. They change only payments that would be purchased.
    package func applying(_ settings: StoreSettings) -> PaymentOutcome {
        guard self == .purchased else { return self }
        if let error = settings.failureError { return .failed(SKErrorCode(rawValue: error) ?? .unknown) }
        if settings.isAskToBuyEnabled { return .deferred }
        return settings.areInterruptedPurchasesEnabled ? .interrupted : .purchased
    }

    /// True if the customer can complete the payment, because it was interrupted.
    package func isResolvable(_ transaction: PaymentTransaction) -> Bool {
        self == .interrupted && transaction.error != nil
    }
}

/// A step of a payment through the queue: an event, and the error of a payment that fails.
package struct PaymentStep: Hashable, Sendable {
    package let event: PaymentTransactionEvent
    fileprivate var error: SKErrorCode?

    package static let approve = PaymentStep(event: .approve)
    package static let decline = PaymentStep(event: .decline, error: .paymentCancelled)
    package static let finish = PaymentStep(event: .finish)

    /// True if the step sells the product.
    var isSale: Bool { event == .purchase || event == .approve }

    /// The step instead of this one if the sale fails: a deferred payment is declined.
    package func afterFailedSale(_ error: SKErrorCode) -> PaymentStep {
        PaymentStep(event: event == .approve ? .decline : .fail, error: error)
    }
}

extension PaymentStep {
    /// The step that takes a purchasing payment to an outcome.
    package init(_ outcome: PaymentOutcome) {
        switch outcome {
        case .purchased: self.init(event: .purchase)
        case .deferred: self.init(event: .awaitApproval)
        case .interrupted: self.init(event: .fail, error: .unknown)
        case .failed(let error): self.init(event: .fail, error: error)
        }
    }
}

extension PaymentTransaction {
    /// The transaction after a step.
    ///
    /// - Throws: `IllegalPaymentTransition` if StoreKit does not allow the event in this state.
    package func after(
        _ step: PaymentStep,
        selling purchase: Purchase? = nil
    ) throws(IllegalPaymentTransition) -> PaymentTransaction {
        let state = try state.after(step.event)
        return PaymentTransaction(
            identifier: identifier, payment: payment, state: state, error: state == .failed ? step.error : error,
            purchase: purchase ?? self.purchase)
    }
}

/// The effect of a payment that the queue shows as purchased.
package enum PurchaseEffect: Hashable, Sendable {
    case charged(Price, isTrial: Bool = false)
    /// Nothing was charged: the account already has this subscription, which renews at this date.
    case alreadySubscribed(renewalDate: Timestamp)
    /// Nothing was charged: the subscription changes to another product, or to another billing plan, at its next renewal or at the end
    /// of its commitment.
    case changes(productIdentifier: String, date: Timestamp)

    /// The name in JSON.
    package var name: String {
        switch self {
        case .charged: "charged"
        case .alreadySubscribed: "alreadySubscribed"
        case .changes: "changes"
        }
    }

    /// The charged price, 0 included; nil if the payment could not charge.
    package var price: Price? {
        if case .charged(let price, _) = self { price } else { nil }
    }

    /// The product after the next renewal; nil if the product stays.
    package var nextProductIdentifier: String? {
        if case .changes(let product, _) = self { product } else { nil }
    }

    /// The date of the subscription's next renewal or change; nil for a payment that charged.
    package var renewalDate: Timestamp? {
        switch self {
        case .charged: nil
        case .alreadySubscribed(let date), .changes(_, let date): date
        }
    }

    /// - Parameters:
    ///   - sold: The transaction that the queue shows for the payment.
    ///   - isShownEarlier: True if an earlier payment shows the same transaction.
    /// - subscription: The transaction's subscription; nil for any other product.
    init(_ sold: Transaction, isShownEarlier: Bool, subscription: CustomerSubscription?) {
        // A payment that charges creates its own transaction. Renewals are not in the queue.
        guard let subscription, isShownEarlier || sold.reason == .renewal else {
            self = .charged(sold.amount, isTrial: sold.offer?.isTrial ?? false)
            return
        }
        self =
            subscription.hasPendingChange
            ? .changes(
                productIdentifier: subscription.autoRenewProductIdentifier,
                date: subscription.commitment?.expiresDate ?? subscription.expiresDate)
            : .alreadySubscribed(renewalDate: subscription.expiresDate)
    }
}
