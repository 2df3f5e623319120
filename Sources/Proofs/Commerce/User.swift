import Foundation

/// A user, identified by an issuer and a name.
public struct User: Hashable, Sendable, CustomStringConvertible {
    /// The issuer of users with an account at the service itself.
    public static let accountIssuer = "till"
    /// The issuer of erased users' pseudonyms.
    public static let erasedIssuer = "erased"
    /// The issuer of the ids that apps give their customers.
    public static let customerIssuer = "customer"
    /// The issuers that the service itself gives: those of back ends, accounts, erased users and apps' customers.
    private static let reservedIssuers = ["", accountIssuer, erasedIssuer, customerIssuer]
    /// The maximum length of a name, in bytes of UTF-8, except for the customers of apps.
    public static let maximumLength = 128
    /// The maximum length of the name of an app's customer, in bytes: of the longest id with each byte in percent-encoding.
    public static let maximumCustomerLength = 3 * CustomerIdentifier.maximumLength

    /// Returns true if tokens may name users of an issuer: the service does not give it itself, and it has no whitespace, by which
    /// it could look like another.
    public static func isForTokens(issuer: String) -> Bool {
        let isReserved = reservedIssuers.contains { ByteKey($0) == ByteKey(issuer.lowercased()) }
        return !isReserved && issuer.utf8.count <= maximumIssuerLength
            && issuer.unicodeScalars.allSatisfy(isVisible)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: false
        default: true
        }
    }

    /// The issuer of the name: an issuer of tokens (the `iss` of a JWT), or empty for the team's own back end. The same
    /// name from another issuer is another user.
    public let issuer: String
    /// The name in Unicode's composed form (NFC), so that each name has one spelling.
    public let name: String

    /// The maximum length of an issuer, in bytes of UTF-8.
    public static let maximumIssuerLength = 256

    /// - Returns: Nil if the name is empty, longer than the maximum of its issuer, or contains a space or control character. Logs
    ///   could not distinguish such names. Nil also if the issuer is too long or contains a control character.
    public init?(issuer: String = "", name: String) {
        guard issuer.utf8.count <= Self.maximumIssuerLength,
            issuer.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        let isCustomer = ByteKey(issuer) == ByteKey(Self.customerIssuer)
        let maximumLength = isCustomer ? Self.maximumCustomerLength : Self.maximumLength
        // The length is checked first, because composing a very long name takes long.
        guard (1...4 * maximumLength).contains(name.utf8.count) else { return nil }
        if name.utf8.count <= maximumLength, name.isVisibleASCII {
            self.issuer = issuer
            self.name = name
            return
        }
        let name = name.precomposedStringWithCanonicalMapping
        guard name.utf8.count <= maximumLength else { return nil }
        // U+FFFD replaces invalid bytes, which would merge different names.
        guard name.unicodeScalars.allSatisfy({ Self.isVisible($0) && $0 != "\u{FFFD}" }) else { return nil }
        self.issuer = issuer
        self.name = name
    }

    public var description: String { name }

    public static func == (left: User, right: User) -> Bool {
        ByteKey(left.name) == ByteKey(right.name) && ByteKey(left.issuer) == ByteKey(right.issuer)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ByteKey(issuer))
        hasher.combine(ByteKey(name))
    }
}

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
