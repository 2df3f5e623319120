import Features
import Proofs

extension SpendingResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ spent: SpentBalance, naming keys: [String: String]) {
        let spending = spent.spending
        self.init(
            spendingId: spending.identifier, balance: spending.balance, amount: spending.amount, left: spent.left,
            reason: spending.reason, spentBy: spending.spentBy, spentByName: keys[spending.spentBy],
            spentAt: spending.spentAt.rfc3339)
    }
}
