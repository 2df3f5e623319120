import Commerce
import Entitlements
import Wire

extension SpendingResource {
    init(_ spent: SpentBalance) {
        let spending = spent.spending
        self.init(
            spendingId: spending.identifier, balance: spending.balance, amount: spending.amount, left: spent.left,
            reason: spending.reason, spentBy: spending.spentBy, spentAt: spending.spentAt.rfc3339)
    }
}
