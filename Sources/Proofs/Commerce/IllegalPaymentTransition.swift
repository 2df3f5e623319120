/// An event that StoreKit does not allow in a transaction's state.
public struct IllegalPaymentTransition: CodedError, Equatable {
    public let state: PaymentTransactionState
    public let event: PaymentTransactionEvent

    public init(state: PaymentTransactionState, event: PaymentTransactionEvent) {
        self.state = state
        self.event = event
    }

    public var code: String { "illegalTransition" }

    public var message: String {
        switch event {
        case .approve, .decline:
            "Only a deferred transaction can be \(event.rawValue)d. This transaction is \(state.rawValue)."
        case .finish where state == .finished: "The transaction is already finished."
        default: "The state \(state.rawValue) of the transaction does not allow the event \(event.rawValue)."
        }
    }
}
