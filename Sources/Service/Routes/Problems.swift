import Catalog
import Features
import HTTPSupport
import Hummingbird
import Proofs

extension RedemptionError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status
        var couldSucceedLater = false
        switch self {
        case .refused(let refusal) where refusal.reason == .tooLarge: status = .contentTooLarge
        case .refused(let refusal):
            status = .unprocessableContent
            couldSucceedLater = refusal.reason.couldSucceedLater
        case .transferTooSoon:
            status = .conflict
            couldSucceedLater = true
        case .notRedeemable, .noNotification, .productUnknown: status = .unprocessableContent
        case .ownedByAnotherUser, .appAccountTokenMismatch, .transactionConflict: status = .conflict
        case .userUnknown:
            return .userNotFound
        case .userBlocked: status = .badRequest
        }
        return Problem(
            status: status, code: code, detail: message, couldSucceedLater: couldSucceedLater)
    }
}

extension GrantError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status
        switch self {
        case .itemUnknown, .endPassed: status = .unprocessableContent
        case .grantNotFound, .transactionNotFound: status = .notFound
        case .transactionAmbiguous: status = .conflict
        }
        return Problem(status: status, code: code, detail: message)
    }
}

extension AppLimitError: ProblemConvertible {
    package var problem: Problem { Problem(status: .forbidden, code: code, detail: message) }
}

extension BalanceError: ProblemConvertible {
    package var problem: Problem {
        switch self {
        case .balanceUnknown: Problem(status: .notFound, code: code, detail: message)
        case .balanceTooLow:
            Problem(status: .conflict, code: code, detail: message, couldSucceedLater: true)
        case .idempotencyKeyReused: Problem(status: .conflict, code: code, detail: message)
        }
    }
}

extension LogInError: ProblemConvertible {
    package var problem: Problem { Problem(status: .conflict, code: code, detail: message) }
}
