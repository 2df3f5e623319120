import PlayStore
import Proofs

/// A purchase at the local Google Play as its page shows it: of a one-time product, or a subscription.
struct PlayPurchase {
    /// An action by its name in the address, and its button.
    typealias Action = (name: String, title: Phrase)

    private static let complete: Action = ("complete", "Complete the payment")
    private static let cancel: Action = ("cancel", "Cancel")
    private static let refund: Action = ("refund", "Refund")
    private static let redeem: Action = ("redeem", "Redeem")
    private static let decline: Action = ("declinePayments", "Let payments fail")
    private static let accept: Action = ("acceptPayments", "Let payments succeed")

    let number: Int64
    let account: String
    let product: String
    let quantity: Int
    let price: Price
    let boughtAt: Timestamp
    /// The end of the paid time; nil for a one-time product.
    let until: Timestamp?
    let order: String?
    let isAcknowledged: Bool
    /// The moment at which the purchase is refunded unless it is acknowledged.
    let deadline: Timestamp?
    let state: Shown.Word
    /// The actions of the customer, the bank and Google that are possible now.
    let actions: [Action]

    init(_ purchase: OneTimePurchase) {
        (number, account, product) = (purchase.number, purchase.account, purchase.terms.productId)
        (quantity, price) = (purchase.quantity, purchase.terms.price.price)
        (boughtAt, until, order) = (purchase.purchaseTime, nil, purchase.orderId)
        (isAcknowledged, deadline) = (purchase.isAcknowledged, purchase.acknowledgementDeadline)
        switch purchase.state {
        case .pending: (state, actions) = (("payment pending", .warning), [Self.complete, Self.cancel])
        case .canceled where purchase.refundedQuantity > 0: (state, actions) = (("refunded", .bad), [])
        case .canceled: (state, actions) = (("canceled", .neutral), [])
        case .purchased where purchase.refundableQuantity == 0: (state, actions) = (("refunded", .bad), [])
        case .purchased:
            state = purchase.isConsumed ? ("consumed", .neutral) : ("owned", .good)
            actions = [Self.redeem, Self.refund]
        }
    }

    init(_ purchase: RecurringPurchase) {
        (number, account, product) = (purchase.number, purchase.account, purchase.terms.productId)
        (quantity, price) = (1, purchase.terms.price.price)
        (boughtAt, until) = (purchase.periods.first?.start ?? purchase.expiryTime, purchase.expiryTime)
        (order, isAcknowledged) = (purchase.periods.last?.orderId, purchase.isAcknowledged)
        deadline = purchase.acknowledgementDeadline
        let decline = purchase.declines ? Self.accept : Self.decline
        let taken = [Self.refund, ("chargeback", "Charge back")]
        let consent: [Action] =
            purchase.priceChange?.state == .outstanding ? [("acceptPrice", "Consent to the higher price")] : []
        switch purchase.state {
        case .pending: (state, actions) = (("payment pending", .warning), [Self.complete, Self.cancel])
        case .active:
            (state, actions) = (("active", .good), consent + [Self.cancel, decline, ("pause", "Pause")] + taken)
        case .inGracePeriod: (state, actions) = (("grace period", .warning), [Self.cancel, decline] + taken)
        case .onHold: (state, actions) = (("on hold", .warning), [Self.cancel, decline] + taken)
        case .paused: (state, actions) = (("paused", .warning), [("resume", "Resume")])
        case .canceled: (state, actions) = (("canceled", .neutral), [("restore", "Restore")] + taken)
        case .expired: (state, actions) = (("expired", .neutral), [("resubscribe", "Subscribe again")])
        case .pendingPurchaseCanceled: (state, actions) = (("canceled", .neutral), [])
        }
    }
}
