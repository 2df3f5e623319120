import Commerce
import Foundation
import Receipts

public struct SendTestNotificationResponse: Encodable, Sendable {
    public let testNotificationToken: String
}

/// A notification in the history, or a test notification.
public struct NotificationHistoryResponseItem: Encodable, Sendable {
    public struct SendAttemptItem: Encodable, Sendable {
        public let attemptDate: Timestamp
        public let sendAttemptResult: SendAttemptResult
    }

    public let signedPayload: String
    public let sendAttempts: [SendAttemptItem]

    init(_ notification: StoreNotification) {
        signedPayload = notification.signedPayload
        sendAttempts = notification.sendAttempts.map {
            SendAttemptItem(attemptDate: $0.date, sendAttemptResult: $0.result)
        }
    }
}

public struct NotificationHistoryResponse: Encodable, Sendable {
    public let paginationToken: String?
    public let hasMore: Bool
    public let notificationHistory: [NotificationHistoryResponseItem]
}

extension AppStoreServerAPI {
    /// `POST /inApps/v1/notifications/test`
    public func requestTestNotification() throws -> SendTestNotificationResponse {
        try write { books in
            guard books.settings.notificationsURL != nil else { throw ServerAPIError.serverNotificationUrlNotFound }
            let notification = try books.notify(.test, nil, .data(NotificationStatement.Data()))
            let uuid = notification.notificationUUID.uuidString.lowercased()
            return SendTestNotificationResponse(
                testNotificationToken: "\(uuid)_\(notification.date.millisecondsSince1970)")
        }
    }

    /// `GET /inApps/v1/notifications/test/{testNotificationToken}`
    public func testNotificationStatus(_ token: String) throws -> NotificationHistoryResponseItem {
        guard let text = token.split(separator: "_").first, let uuid = UUID(uuidString: String(text)) else {
            throw ServerAPIError.invalidTestNotificationToken
        }
        return try read { books in
            guard let notification = try books.notifications.notification(uuid), notification.type == .test,
                !notification.sendAttempts.isEmpty
            else { throw ServerAPIError.testNotificationNotFound }
            return NotificationHistoryResponseItem(notification)
        }
    }

    /// `POST /inApps/v1/notifications/history`: the oldest notification first.
    public func notificationHistory(
        _ request: NotificationHistoryRequest,
        paginationToken: String?
    ) throws -> NotificationHistoryResponse {
        let filter = try NotificationFilter(request)
        return try read { books in
            let dates = try request.dates(at: books.now, environment: store.environment)
            let originals = try request.transactionId.map { identifier in
                Set(
                    try books.transactions.transactions(of: try books.apiAccount(ofAny: identifier))
                        .map(\.originalTransactionIdentifier))
            }
            let found = try books.notifications.notifications(from: dates.lowerBound, until: dates.upperBound).filter {
                filter.includes($0, amongOriginals: originals)
            }
            var skipped = 0
            if let paginationToken {
                guard let number = Int(paginationToken), (0...found.count).contains(number) else {
                    throw ServerAPIError.invalidPaginationToken
                }
                skipped = number
            }
            let shown = found.dropFirst(skipped).prefix(HistoryPage.size)
            let hasMore = skipped + shown.count < found.count
            return NotificationHistoryResponse(
                paginationToken: hasMore ? String(skipped + shown.count) : nil, hasMore: hasMore,
                notificationHistory: shown.map(NotificationHistoryResponseItem.init))
        }
    }
}
