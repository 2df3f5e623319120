import Proofs

extension Redemption {
    /// The redemption of a ledger's answer to claims.
    ///
    /// - Parameter free: The items that everybody owns.
    /// - Throws: `RedemptionError` if no claim is the user's.
    init(of claims: [Claim], _ answer: LedgerAnswer, owningBesides free: [Item]) throws(RedemptionError) {
        let lines = Self.lines(of: claims, answer)
        guard lines.isEmpty || answer.results.contains(where: \.allowsFinish) else {
            throw .purchaseRefused(Result.refusals.first(where: answer.results.contains) ?? .productUnknown)
        }
        self.init(
            outcome: Self.outcome(of: answer.results), transactions: lines, items: answer.items.merged(with: free))
    }

    static func lines(of claims: [Claim], _ answer: LedgerAnswer) -> [Line] {
        zip(claims, answer.results).map { claim, result in
            Line(
                transactionId: claim.origin.statedIdentifier(claim.transactionIdentifier),
                productId: claim.productIdentifier, result: result)
        }
    }

    private static func outcome(of results: [Result]) -> Outcome {
        if results.isEmpty { return .nothingToRedeem }
        if results.contains(.granted) { return .granted }
        if results.contains(.revoked) { return .revoked }
        return results.allSatisfy(\.allowsFinish) ? .unchanged : .partlyRefused
    }
}

extension [Item] {
    /// The items of both, each once, in order.
    func merged(with others: [Item]) -> [Item] {
        (self + others.filter { !contains($0) }).sorted()
    }
}
