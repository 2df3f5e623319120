import Commerce
import Wire

extension BalanceResource {
    init(_ credit: Credit) {
        self.init(balance: credit.balance, amount: credit.amount)
    }
}
