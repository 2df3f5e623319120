import Commerce
import Ledger

/// Why nothing became of a profile, or of a wish.
public enum ProfileError: CodedError, Equatable {
    case nicknameTooShort
    case nicknameTooLong
    case nicknameHasDigit
    case nicknameCharacterForbidden
    case itemNotOwned(Item)

    public var code: String {
        switch self {
        case .nicknameTooShort: "nicknameTooShort"
        case .nicknameTooLong: "nicknameTooLong"
        case .nicknameHasDigit: "nicknameHasDigit"
        case .nicknameCharacterForbidden: "nicknameCharacterForbidden"
        case .itemNotOwned: "itemNotOwned"
        }
    }

    public var message: String {
        switch self {
        case .nicknameTooShort: "The nickname has to have \(Nickname.lengths.lowerBound) characters at least."
        case .nicknameTooLong: "The nickname may have \(Nickname.lengths.upperBound) characters at most."
        case .nicknameHasDigit: "The nickname may have no digit in it."
        case .nicknameCharacterForbidden:
            "The nickname may have none of @ # $ % in it, nor a character that cannot be seen."
        case .itemNotOwned(let item): "The user does not own \(item): nothing was changed."
        }
    }
}
