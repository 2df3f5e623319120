import Foundation

/// The names that stand for no user, such as "null" and "guest".
///
/// Apps send them by mistake: each device then has the same name, and would get what the others have bought. So they are no
/// identity: the ledger writes nothing for a user with such a name. The same applies to the account tokens that every device
/// shares.
public struct BlockedNames: Hashable, Sendable {
    /// The names that are always blocked.
    public static let standard = BlockedNames()
    /// In lower case and without the marks around them. The empty name stands for "[]" and "{}", too.
    private static let alwaysBlocked = [
        "", "-1", "anonymous", "guest", "n/a", "nan", "nil", "no_user", "none", "null", "object object", "undefined",
        "unidentified", "unknown",
    ]
    /// The marks that surround a name in some languages: `(null)`, `<null>`, `"null"`, `[object Object]`.
    package static let marks = "()<>[]{}\"'`"
    /// The prefix of a UUID as a name (RFC 9562 section 4).
    package static let uuidPrefix = "urn:uuid:"
    /// The maximum length of a blocked name, in bytes of UTF-8.
    public static let maximumLength = CustomerIdentifier.maximumLength

    private let names: Set<ByteKey>

    /// - Parameter names: Further names that stand for no user.
    public init(adding names: [String] = []) {
        self.names = Set((Self.alwaysBlocked + names.map(Self.normalized)).map { ByteKey($0) })
    }

    /// True if a name stands for no user: a blocked name in any case, or only zeros, in both cases with spaces and marks around
    /// it.
    public func contains(_ name: String) -> Bool {
        guard name.utf8.count <= Self.maximumLength else { return false }
        let normalized = Self.normalized(name)
        return names.contains(ByteKey(normalized)) || Self.isZero(normalized)
    }

    /// True for a user whose name, or whose id in an app, stands for no user. The names of accounts are the service's own.
    public func contains(_ user: User) -> Bool {
        switch ByteKey(user.issuer) {
        case ByteKey(User.accountIssuer), ByteKey(User.erasedIssuer): false
        case ByteKey(User.customerIssuer): contains(CustomerIdentifier(user)?.text ?? user.name)
        default: contains(user.name)
        }
    }

    /// The blocked names without spaces, in the order of their bytes.
    package var withoutSpaces: [String] {
        Set(names.map { ByteKey($0.text.replacing(" ", with: "")) }).sorted().map(\.text)
    }

    private static func normalized(_ name: String) -> String {
        var scalars = name.unicodeScalars.drop(while: isIgnored)
        while let last = scalars.last, isIgnored(last) { scalars = scalars.dropLast() }
        return String(Substring(scalars)).lowercased()
    }

    /// True for a space, a control character or a mark.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
            || marks.unicodeScalars.contains(scalar)
    }

    /// True for "0", "0000" and the spellings of the nil UUID.
    private static func isZero(_ name: String) -> Bool {
        let digits =
            name.utf8.starts(with: uuidPrefix.utf8) ? name.utf8.dropFirst(uuidPrefix.utf8.count) : name.utf8[...]
        return digits.contains(UInt8(ascii: "0"))
            && digits.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "-") }
    }
}

extension UUID {
    /// True for the nil and the max UUID (RFC 9562 sections 5.9 and 5.10), which programs send for a missing one.
    public var isPlaceholder: Bool {
        withUnsafeBytes(of: uuid) { bytes in
            bytes.allSatisfy { $0 == 0 } || bytes.allSatisfy { $0 == 0xFF }
        }
    }
}
