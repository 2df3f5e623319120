import Commerce

extension Store {
    /// All that an account was ever sold, in the order in which it was.
    public func history(of account: String) throws(StoreError) -> [Transaction] {
        try read { try $0.transactions.transactions(of: account) }
    }
}
