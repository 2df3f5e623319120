import Ledger
import Proofs

/// The error of a change of a profile.
package enum ProfileError: CodedError, Equatable {
    case nicknameTooShort
    case nicknameTooLong
    case nicknameHasDigit
    case nicknameCharacterForbidden
    case itemNotOwned(Item)

    package var code: String {
        switch self {
        case .nicknameTooShort: "nicknameTooShort"
        case .nicknameTooLong: "nicknameTooLong"
        case .nicknameHasDigit: "nicknameHasDigit"
        case .nicknameCharacterForbidden: "nicknameCharacterForbidden"
        case .itemNotOwned: "itemNotOwned"
        }
    }

    package var message: String {
        switch self {
        case .nicknameTooShort: "The nickname must have at least \(Nickname.lengths.lowerBound) visible characters."
        case .nicknameTooLong: "The nickname must have at most \(Nickname.lengths.upperBound) characters."
        case .nicknameHasDigit: "The nickname must not contain a digit."
        case .nicknameCharacterForbidden:
            "The nickname must not contain @, #, $, % or an invisible character."
        case .itemNotOwned(let item): "The user does not own \"\(item)\". Choose an item that the user owns."
        }
    }
}
