import Proofs

/// The error of a use case that writes for a user.
package enum LedgerError: RuledError, Equatable {
    /// The account was never opened, or was erased. Nobody could sign in to it and own the written rows.
    case userUnknown

    /// The name stands for no user, such as "null". Every device could have it.
    case userBlocked

    /// The bytes of the day for users without a purchase are used up.
    case newcomersLimited(secondsToWait: Int)

    package var rule: ErrorRule {
        switch self {
        case .userUnknown:
            ErrorRule(
                "userNotFound", .notFound, "The account is unknown or was erased. Nothing was written.",
                detail: "The user is unknown to the service or was erased.",
                korean: "서비스가 모르는 사용자이거나 삭제된 사용자입니다.")
        case .userBlocked:
            ErrorRule(
                "userInvalid", .badRequest,
                "The name stands for no user, like \"null\", or the setting blocked-user-names has it. Send the name of one "
                    + "user.",
                korean: "사용자를 가리키지 않는 이름이거나 설정 blocked-user-names에 있는 이름입니다. 한 사용자의 이름을 보내세요.")
        case .newcomersLimited(let seconds):
            ErrorRule(
                "tooManyRequests", .tooManyRequests, mayRetry: true, secondsToWait: seconds,
                "New customers have used up their part of the storage. Wait \(seconds) seconds.",
                korean: "구매가 없는 새 고객의 저장 공간을 다 썼습니다. \(seconds)초 뒤에 다시 시도하세요.")
        }
    }
}
