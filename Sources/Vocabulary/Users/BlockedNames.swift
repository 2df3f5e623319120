import Foundation
import Proofs

/// The names that stand for no user, such as "null" and "guest".
///
/// Apps send them by mistake: each device then has the same name, and would get what the others have bought. So they are no
/// identity: the ledger writes nothing for a user with such a name. The same applies to the account tokens that every device
/// shares.
public struct BlockedNames: Hashable, Sendable {
    /// The names that are always blocked.
    public static let standard = BlockedNames()
    /// In the form of `folded`. The empty name stands for "[]" and "{}", too.
    private static let alwaysBlocked = [
        "", "-1", "anonymous", "guest", "n/a", "nan", "nil", "no_user", "none", "null", "object null", "object object",
        "object undefined", "undefined", "unidentified", "unknown",
    ]
    /// The prefixes that languages and formats put before a value: `Optional("null")`, `urn:uuid:` (RFC 9562 section 4).
    private static let prefixes = ["optional(", "urn:", "uuid:"]
    /// The maximum length of a blocked name, in bytes of UTF-8.
    public static let maximumLength = CustomerIdentifier.maximumLength
    private static let digitsOfUUID = 32

    private let names: Set<ByteKey>
    /// The length of the longest of them, in bytes.
    private let longest: Int

    /// - Parameter names: Further names that stand for no user.
    public init(adding names: [String] = []) {
        self.names = Set((Self.alwaysBlocked + names.map(Self.folded)).map { ByteKey($0) })
        longest = self.names.map(\.text.utf8.count).max() ?? 0
    }

    /// True if a name stands for no user: a blocked name or only zeros, in any of their spellings (`folded`).
    public func contains(_ name: String) -> Bool {
        guard name.utf8.count <= Self.maximumLength else { return false }
        if Self.isPlain(name) { return name.utf8.count <= longest && names.contains(ByteKey(name.lowercased())) }
        let folded = Self.folded(name)
        return names.contains(ByteKey(folded)) || Self.isZero(folded) || Self.isBlank(name)
    }

    /// True for a user whose name, or whose id in an app, stands for no user. The names of accounts are the service's own.
    public func contains(_ user: User) -> Bool {
        switch ByteKey(user.issuer) {
        case ByteKey(User.accountIssuer), ByteKey(User.erasedIssuer): false
        // Without a percent sign, the name is the id.
        case ByteKey(User.customerIssuer) where user.name.utf8.contains(UInt8(ascii: "%")):
            contains(CustomerIdentifier(user)?.text ?? user.name)
        default: contains(user.name)
        }
    }

    /// True for a usual name: ASCII letters, digits, hyphens, low lines and dollar signs, not only those of zero, and colons after a
    /// dollar sign, as in `$RCAnonymousID:`. It has no other spelling than that in lower case.
    private static func isPlain(_ name: String) -> Bool {
        let mayHaveColons = name.utf8.first == UInt8(ascii: "$") && name.utf8.last != UInt8(ascii: ":")
        var isOnlyZeros = true
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "1")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                isOnlyZeros = false
            case UInt8(ascii: "0"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "$"): break
            case UInt8(ascii: ":") where mayHaveColons: break
            default: return false
            }
        }
        return !isOnlyZeros
    }

    /// The one form of all spellings of a name: in NFKC and lower case, without control characters, with ASCII hyphens for dashes,
    /// and without the prefixes, spaces and marks around it. A name with a zero-width character is another one.
    private static func folded(_ name: String) -> String {
        var rest = (isPrintableASCII(name) ? name : compatible(name)).lowercased()
        while let next = withoutPrefix(rest) { rest = next }
        return trimmed(rest)
    }

    /// The text in NFKC without control characters, with ASCII hyphens for dashes.
    private static func compatible(_ name: String) -> String {
        let text = String(String.UnicodeScalarView(name.unicodeScalars.filter { !isControl($0) }))
        // Marks go first: NFKC turns an acute accent into a space and a combining one.
        let scalars = trimmed(text).precomposedStringWithCompatibilityMapping.unicodeScalars
        return String(String.UnicodeScalarView(scalars.map { isDash($0) ? "-" : $0 }))
    }

    private static func isPrintableASCII(_ name: String) -> Bool {
        name.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    /// - Returns: Nil if the text has no prefix.
    private static func withoutPrefix(_ text: String) -> String? {
        let rest = Substring(text.unicodeScalars.drop { isMark($0) || isStop($0) })
        return prefixes.first { rest.utf8.starts(with: $0.utf8) }.map {
            String(Substring(rest.utf8.dropFirst($0.utf8.count)))
        }
    }

    /// Removes what surrounds a name. Stops are a name of their own if nothing else is left.
    private static func trimmed(_ text: String) -> String {
        let rest = trimmed(text) { isMark($0) || isStop($0) }
        return rest.isEmpty ? trimmed(text, isMark) : rest
    }

    private static func trimmed(_ text: String, _ isIgnored: (Unicode.Scalar) -> Bool) -> String {
        var scalars = text.unicodeScalars.drop(while: isIgnored)
        while let last = scalars.last, isIgnored(last) { scalars.removeLast() }
        return String(Substring(scalars))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

    /// True for a name that nobody sees, such as a zero-width space.
    private static func isBlank(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format: true
            default: scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}" || isMark(scalar)
            }
        }
    }

    /// True for a space, and for a mark that surrounds a name in some languages: `(null)`, `<null>`, `"null"`, `[object Object]`.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation: true
        default: scalar.properties.isWhitespace || "\"'`<>\u{B4}\u{2032}".unicodeScalars.contains(scalar)
        }
    }

    /// True for a mark that ends a sentence or a statement (`null;`), and for the one that escapes a quote.
    private static func isStop(_ scalar: Unicode.Scalar) -> Bool {
        ",;.:!?\\\u{3001}\u{3002}".unicodeScalars.contains(scalar)
    }

    private static func isDash(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .dashPunctuation || scalar == "\u{2212}"
    }

    /// True for "0", "0000" and the spellings of the nil UUID, in the digits of any script.
    private static func isZero(_ name: String) -> Bool {
        var digits = 0
        var hasOnlyHyphens = true
        for scalar in name.unicodeScalars where scalar != "-" {
            if scalar.properties.numericType == .decimal {
                guard scalar.properties.numericValue == 0 else { return false }
                digits += 1
            } else {
                guard isMark(scalar) || isStop(scalar) || scalar == "_" else { return false }
                hasOnlyHyphens = false
            }
        }
        return digits > 0 && (hasOnlyHyphens || digits == digitsOfUUID)
    }
}
