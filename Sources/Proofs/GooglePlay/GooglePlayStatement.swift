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
    private let moment: GooglePlayAnswer.Moment
    package let origin: Origin
    /// The moment at which Google refunds the purchase unless it is acknowledged; nil if nothing is to be acknowledged.
    package let acknowledgeBy: Timestamp?
    /// The products that are or were owned. None while a payment is pending.
    package let purchases: [StatedPurchase]
    /// The lines whose other charges end with the statement.
    package let endedLines: [EndedLine]
    /// The lines of the chain after the statement.
    package let lines: GooglePlayLines
    package let askedAt: Timestamp

    init(
        _ answer: GooglePlayAnswer, _ purchases: [StatedPurchase], ending endedLines: [EndedLine],
        _ lines: GooglePlayLines, acknowledgeBy: Timestamp?, _ moment: GooglePlayAnswer.Moment
    ) {
        (self.answer, self.moment, self.endedLines, self.lines) = (answer, moment, endedLines, lines)
        origin = Origin(googlePlay: moment.realm, isTest: answer.isTest)
        self.acknowledgeBy = acknowledgeBy
        self.purchases = purchases
        askedAt = moment.askedAt
    }

    /// A line of which no charge is owned any more.
    package struct EndedLine: Sendable {
        /// The original transaction.
        package let original: String
        /// The last charge.
        package let charge: String
        /// True if the last charge is among the stated purchases.
        package let isStated: Bool
        package let endsAt: Timestamp
        /// The date of the refund with which the last charge was taken back; nil without one.
        package var revokedAt: Timestamp?
        /// The facts of the last charge.
        package var facts = TransactionFacts()
        /// The statement about the renewal; nil if the last charge has it.
        package var renewal: StatedRenewal?
    }

    /// The same answer in the lines of the ledger.
    ///
    /// - Parameters:
    ///   - originalToken: The first token of the chain.
    ///   - number: The number of the question.
    ///   - isNewToken: True if the ledger does not have a purchase of the token yet.
    package func placed(
        in lines: GooglePlayLines, of originalToken: String, number: Int64, isNewToken: Bool
    ) -> GooglePlayStatement {
        answer.statement(
            .init(
                realm: moment.realm, askedAt: moment.askedAt, named: moment.names, originalToken: originalToken,
                orders: moment.orders, lines: lines, number: number, isNewToken: isNewToken, rentals: moment.rentals))
    }

    package subscript<Value>(dynamicMember path: KeyPath<GooglePlayAnswer, Value>) -> Value { answer[keyPath: path] }

    /// True if another back end has delivered the purchase: it is consumed, and was bought before a moment.
    ///
    /// The order is "Give content to the user", then "consume the purchase" (developer.android.com/google/play/billing/integrate,
    /// "Life of a purchase"). The consumption of a rental only begins its time.
    package func isDelivered(before moment: Timestamp) -> Bool {
        answer.state == .purchased
            && purchases.contains {
                $0.isConsumed && $0.purchase.facts.bool(.isRental) != true && $0.purchase.purchaseDate < moment
            }
    }

    /// The refusal of a purchase of which nothing is owned; nil if the payment was canceled, or if the state is unknown.
    package var refusal: ProofRefusal? {
        switch answer.state {
        case .pending: answer.preorderReleaseTime.map { .preorder(until: $0) } ?? .tokenPending
        // Nobody states the end of a rental.
        case .purchased where answer.hasRental && purchases.isEmpty: ProofRefusal(.purchaseKindUnsupported)
        default: nil
        }
    }
}

/// A product of a purchase of Google Play, as the API states it.
package struct StatedPurchase: Sendable {
    package var purchase: ProvenPurchase
    /// The original transaction of another purchase under the token, whose owner has this one, too, unless somebody else owns it; nil if
    /// there is none.
    package var chain: String?
    /// The statement about the renewal; nil for a one-time product.
    package var renewal: StatedRenewal?
    package let isConsumed: Bool
    /// The units that are paid back, with or without their revocation. Only a one-time product has several units.
    package var refundedQuantity: Int
    /// True if another purchase has replaced this one, and the statement does not have the end of its paid time. One that is known stays.
    package var keepsEnd = false

    /// The purchase with the units that are not paid back. If all are, their revocation alone decides: without it, Google Play leaves the
    /// purchase to the customer.
    package var remaining: StatedPurchase {
        guard (1..<purchase.quantity).contains(refundedQuantity) else { return self }
        var stated = self
        stated.purchase = purchase.with(quantity: purchase.quantity - refundedQuantity)
        return stated
    }
}

/// The known dates of a period of a subscription.
struct GooglePlayPeriod {
    let purchaseDate: Timestamp
    /// The end of the paid time; nil if it is unknown.
    let expiresDate: Timestamp?
}
