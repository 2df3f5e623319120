import Proofs

/// The steps of a purchase in the app, in order. Its process can die after each.
package enum DeviceStep: Hashable, Sendable {
    /// The payment is in the queue.
    case paymentAdded(PaymentTransaction)
    /// The queue showed the transaction in a new state.
    case updated(PaymentTransaction)
    /// The app has read the proof and not sent it yet.
    case proofObtained(PaymentTransaction)
    /// The service answered, and the transaction is not finished yet.
    case redeemed(PaymentTransaction, Redemption)
    /// The service refused the proof. The transaction stays in the queue.
    case refused(PaymentTransaction, ServiceRefusal)
    /// The transaction is out of the queue.
    case finished(PaymentTransaction)

    package var transaction: PaymentTransaction {
        switch self {
        case .paymentAdded(let transaction), .updated(let transaction), .proofObtained(let transaction),
            .redeemed(let transaction, _), .refused(let transaction, _), .finished(let transaction):
            transaction
        }
    }

    /// The name of the step, for the option of a command.
    package var name: String {
        switch self {
        case .paymentAdded: "paymentAdded"
        case .updated(let transaction): transaction.state.rawValue
        case .proofObtained: "proofObtained"
        case .redeemed: "redeemed"
        case .refused: "refused"
        case .finished: "finished"
        }
    }
}
