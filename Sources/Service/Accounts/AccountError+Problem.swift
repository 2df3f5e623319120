import Features
import HTTPSupport
import Hummingbird

extension AccountError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status
        var couldSucceedLater = false
        var retryAfter: Int?
        switch self {
        case .emailInvalid, .emailTooLong, .linkInvalid, .linkExpired, .emailUnchanged:
            status = .unprocessableContent
        case .emailTaken, .emailVerified: status = .conflict
        case .credentialsWrong, .refreshTokenInvalid, .refreshTokenExpired, .refreshTokenReused: status = .unauthorized
        case .passwordWrong: status = .forbidden
        case .accountNotFound: status = .notFound
        case .mailTooOften:
            status = .tooManyRequests
            couldSucceedLater = true
            retryAfter = 3600
        case .passwordNotHashed:
            status = .serviceUnavailable
            couldSucceedLater = true
        }
        return Problem(
            status: status, code: code, detail: message, couldSucceedLater: couldSucceedLater,
            retryAfter: retryAfter)
    }
}
