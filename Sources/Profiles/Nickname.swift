import Foundation

/// What a user wants to be called: 2 to 9 characters, none of `@#$%`, no digit.
public struct Nickname: Hashable, Sendable {
    public static let lengths = 2...9
    /// The longest in bytes of UTF-8: a character may be made of any number of marks.
    private static let maximumSize = 128

    /// Composed (NFC), without spaces around it.
    public let text: String

    /// - Throws: `ProfileError`.
    public init(_ text: String) throws(ProfileError) {
        guard text.utf8.count <= Self.maximumSize else { throw .nicknameTooLong }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard text.count >= Self.lengths.lowerBound else { throw .nicknameTooShort }
        guard text.count <= Self.lengths.upperBound else { throw .nicknameTooLong }
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .decimalNumber, .letterNumber, .otherNumber: throw .nicknameHasDigit
            // Nobody could see them, or what they do to their neighbours.
            case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
                throw .nicknameCharacterForbidden
            case .format where !Self.joiners.contains(scalar): throw .nicknameCharacterForbidden
            default:
                let isInvisible =
                    scalar.properties.isDefaultIgnorableCodePoint && !Self.joiners.contains(scalar)
                    && !Self.ideographicVariations.contains(scalar.value)
                guard !isInvisible, !Self.forbidden.contains(scalar) else { throw .nicknameCharacterForbidden }
            }
        }
        let visible = text.count { character in
            character.unicodeScalars.contains { !$0.properties.isWhitespace && !Self.joiners.contains($0) }
        }
        guard visible >= Self.lengths.lowerBound else { throw .nicknameTooShort }
        self.text = text
    }

    private static let forbidden: Set<Unicode.Scalar> = ["@", "#", "$", "%", "\u{FFFD}", "\u{2800}"]
    /// Which form of an ideograph is meant.
    private static let ideographicVariations: ClosedRange<UInt32> = 0xE0100...0xE01EF
    /// Of emoji and of some scripts' letters: they make one character of several, or say which form of it is meant.
    private static let joiners: Set<Unicode.Scalar> = ["\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}"]
}
