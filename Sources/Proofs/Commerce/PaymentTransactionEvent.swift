/// An event of a transaction in the payment queue.
public enum PaymentTransactionEvent: String, Sendable, CaseIterable {
    /// The customer paid.
    case purchase
    /// The payment failed with an `SKErrorCode`.
    case fail
    /// The payment awaits approval (Ask to Buy).
    case awaitApproval
    case approve
    case decline
    /// The app has handled the transaction (`finishTransaction`).
    case finish
}
