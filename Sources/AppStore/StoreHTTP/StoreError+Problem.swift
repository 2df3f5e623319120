import HTTPSupport
import Hummingbird

extension StoreError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status
        switch self {
        case .productNotFound, .transactionNotFound, .saleNotFound, .subscriptionNotFound, .notificationNotFound:
            status = .notFound
        case .quantityOutOfRange, .storefrontNotFound, .accountInvalid: status = .unprocessableContent
        case .illegalTransition, .notPurchased, .invalidAction, .simulated: status = .conflict
        case .keysUnreadable, .signingFailed: status = .internalServerError
        case .storage(let fault):
            return Problem(fault)
        }
        return Problem(status: status, code: code, detail: message)
    }
}
