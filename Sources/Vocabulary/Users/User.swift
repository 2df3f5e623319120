import Foundation
import Proofs

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

/// An id that an app gives its customer, such as a name of the app's own or an anonymous id.
///
/// Anybody with the app can present any id. So the ids are users of an issuer of their own, and never the users of a back end
/// or of tokens. A user's name is the id with the characters that names exclude in percent-encoding (RFC 3986 section 2.1), so
/// that each id has one name, and each name one id. Ids are compared by their bytes: the composed and the decomposed form of a
/// letter are two ids.
public struct CustomerIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in bytes of UTF-8.
    public static let maximumLength = 256
    private static let anonymousPrefix = "$RCAnonymousID:"
    private static let anonymousDigits = 32

    /// The id as the app states it.
    public let text: String
    public let user: User

    /// - Returns: Nil if the text is empty or longer than `maximumLength`.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        // The usual id is its own name.
        if text.utf8.allSatisfy(Self.isKept), text != ".", text != "..", let user = Self.user(text) {
            self.text = text
            self.user = user
            return
        }
        let sparse = Self.encoded(text) { scalar in
            if scalar.isASCII { return Self.isKept(UInt8(ascii: scalar)) }
            let text = String(scalar)
            return User(name: text).map { ByteKey($0.name) == ByteKey(text) } ?? false
        }
        // A name is in NFC. An id in another form has only ASCII in its name.
        let full = { Self.encoded(text) { $0.isASCII && Self.isKept(UInt8(ascii: $0)) } }
        guard let user = Self.user(sparse) ?? Self.user(full()) else { return nil }
        self.text = text
        self.user = user
    }

    /// - Returns: Nil for a user who is not a customer of an app, or whose name is not the encoding of an id.
    public init?(_ user: User) {
        guard ByteKey(user.issuer) == ByteKey(User.customerIssuer), let text = Self.decoded(user.name),
            let identifier = Self(text), identifier.user == user
        else { return nil }
        self = identifier
    }

    /// True if the app made the id for a customer who has not logged in. Such an id is random: only the device knows it.
    public var isAnonymous: Bool {
        guard text.hasPrefix(Self.anonymousPrefix) else { return false }
        let digits = text.utf8.dropFirst(Self.anonymousPrefix.utf8.count)
        return digits.count == Self.anonymousDigits
            && digits.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    public var description: String { text }

    public static func == (left: Self, right: Self) -> Bool { left.user == right.user }

    public func hash(into hasher: inout Hasher) { hasher.combine(user) }

    private static func isKept(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
    }

    /// The user of a name that is already in its final spelling.
    private static func user(_ name: String) -> User? {
        guard let user = User(issuer: User.customerIssuer, name: name), ByteKey(user.name) == ByteKey(name) else {
            return nil
        }
        return user
    }

    private static func encoded(_ text: String, keeping isKept: (Unicode.Scalar) -> Bool) -> String {
        // Proxies remove "." and "..".
        let isPathSegment = text == "." || text == ".."
        var name = ""
        for scalar in text.unicodeScalars {
            if isKept(scalar), !isPathSegment {
                name.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    name += byte < 0x10 ? "%0\(digits)" : "%\(digits)"
                }
            }
        }
        return name
    }

    private static func decoded(_ name: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension User {
    /// True for a customer of an app who has not logged in.
    public var isAnonymousCustomer: Bool { isProofCustomer || CustomerIdentifier(self)?.isAnonymous ?? false }
}
