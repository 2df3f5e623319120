/// Where a transaction stands in the payment queue (SKPaymentTransactionState, and `finished`, which StoreKit shows as
/// removal from the queue).
public enum PaymentTransactionState: String, Sendable, Codable, CaseIterable {
    case purchasing
    case deferred
    case purchased
    case failed
    case restored
    case finished

    /// The state that follows an event.
    ///
    /// - Throws: `IllegalPaymentTransition` for an event that StoreKit does not allow in this state, such as finishing a
    ///   transaction that is still purchasing.
    public func after(_ event: PaymentTransactionEvent) throws(IllegalPaymentTransition) -> PaymentTransactionState {
        switch (self, event) {
        case (.purchasing, .purchase), (.deferred, .approve): .purchased
        case (.purchasing, .fail), (.deferred, .decline): .failed
        case (.purchasing, .awaitApproval): .deferred
        case (.purchased, .finish), (.failed, .finish), (.restored, .finish): .finished
        default: throw IllegalPaymentTransition(state: self, event: event)
        }
    }

    /// Whether the app is shown the transaction and has to finish it.
    public var isAwaitingFinish: Bool {
        switch self {
        case .purchased, .failed, .restored: true
        case .purchasing, .deferred, .finished: false
        }
    }
}
