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

/// The permission of a caller to write for users without a purchase, in bytes.
///
/// Anybody with an app's public key can invent users, and anybody can sign up. A transaction that runs again takes its bytes again.
package struct NewcomerAllowance: Sendable {
    /// The caller's client address, which other limits of strangers count by; nil if it is not known.
    package let address: String?
    /// Takes bytes, all or none. Returns nil if they were available, otherwise the seconds until they are.
    package let take: @Sendable (Int) -> Int?

    package init(of address: String? = nil, take: @escaping @Sendable (Int) -> Int?) {
        self.address = address
        self.take = take
    }

    /// Takes bytes, all or none.
    ///
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int) throws(LedgerError) {
        if let seconds = take(bytes) { throw .newcomersLimited(secondsToWait: seconds) }
    }

    /// The bytes that a new user takes in the ledger, about: the names, the account token and the audit log.
    package static func bytes(ofUserNamed names: User...) -> Int {
        1024 + names.reduce(0) { $0 + 2 * $1.name.utf8.count }
    }
}
