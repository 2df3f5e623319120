/// An event that StoreKit does not allow in a transaction's state.
public struct IllegalPaymentTransition: CodedError, RuledError, Equatable {
    public let state: PaymentTransactionState
    public let event: PaymentTransactionEvent

    public init(state: PaymentTransactionState, event: PaymentTransactionEvent) {
        self.state = state
        self.event = event
    }

    public var code: String { rule.code }
    public var message: String { rule.sentence }

    package var rule: ErrorRule {
        ErrorRule("illegalTransition", .conflict, sentence, korean: "거래의 지금 상태에서는 할 수 없는 작업입니다.")
    }

    private var sentence: String {
        switch event {
        case .approve, .decline:
            "Only a deferred transaction can be \(event.rawValue)d. This transaction is \(state.rawValue)."
        case .finish where state == .finished: "The transaction is already finished."
        default: "The state \(state.rawValue) of the transaction does not allow the event \(event.rawValue)."
        }
    }
}
