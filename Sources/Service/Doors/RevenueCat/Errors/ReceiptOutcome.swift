import Proofs

/// The outcome of a receipt request whose proofs are authentic.
///
/// A proof may contain many transactions, and the service may refuse some of them. With the status 200, the SDK finishes
/// the transaction for which it has sent the proof. The App Store never delivers a finished consumable again.
package struct ReceiptOutcome: Sendable {
    /// The results for the transactions of all proofs.
    package var lines: [Redemption.Line] = []
    package var productIdentifier: String?
    package var transactionIdentifier: String?
    /// True if the lines are of one purchase, which the SDK finishes as a whole.
    package var isOnePurchase = false
    /// The types of products by the catalog, or else by the proofs.
    package var types: [ByteKey: ProductType] = [:]

    package init() {}

    /// The answer instead of customer info; nil if the SDK may finish its transaction.
    package var problem: RevenueCatProblem? {
        guard isOnePurchase || productIdentifier != nil || transactionIdentifier != nil else {
            // A restore. The next one delivers each purchase again, except consumables.
            return lines.lazy.filter { !types.canReturn($0.productId) }.compactMap { retry(of: $0) }.first
        }
        let sent = sentLines
        if sent.isEmpty {
            if let productIdentifier, types.canReturn(productIdentifier) { return nil }
            return RevenueCatProblem(
                number: .productMissingInReceipt,
                message: "The proof does not have the purchase yet. Send a new proof.")
        }
        if let retry = sent.lazy.compactMap({ retry(of: $0) }).first { return retry }
        return finalRefusal.map { problem(of: $0, status: 409) }
    }

    /// The transaction that the SDK has sent, if its refusal is final.
    var finalRefusal: Redemption.Line? {
        let sent = sentLines
        guard !sent.contains(where: { $0.mayFinish || retry(of: $0) != nil }) else { return nil }
        return sent.first
    }

    /// - Parameter status: The status of a refusal that is final; by default, the SDK sends the transaction again.
    func problem(of line: Redemption.Line, status: Int = RevenueCatProblem.statusForRetry) -> RevenueCatProblem {
        RevenueCatProblem(
            status: status, number: RevenueCatErrorRule(code: line.result.rawValue).number,
            message: "The transaction \"\(line.transactionId)\" is refused: \(line.result.rawValue).")
    }

    /// The lines of the transaction for which the SDK has sent the proof, or of its product.
    private var sentLines: [Redemption.Line] {
        if isOnePurchase { return lines }
        if let transactionIdentifier {
            let sent = lines.filter { $0.transactionId.hasSameBytes(as: transactionIdentifier) }
            if !sent.isEmpty { return sent }
        }
        guard let productIdentifier else { return [] }
        return lines.filter { $0.productId.hasSameBytes(as: productIdentifier) }
    }

    /// The problem of a refusal that may end; nil for another result.
    private func retry(of line: Redemption.Line) -> RevenueCatProblem? {
        line.mayFinish || RevenueCatErrorRule.isPermanent(line.result.rawValue) ? nil : problem(of: line)
    }
}
