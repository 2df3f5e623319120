import Commerce

/// The steps of a purchase as the app lives through them, in order: the places where its process can die.
public enum DeviceStep: Hashable, Sendable {
    /// The payment is in the queue.
    case paymentAdded(PaymentTransaction)
    /// The queue showed the transaction in a new state.
    case updated(PaymentTransaction)
    /// The proof was read, and not handed in yet.
    case proofObtained(PaymentTransaction)
    /// The service answered, and the transaction is not finished yet.
    case redeemed(PaymentTransaction, Redemption)
    /// The service said no; the transaction stays in the queue.
    case refused(PaymentTransaction, ServiceRefusal)
    /// The transaction is out of the queue.
    case finished(PaymentTransaction)

    public var transaction: PaymentTransaction {
        switch self {
        case .paymentAdded(let transaction), .updated(let transaction), .proofObtained(let transaction),
            .redeemed(let transaction, _), .refused(let transaction, _), .finished(let transaction):
            transaction
        }
    }

    /// The step's name, by which somebody can ask for it.
    public var name: String {
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
