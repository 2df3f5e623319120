import Ledger
import Proofs

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
