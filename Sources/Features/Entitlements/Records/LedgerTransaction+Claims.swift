import Ledger
import Proofs

extension LedgerTransaction {
    /// Decides requests in their order, each after the changes of those before it, and writes the changes.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The answers in the order of the requests.
    package func decide(
        _ requests: [ClaimRequest],
        under policy: OwnershipPolicy,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp,
        type: (String) -> ProductType? = { _ in nil }
    ) throws -> [ClaimAnswer] {
        try ClaimGroup(transaction: self, policy: policy, accepted: accepted, moment: moment)
            .answer(requests, type: type)
    }
}
