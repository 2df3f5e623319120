import Foundation

/// Somebody who owns items, by the name that whoever knows them gives them.
public struct User: Hashable, Sendable, CustomStringConvertible {
    /// The issuer of those who have an account with the service itself.
    public static let accountIssuer = "till"
    /// The issuer of the names that erased users have.
    public static let erasedIssuer = "erased"
    /// The longest name, in bytes of UTF-8.
    public static let maximumLength = 128

    /// Who gives the name: an issuer of tokens (the `iss` of a JWT), or empty for the team's own back end. The same name
    /// from another issuer is somebody else.
    public let issuer: String
    /// In Unicode's composed form (NFC), so that one name has one spelling wherever it was typed.
    public let name: String

    /// The longest issuer, in bytes of UTF-8.
    public static let maximumIssuerLength = 256

    /// - Returns: nil when the name is empty, longer than `maximumLength`, or holds a space or control character, which
    ///   nobody could tell apart from another name in a log; or when the issuer is too long or holds a control character.
    public init?(issuer: String = "", name: String) {
        guard issuer.utf8.count <= Self.maximumIssuerLength,
            issuer.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        // The length first: composing takes its time on what is too long anyway.
        guard (1...4 * Self.maximumLength).contains(name.utf8.count) else { return nil }
        if name.utf8.count <= Self.maximumLength, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            self.issuer = issuer
            self.name = name
            return
        }
        let name = name.precomposedStringWithCanonicalMapping
        guard name.utf8.count <= Self.maximumLength else { return nil }
        let isPrintable = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: false
            // What is left of bytes that were no text: one name for many.
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
