import Foundation
import Proofs

/// A snapshot of a user's profile, wishes and items in the ledger.
package struct ProfileRecord: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package let nickname: String?
    /// The last chosen item of each collection. The user may no longer own it.
    package let chosen: [Item]
    /// The wishes, newest first.
    package let wishes: [Wish]
    /// The items that the user owns by redeemed transactions and grants.
    package let items: [Item]

    /// The record of a user that the ledger does not know.
    static let empty = ProfileRecord(nickname: nil, chosen: [], wishes: [], items: [])
}

/// A product that a user wishes for.
package struct Wish: Hashable, Sendable {
    package let productIdentifier: String
    package let wishedAt: Timestamp

    package init(productIdentifier: String, wishedAt: Timestamp) {
        self.productIdentifier = productIdentifier
        self.wishedAt = wishedAt
    }
}

/// A change of a user's profile.
package struct ProfileChange: Hashable, Sendable {
    package enum Nickname: Hashable, Sendable {
        case keep
        case remove
        case set(String)
    }

    package let nickname: Nickname
    /// The newly chosen items, at most one of each collection. The choices in other collections stay.
    package let chosen: [Item]

    package init(nickname: Nickname = .keep, chosen: [Item] = []) {
        self.nickname = nickname
        self.chosen = chosen
    }
}

/// The result of a change of a profile.
package enum ProfileAnswer: Hashable, Sendable {
    case changed(ProfileRecord)
    /// The user does not own the item. Nothing was changed.
    case notOwned(Item)
}

/// A user's nickname: 2 to 9 characters, without `@#$%` and without digits.
package struct Nickname: Hashable, Sendable {
    package static let lengths = 2...9
    /// The largest number of bytes in UTF-8. A character may have any number of combining marks.
    private static let maximumSize = 128

    /// The text in NFC, without surrounding spaces.
    package let text: String

    /// - Throws: `ProfileError`.
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
