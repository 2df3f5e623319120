import Proofs

extension Password {
    /// - Parameter email: The address of the account; nil for an account without one.
    package init(_ text: String, of email: EmailAddress?) throws(PasswordError) {
        let names = email.map { [$0.lowercase, String($0.lowercase.prefix { $0 != "@" })] }
        try self.init(text, unlike: names ?? [])
    }
}
