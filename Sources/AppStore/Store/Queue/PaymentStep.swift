import Proofs

/// A step of a payment through the queue.
package enum PaymentStep: Hashable, Sendable {
    /// Sells the product. The event takes the transaction to `purchased`.
    case sell(PaymentTransactionEvent)
    /// Changes the state without a sale.
    case change(PaymentTransactionEvent, SKErrorCode?)

    package static let approve = PaymentStep.sell(.approve)
    package static let decline = PaymentStep.change(.decline, .paymentCancelled)
    package static let finish = PaymentStep.change(.finish, nil)

    /// The step that takes a purchasing payment to an outcome.
    package init(_ outcome: PaymentOutcome) {
        switch outcome {
        case .purchased: self = .sell(.purchase)
        case .deferred: self = .change(.awaitApproval, nil)
        case .interrupted: self = .change(.fail, .unknown)
        case .failed(let error): self = .change(.fail, error)
        }
    }

    /// The event of the step.
    package var event: PaymentTransactionEvent {
        switch self {
        case .sell(let event), .change(let event, _): event
        }
    }

    /// The step instead of this one if the sale fails: a deferred payment is declined.
    package func afterFailedSale(_ error: SKErrorCode) -> PaymentStep {
        .change(event == .approve ? .decline : .fail, error)
    }
}

extension PaymentTransaction {
    /// The transaction after a step.
    ///
    /// - Parameter purchase: The purchase that the step sold.
    /// - Throws: `IllegalPaymentTransition` if StoreKit does not allow the event in this state.
    package func after(
        _ step: PaymentStep,
        selling purchase: Purchase? = nil
    ) throws(IllegalPaymentTransition) -> PaymentTransaction {
        let state = try state.after(step.event)
        var error = error
        if state == .failed, case .change(_, let reason) = step { error = reason }
        return PaymentTransaction(
            identifier: identifier, payment: payment, state: state, error: error, purchase: purchase ?? self.purchase)
    }
}
