import Proofs

public struct HistoryResponse: Encodable, Sendable {
    public let revision: String
    public let hasMore: Bool
    public let bundleId: String
    public let environment: AppStoreEnvironment
    public let signedTransactions: [String]
}

public struct RefundHistoryResponse: Encodable, Sendable {
    public let signedTransactions: [String]
    public let revision: String
    public let hasMore: Bool
}

extension AppStoreServerAPI {
    /// `GET /inApps/v2/history/{anyTransactionId}`, in the order in which the transactions last changed.
    public func transactionHistory(
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
    public func refundHistory(_ anyTransactionId: String, revision: String?) throws -> RefundHistoryResponse {
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
