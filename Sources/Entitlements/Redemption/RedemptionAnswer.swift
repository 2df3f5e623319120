import Ledger
import Proofs

/// The answer to a request to redeem a proof.
package enum RedemptionAnswer: Sendable {
    case decided(DecidedRedemption)
    /// The answer to an earlier request under the same idempotency key. Nothing was changed.
    case kept(KeptAnswer)

    /// The decision about a request without an idempotency key.
    ///
    /// - Throws: `UnrequestedAnswer` for a kept answer, which only a request with a key gets.
    package var decision: DecidedRedemption {
        get throws {
            guard case .decided(let decided) = self else { throw UnrequestedAnswer() }
            return decided
        }
    }

    /// The fault of an answer that was kept under no key of the request.
    package struct UnrequestedAnswer: Error {}
}

/// The decision about the purchases of a proof.
package struct DecidedRedemption: Sendable {
    /// The results for the purchases, in the proof's order.
    package let lines: [Redemption.Line]
    /// The items of the user, with those that everybody owns; empty if the request is for none.
    package let items: [Item]

    /// - Parameter free: The items that everybody owns.
    init(of claims: [Claim], _ answer: LedgerAnswer, owningBesides free: [Item]) {
        lines = zip(claims, answer.results).map { claim, result in
            Redemption.Line(
                transactionId: claim.origin.statedIdentifier(claim.transactionIdentifier),
                productId: claim.productIdentifier, result: result)
        }
        items = answer.items.merged(with: free)
    }

    /// The result for the whole proof.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package var outcome: Redemption.Outcome {
        get throws(RedemptionError) {
            let results = lines.map(\.result)
            if results.isEmpty { return .nothingToRedeem }
            guard results.contains(where: \.allowsFinish) else {
                throw .purchaseRefused(Redemption.Result.refusals.first(where: results.contains) ?? .productUnknown)
            }
            if results.contains(.granted) { return .granted }
            if results.contains(.revoked) { return .revoked }
            return results.allSatisfy(\.allowsFinish) ? .unchanged : .partlyRefused
        }
    }

    /// The decision in its JSON form.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package var redemption: Redemption {
        get throws(RedemptionError) { Redemption(outcome: try outcome, transactions: lines, items: items) }
    }
}
