extension Store {
    /// The maximum length of an account's name, in bytes of UTF-8.
    package static let maximumAccountLength = 256

    /// - Throws: `StoreError`, `accountInvalid`, for a name that is empty, too long or has control characters.
    package static func check(account: String) throws(StoreError) {
        guard (1...maximumAccountLength).contains(account.utf8.count),
            !account.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .accountInvalid(account) }
    }
}
