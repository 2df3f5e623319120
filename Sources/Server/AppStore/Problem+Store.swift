import Hummingbird
import Store

extension Problem {
    init(_ error: StoreError) {
        let status: HTTPResponse.Status
        switch error {
        case .productNotFound, .transactionNotFound, .saleNotFound, .subscriptionNotFound, .notificationNotFound:
            status = .notFound
        case .quantityOutOfRange, .storefrontNotFound: status = .unprocessableContent
        case .illegalTransition, .notPurchased, .invalidAction, .simulated: status = .conflict
        case .keysUnreadable, .signingFailed: status = .internalServerError
        case .storage(let fault):
            self.init(fault)
            return
        }
        self.init(status: status, code: error.code, detail: error.message)
    }
}
