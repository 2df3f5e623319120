extension Store {
    /// The longest name of an account, in bytes of UTF-8.
    public static let maximumAccountLength = 256

    /// - Throws: `StoreError`, `accountInvalid`, for an empty name, a long one, or one with control characters.
    package static func check(account: String) throws(StoreError) {
        guard (1...maximumAccountLength).contains(account.utf8.count),
            !account.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .accountInvalid(account) }
    }
}
