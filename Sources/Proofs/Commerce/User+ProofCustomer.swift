extension User {
    /// The prefix is no percent-encoding, so the name is that of no `CustomerIdentifier`. No app can present it as an id.
    private static let proofCustomerPrefix = "%proof:"

    /// A customer to whom the app gives no id. Only the proofs of the customer's purchases identify the customer.
    ///
    /// - Parameter digits: The hexadecimal digits of a digest over the facts that identify the customer.
    /// - Returns: Nil if there are too many digits for a name.
    public init?(proofCustomer digits: String) {
        self.init(issuer: User.customerIssuer, name: Self.proofCustomerPrefix + digits)
    }

    /// True for a customer whom only proofs identify. The holder of such a proof acts as the customer.
    public var isProofCustomer: Bool {
        ByteKey(issuer) == ByteKey(User.customerIssuer) && name.utf8.starts(with: Self.proofCustomerPrefix.utf8)
    }
}
