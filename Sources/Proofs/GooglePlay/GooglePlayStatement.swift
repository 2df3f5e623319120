/// The state of a purchase token, as the Play Developer API states it.
package enum GooglePlayState: String, CaseIterable, Sendable {
    /// The payment is outstanding. Nothing is owned.
    case pending
    /// The payment of a pending purchase was not made. Nothing was ever owned.
    case paymentCanceled
    /// A one-time product is paid.
    case purchased
    /// A subscription is paid, or in the silent day after a declined charge.
    case active
    /// A charge was declined, and the subscription is still owned.
    case inGracePeriod
    /// A charge was declined, and the subscription is not owned until it is paid.
    case onHold
    /// The customer pauses the subscription, and does not own it.
    case paused
    /// A subscription is owned until its end, and does not renew.
    case canceled
    case expired
    /// A one-time product was paid, and is taken back.
    case voided
    /// A state that this version does not know. It grants nothing.
    case unknown

    /// True if the purchase cannot be owned again under this token.
    package var isFinal: Bool { [.paymentCanceled, .expired, .voided].contains(self) }
}

/// The statement of the Play Developer API about one purchase token at a moment: its answer, and what follows from it.
///
/// The answer of the API is not signed. The connection to Google Play says that it is Google's. It is a class, so that it is passed as
/// a pointer (swiftlang/swift#90477).
@dynamicMemberLookup
package final class GooglePlayStatement: Sendable {
    private let answer: GooglePlayAnswer
    package let origin: Origin
    /// The moment at which Google refunds the purchase unless it is acknowledged; nil if nothing is to be acknowledged.
    package let acknowledgeBy: Timestamp?
    /// The products that are or were owned. None while a payment is pending.
    package let purchases: [StatedPurchase]
    package let askedAt: Timestamp

    init(
        _ answer: GooglePlayAnswer, _ purchases: [StatedPurchase], acknowledgeBy: Timestamp?,
        _ moment: GooglePlayAnswer.Moment
    ) {
        self.answer = answer
        origin = Origin(googlePlay: moment.realm, isTest: answer.isTest)
        self.acknowledgeBy = acknowledgeBy
        self.purchases = purchases
        askedAt = moment.askedAt
    }

    package subscript<Value>(dynamicMember path: KeyPath<GooglePlayAnswer, Value>) -> Value { answer[keyPath: path] }

    /// True if another item of the answer has taken the place of a stated one.
    ///
    /// After a deferred replacement, the new purchase still has the old item, with its end in the past
    /// (developer.android.com/google/play/billing/subscriptions, "Handle deferred replacement").
    package func hasReplaced(_ purchase: ProvenPurchase) -> Bool { answer.hasReplaced(purchase) }

    /// The refusal of a purchase of which nothing is owned; nil if the payment was canceled, or if the state is unknown.
    package var refusal: ProofRefusal? {
        if answer.hasRentalOrPreorder { return ProofRefusal(.purchaseKindUnsupported) }
        return answer.state == .pending ? .tokenPending : nil
    }
}

/// A product of a purchase of Google Play, as the API states it.
package struct StatedPurchase: Sendable {
    package var purchase: ProvenPurchase
    /// The statement about the renewal; nil for a one-time product.
    package var renewal: StatedRenewal?
    package let isConsumed: Bool
    /// The units that are paid back, with or without their revocation. Only a one-time product has several units.
    package var refundedQuantity: Int

    /// The purchase with the units that are not paid back. If all are, their revocation alone decides: without it, Google Play leaves the
    /// purchase to the customer.
    package var remaining: StatedPurchase {
        guard (1..<purchase.quantity).contains(refundedQuantity) else { return self }
        var stated = self
        stated.purchase = purchase.with(quantity: purchase.quantity - refundedQuantity)
        return stated
    }
}

/// The dates of a period of a subscription that are known from its order.
package struct GooglePlayPeriod: Hashable, Sendable {
    package let purchaseDate: Timestamp
    /// The end of the paid time; nil if it is unknown.
    package let expiresDate: Timestamp?

    package init(purchaseDate: Timestamp, expiresDate: Timestamp?) {
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
    }
}
