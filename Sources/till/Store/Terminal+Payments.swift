import Proofs

extension Terminal {
    /// Prints the commands that end a deferred payment.
    func deferred(_ transaction: PaymentTransaction, common: CommonOptions) {
        let number = String(transaction.identifier)
        line(
            "It waits for approval: \(common.hint("store", "approve", number)), or "
                + common.hint("store", "decline", number))
    }

    /// Ends the command of a payment that failed, with the reason.
    func endIfFailed(_ transaction: PaymentTransaction, isInterrupted: Bool, common: CommonOptions) throws {
        guard let error = transaction.error else { return }
        try end(Self.failure(error, of: transaction, isInterrupted: isInterrupted, common: common))
    }

    static func failure(
        _ error: SKErrorCode,
        of transaction: PaymentTransaction,
        isInterrupted: Bool,
        common: CommonOptions
    ) -> String {
        isInterrupted
            ? "The purchase was interrupted, and nothing was charged. Complete it: "
                + common.hint("store", "resolve", String(transaction.identifier))
            : "The payment failed with \(error.name); nothing was charged."
    }
}
