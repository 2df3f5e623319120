import Proofs

package struct HistoryResponse: Encodable, Sendable {
    package let revision: String
    package let hasMore: Bool
    package let bundleId: String
    package let environment: AppStoreEnvironment
    package let signedTransactions: [String]
}

struct RefundHistoryResponse: Encodable, Sendable {
    let signedTransactions: [String]
    let revision: String
    let hasMore: Bool
}

extension AppStoreServerAPI {
    /// `GET /inApps/v2/history/{anyTransactionId}`, in the order in which the transactions last changed.
    package func transactionHistory(
        _ anyTransactionId: String,
        _ query: TransactionHistoryQuery,
        version: HistoryVersion
    ) throws -> HistoryResponse {
        try read { books in
            let account = try books.apiAccount(ofAny: anyTransactionId)
            let unfinished = try books.unfinishedTransactionIdentifiers(of: account)
            let page = HistoryPage(
                of: try books.transactions.changes(of: account), after: query.cursor, isDescending: query.isDescending
            ) {
                version.includes($0, unfinished: unfinished) && query.includes($0)
            }
            return HistoryResponse(
                revision: page.cursor.text, hasMore: page.hasMore, bundleId: store.bundleIdentifier,
                environment: books.issuer.environment, signedTransactions: try page.transactions.map(books.signed))
        }
    }

    /// `GET /inApps/v2/refund/lookup/{anyTransactionId}`
    func refundHistory(_ anyTransactionId: String, revision: String?) throws -> RefundHistoryResponse {
        try read { books in
            let account = try books.apiAccount(ofAny: anyTransactionId)
            var cursor: HistoryCursor?
            if let revision {
                guard let known = HistoryCursor(revision), !known.isDescending else {
                    throw ServerAPIError.invalidRequestRevision
                }
                cursor = known
            }
            let page = HistoryPage(
                of: try books.transactions.changes(of: account), after: cursor, isDescending: false,
                including: \.isRefunded)
            return RefundHistoryResponse(
                signedTransactions: try page.transactions.map(books.signed), revision: page.cursor.text,
                hasMore: page.hasMore)
        }
    }
}
