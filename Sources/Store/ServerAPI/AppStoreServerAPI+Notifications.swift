import Commerce
import Foundation
import Receipts

public struct SendTestNotificationResponse: Encodable, Sendable {
    public let testNotificationToken: String
}

/// One notification as its history shows it, a test's too.
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

public struct NotificationHistoryRequest: Decodable, Sendable {
    let startDate: Timestamp?
    let endDate: Timestamp?
    let notificationType: String?
    let notificationSubtype: String?
    let transactionId: String?
    let onlyFailures: Bool?
}

public struct NotificationHistoryResponse: Encodable, Sendable {
    public let paginationToken: String?
    public let hasMore: Bool
    public let notificationHistory: [NotificationHistoryResponseItem]
}

extension AppStoreServerAPI {
    /// How far back notifications are told of, in days: Apple's 180, and 30 in its sandbox.
    private var historyDays: Int64 { store.environment == .production ? 180 : 30 }

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

    /// `POST /inApps/v1/notifications/history`, the oldest first.
    public func notificationHistory(
        _ request: NotificationHistoryRequest,
        paginationToken: String?
    ) throws -> NotificationHistoryResponse {
        let filter = try NotificationFilter(request)
        return try read { books in
            guard let startDate = request.startDate else { throw ServerAPIError.invalidStartDate }
            guard let endDate = request.endDate else { throw ServerAPIError.invalidEndDate }
            guard startDate < endDate else { throw ServerAPIError.startDateAfterEndDate }
            guard startDate >= books.now.adding(days: -historyDays) else {
                throw ServerAPIError.startDateTooFarInPast
            }
            let originals = try request.transactionId.map { identifier in
                Set(
                    try books.transactions.transactions(of: try books.apiAccount(ofAny: identifier))
                        .map(\.originalTransactionIdentifier))
            }
            let found = try books.notifications.notifications(from: startDate, until: endDate).filter {
                filter.includes($0, amongOriginals: originals)
            }
            var skipped = 0
            if let paginationToken {
                guard let number = Int(paginationToken), (0...found.count).contains(number) else {
                    throw ServerAPIError.invalidPaginationToken
                }
                skipped = number
            }
            let shown = found.dropFirst(skipped).prefix(Self.pageSize)
            let hasMore = skipped + shown.count < found.count
            return NotificationHistoryResponse(
                paginationToken: hasMore ? String(skipped + shown.count) : nil, hasMore: hasMore,
                notificationHistory: shown.map(NotificationHistoryResponseItem.init))
        }
    }
}

/// Which notifications are asked for.
private struct NotificationFilter {
    let type: NotificationTypeV2?
    let subtype: Subtype?
    let onlyFailures: Bool

    init(_ request: NotificationHistoryRequest) throws(ServerAPIError) {
        guard request.transactionId == nil || request.notificationType == nil else { throw .multipleFiltersSupplied }
        type = request.notificationType.flatMap(NotificationTypeV2.init)
        subtype = request.notificationSubtype.flatMap(Subtype.init)
        guard (type == nil) == (request.notificationType == nil),
            (subtype == nil) == (request.notificationSubtype == nil), subtype == nil || type != nil
        else { throw .invalidNotificationType }
        onlyFailures = request.onlyFailures ?? false
    }

    func includes(_ notification: StoreNotification, amongOriginals originals: Set<String>?) -> Bool {
        if let type, notification.type != type { return false }
        if let subtype, notification.subtype != subtype { return false }
        if let originals, !(notification.originalTransactionIdentifier.map(originals.contains) ?? false) {
            return false
        }
        return !onlyFailures
            || (!notification.sendAttempts.isEmpty && !notification.sendAttempts.contains { $0.result == .success })
    }
}
