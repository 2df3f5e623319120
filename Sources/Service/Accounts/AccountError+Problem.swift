import Accounts
import HTTPSupport
import Hummingbird

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
