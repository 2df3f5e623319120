import Proofs

extension BalanceResource {
    init(_ credit: Credit) {
        self.init(balance: credit.balance, amount: credit.amount)
    }
}
