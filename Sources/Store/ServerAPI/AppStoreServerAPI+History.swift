import Commerce
import Receipts

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
    /// The largest page, as Apple's.
    static let pageSize = 20

    /// Which version of the history is asked for: the first leaves out consumables that were finished and not taken back.
    public enum HistoryVersion: Sendable {
        case v1
        case v2
    }

    /// `GET /inApps/v2/history/{anyTransactionId}`, in the order in which the transactions last changed.
    public func transactionHistory(
        _ anyTransactionId: String,
        _ query: TransactionHistoryQuery,
        version: HistoryVersion
    ) throws -> HistoryResponse {
        try read { books in
            let account = try books.apiAccount(ofAny: anyTransactionId)
            let waiting = version == .v2 ? [] : try books.unfinishedTransactionIdentifiers(of: account)
            let page = try books.historyPage(of: account, after: query.cursor, isDescending: query.isDescending) {
                let isShown =
                    version == .v2 || $0.type != .consumable || $0.revocation != nil
                    || waiting.contains($0.transactionIdentifier)
                return isShown && query.includes($0)
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
            let page = try books.historyPage(of: account, after: cursor, isDescending: false) {
                $0.revocation?.type == .refundFull || $0.revocation?.type == .refundProrated
            }
            return RefundHistoryResponse(
                signedTransactions: try page.transactions.map(books.signed), revision: page.cursor.text,
                hasMore: page.hasMore)
        }
    }
}

extension Books {
    /// Part of a customer's history.
    struct HistoryPage {
        let transactions: [Transaction]
        let cursor: HistoryCursor
        let hasMore: Bool
    }

    func historyPage(
        of account: String,
        after cursor: HistoryCursor?,
        isDescending: Bool,
        _ isIncluded: (Transaction) -> Bool
    ) throws -> HistoryPage {
        let all = try transactions.changes(of: account)
        let rest = (isDescending ? all.reversed() : all).filter { change, transaction in
            guard isIncluded(transaction) else { return false }
            return cursor.map { isDescending ? change < $0.change : change > $0.change } ?? true
        }
        let shown = rest.prefix(AppStoreServerAPI.pageSize)
        return HistoryPage(
            transactions: shown.map(\.transaction),
            cursor: shown.last.map { HistoryCursor(change: $0.change, isDescending: isDescending) }
                ?? cursor ?? HistoryCursor(change: 0, isDescending: isDescending),
            hasMore: rest.count > shown.count)
    }
}
