import Foundation
import Proofs
import Vocabulary

/// A user's nickname: 2 to 9 characters, without `@#$%` and without digits.
package struct Nickname: Hashable, Sendable {
    package static let lengths = 2...9
    /// The largest number of bytes in UTF-8. A character may have any number of combining marks.
    private static let maximumSize = 128

    /// The text in NFC, without surrounding spaces.
    package let text: String

    package init(_ text: String) throws(ProfileError) {
        guard text.utf8.count <= Self.maximumSize else { throw .nicknameTooLong }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard text.count >= Self.lengths.lowerBound else { throw .nicknameTooShort }
        guard text.count <= Self.lengths.upperBound else { throw .nicknameTooLong }
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .decimalNumber, .letterNumber, .otherNumber: throw .nicknameHasDigit
            // These characters are invisible, or change the display of their neighbours.
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
    /// The selectors of an ideograph's form.
    private static let ideographicVariations: ClosedRange<UInt32> = 0xE0100...0xE01EF
    /// The joiners and variation selectors of emoji and of some scripts. They join characters or select a form.
    private static let joiners: Set<Unicode.Scalar> = ["\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}"]
}

package enum ProfileError: RuledError, Equatable {
    case nicknameTooShort
    case nicknameTooLong
    case nicknameHasDigit
    case nicknameCharacterForbidden
    case itemNotOwned(Item)

    package var rule: ErrorRule {
        switch self {
        case .nicknameTooShort:
            ErrorRule(
                "nicknameTooShort", .unprocessable,
                "The nickname must have at least \(Nickname.lengths.lowerBound) visible characters.",
                korean: "닉네임은 보이는 글자가 \(Nickname.lengths.lowerBound)자 이상이어야 합니다.")
        case .nicknameTooLong:
            ErrorRule(
                "nicknameTooLong", .unprocessable,
                "The nickname must have at most \(Nickname.lengths.upperBound) characters.",
                korean: "닉네임은 \(Nickname.lengths.upperBound)자까지입니다.")
        case .nicknameHasDigit:
            ErrorRule(
                "nicknameHasDigit", .unprocessable, "The nickname must not contain a digit.",
                korean: "닉네임에 숫자를 쓸 수 없습니다.")
        case .nicknameCharacterForbidden:
            ErrorRule(
                "nicknameCharacterForbidden", .unprocessable,
                "The nickname must not contain @, #, $, % or an invisible character.",
                korean: "닉네임에 @, #, $, %나 보이지 않는 문자를 쓸 수 없습니다.")
        case .itemNotOwned(let item):
            ErrorRule(
                "itemNotOwned", .conflict, "The user does not own \"\(item)\". Choose an item that the user owns.",
                korean: "사용자에게 없는 아이템입니다. 사용자가 가진 아이템을 고르세요.")
        }
    }
}
