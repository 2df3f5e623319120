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
            && issuer.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: false
                default: true
                }
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
        if name.utf8.count <= maximumLength, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            self.issuer = issuer
            self.name = name
            return
        }
        let name = name.precomposedStringWithCanonicalMapping
        guard name.utf8.count <= maximumLength else { return nil }
        let isPrintable = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: false
            // The replacement of invalid bytes, which would merge different names.
            default: scalar != "\u{FFFD}"
            }
        }
        guard isPrintable else { return nil }
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
