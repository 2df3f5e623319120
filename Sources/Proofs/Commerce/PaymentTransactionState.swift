/// The state of a transaction in the payment queue (SKPaymentTransactionState). StoreKit shows `finished` as removal
/// from the queue.
public enum PaymentTransactionState: String, Sendable, Codable, CaseIterable {
    case purchasing
    case deferred
    case purchased
    case failed
    case restored
    case finished

    /// Returns the state after an event.
    ///
    /// - Throws: `IllegalPaymentTransition` if StoreKit does not allow the event in this state, such as finishing a
    ///   transaction in the state `purchasing`.
    public func after(_ event: PaymentTransactionEvent) throws(IllegalPaymentTransition) -> PaymentTransactionState {
        switch (self, event) {
        case (.purchasing, .purchase), (.deferred, .approve): .purchased
        case (.purchasing, .fail), (.deferred, .decline): .failed
        case (.purchasing, .awaitApproval): .deferred
        case (.purchased, .finish), (.failed, .finish), (.restored, .finish): .finished
        default: throw IllegalPaymentTransition(state: self, event: event)
        }
    }

    /// True if the app sees the transaction and must finish it.
    public var isAwaitingFinish: Bool {
        switch self {
        case .purchased, .failed, .restored: true
        case .purchasing, .deferred, .finished: false
        }
    }
}
