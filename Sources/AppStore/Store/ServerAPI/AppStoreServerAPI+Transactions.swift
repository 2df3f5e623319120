import Foundation
import Proofs

package struct TransactionInfoResponse: Encodable, Sendable {
    package let signedTransactionInfo: String
}

struct AppTransactionInfoResponse: Encodable, Sendable {
    let signedAppTransactionInfo: String
}

struct OrderLookupResponse: Encodable, Sendable {
    /// 0 if the order exists, else 1, as in Apple's API.
    let status: Int
    /// Nil if the order does not exist.
    let signedTransactions: [String]?
}

extension AppStoreServerAPI {
    /// `GET /inApps/v1/transactions/{transactionId}`
    package func transactionInfo(_ transactionId: String) throws -> TransactionInfoResponse {
        try read { books in
            TransactionInfoResponse(
                signedTransactionInfo: try books.signed(try books.apiTransaction(transactionId)))
        }
    }

    /// `GET /inApps/v1/transactions/appTransactions/{anyTransactionId}`
    func appTransactionInfo(_ anyTransactionId: String) throws -> AppTransactionInfoResponse {
        try read { books in
            let account = try books.apiAccount(ofAny: anyTransactionId)
            return AppTransactionInfoResponse(
                signedAppTransactionInfo: try books.issuer.signedAppTransaction(of: account, at: books.now))
        }
    }

    /// `GET /inApps/v1/lookup/{orderId}`
    func lookUpOrderId(_ orderId: String) throws -> OrderLookupResponse {
        try read { books in
            let sold = try books.transactions.transactions(order: orderId)
            return OrderLookupResponse(
                status: sold.isEmpty ? 1 : 0, signedTransactions: sold.isEmpty ? nil : try sold.map(books.signed))
        }
    }

    /// `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`: for a subscription, later periods have it too.
    package func setAppAccountToken(_ token: String?, of originalTransactionId: String) throws {
        try write { books in
            var transaction = try books.apiOriginalTransaction(
                originalTransactionId, orThrow: .originalTransactionIdNotFound)
            guard let token = token.flatMap(UUID.init(uuidString:)) else {
                throw ServerAPIError.invalidAppAccountTokenUUID
            }
            if var subscription = try books.subscriptionOrNone(of: transaction) {
                subscription.appAccountToken = token
                try books.subscriptions.save(subscription)
                transaction = try books.transactions.latest(original: originalTransactionId) ?? transaction
            }
            transaction.appAccountToken = token
            try books.transactions.update(transaction)
        }
    }

    /// `POST /inApps/v1/transactions/{transactionId}/finish`
    func finishTransaction(_ transactionId: String) throws {
        try write { books in
            let transaction = try books.apiTransaction(transactionId)
            for queued in try books.payments.transactions(showing: transaction.transactionIdentifier)
            where queued.transaction.state.isAwaitingFinish {
                _ = try books.perform(.finish, on: queued)
            }
        }
    }
}

extension Books {
    func signed(_ transaction: Transaction) throws -> String {
        try issuer.signedTransaction(transaction, at: now)
    }
}
