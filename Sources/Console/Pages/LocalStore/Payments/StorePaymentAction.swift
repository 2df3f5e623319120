import Proofs

/// An action on a payment of the queue. The raw value is the last segment of its address.
enum StorePaymentAction: String, CaseIterable, Sendable {
    case approve
    case decline
    case resolve
    case finish

    var title: Phrase {
        switch self {
        case .approve: Phrase("Approve", "승인")
        case .decline: Phrase("Decline", "거절")
        case .resolve: Phrase("Resolve the issue", "문제 해결")
        case .finish: Phrase("Finish", "완료")
        }
    }

    var notice: Notice {
        switch self {
        case .approve: .approved
        case .decline: .declined
        case .resolve: .bought
        case .finish: .performed
        }
    }

    func isPossible(_ payment: PaymentTransaction, isInterrupted: Bool) -> Bool {
        switch self {
        case .approve, .decline: payment.state == .deferred
        case .resolve: isInterrupted
        case .finish: payment.state.isAwaitingFinish
        }
    }
}
