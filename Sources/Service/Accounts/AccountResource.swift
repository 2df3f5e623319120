import Accounts
import Commerce
import HTTPSupport
import Hummingbird
import Ledger

/// An account as its user sees it.
struct AccountResource: Encodable, Sendable {
    /// By which back ends name the user, as one of the issuer `till`.
    let accountId: String
    let email: String
    /// RFC 3339, UTC.
    let createdAt: String

    init(_ account: AccountRecord) {
        accountId = account.user.name
        email = account.email
        createdAt = account.createdAt.rfc3339
    }
}

/// The tokens of a session, which nobody is told twice.
struct TokensResource: Encodable, Sendable {
    let accessToken: String
    /// RFC 3339, UTC.
    let accessTokenExpiresAt: String
    let refreshToken: String
    let refreshTokenExpiresAt: String

    init(_ tokens: SessionTokens) {
        accessToken = tokens.access.text
        accessTokenExpiresAt = tokens.access.endsAt.rfc3339
        refreshToken = tokens.refresh.text
        refreshTokenExpiresAt = tokens.refresh.endsAt.rfc3339
    }
}

/// Somebody who is in.
struct EntranceResource: Encodable, Sendable {
    let account: AccountResource
    let tokens: TokensResource

    init(_ entrance: AccountService.Entrance) {
        account = AccountResource(entrance.account)
        tokens = TokensResource(entrance.tokens)
    }
}

extension AccountError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status
        var couldSucceedLater = false
        switch self {
        case .emailInvalid, .emailTooLong, .passwordTooShort, .passwordTooLong, .passwordTooCommon,
            .passwordLikeEmail:
            status = .unprocessableContent
        case .emailTaken: status = .conflict
        case .credentialsWrong, .refreshTokenInvalid, .refreshTokenExpired, .refreshTokenReused: status = .unauthorized
        case .passwordWrong: status = .forbidden
        case .accountNotFound: status = .notFound
        case .passwordNotHashed:
            status = .serviceUnavailable
            couldSucceedLater = true
        }
        return Problem(status: status, code: code, detail: message, couldSucceedLater: couldSucceedLater)
    }
}
