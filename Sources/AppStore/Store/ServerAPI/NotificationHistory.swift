import Foundation
import Proofs

package struct NotificationHistoryResponse: Encodable, Sendable {
    package let paginationToken: String?
    package let hasMore: Bool
    package let notificationHistory: [StoreNotification]
}

/// The place of the next page in the answer to a request. Apple's clients leave `+` and `/` as they are, so its text has neither.
private struct PaginationToken: Codable {
    let skipped: Int
    let request: NotificationHistoryRequest

    var text: String {
        get throws { Base64.encode(try JSONEncoder().encode(self), .urlSafe) }
    }
}

extension PaginationToken {
    init(_ text: String) throws(ServerAPIError) {
        guard let bytes = Base64.decode(text.utf8, .urlSafe),
            let token = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { throw .invalidPaginationToken }
        self = token
    }
}

extension Books {
    /// The age of the oldest test notification whose status Apple tells, in days.
    private static let maximumTestAge: Int64 = 180

    /// `POST /inApps/v1/notifications/test`
    ///
    /// - Returns: The token of the notification.
    package func requestTestNotification() throws -> String {
        guard settings.notificationsURL != nil else { throw ServerAPIError.serverNotificationUrlNotFound }
        return Self.token(ofTest: try notify(.test, nil, .data, issuer.notificationData()))
    }

    /// `GET /inApps/v1/notifications/test/{testNotificationToken}`
    package func testNotificationStatus(_ token: String) throws -> StoreNotification {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let uuid = UUID(uuidString: String(parts[0])), Int64(parts[1]) != nil else {
            throw ServerAPIError.invalidTestNotificationToken
        }
        guard let notification = try notifications.notification(uuid), notification.type == .test,
            Self.token(ofTest: notification) == token.lowercased(), !notification.sendAttempts.isEmpty,
            notification.date >= now.adding(days: -Self.maximumTestAge)
        else { throw ServerAPIError.testNotificationNotFound }
        return notification
    }

    private static func token(ofTest notification: StoreNotification) -> String {
        "\(notification.notificationUUID.lowercasedString)_\(notification.date.millisecondsSince1970)"
    }

    /// `POST /inApps/v1/notifications/history`: the oldest notification first.
    package func notificationHistory(
        _ request: NotificationHistoryRequest,
        paginationToken: String?
    ) throws -> NotificationHistoryResponse {
        let isIncluded = try request.filter()
        // A customer's notifications have the time of the customer.
        let customer = try? request.transactionId.flatMap { try apiAccount(ofAny: $0) }
        let dates = try request.dates(
            at: try customer.map(now(of:)) ?? now, environment: issuer.environment)
        let originals = try request.transactionId.map { identifier in
            Set(
                try (apiAccount(ofAny: identifier).map(transactions.transactions(of:)) ?? [])
                    .map(\.originalTransactionIdentifier))
        }
        let found = try notifications.notifications(in: dates).filter { isIncluded($0, originals) }
        var skipped = 0
        if let paginationToken {
            let token = try PaginationToken(paginationToken)
            guard token.request == request else { throw ServerAPIError.paginationTokenExpired }
            guard (0...found.count).contains(token.skipped) else { throw ServerAPIError.invalidPaginationToken }
            skipped = token.skipped
        }
        let shown = found.dropFirst(skipped).prefix(HistoryPage.size)
        let next = PaginationToken(skipped: skipped + shown.count, request: request)
        let hasMore = next.skipped < found.count
        return NotificationHistoryResponse(
            paginationToken: hasMore ? try next.text : nil, hasMore: hasMore, notificationHistory: Array(shown))
    }
}

/// A request for the notification history (App Store Server API, `NotificationHistoryRequest`).
package struct NotificationHistoryRequest: Hashable, Codable, Sendable {
    let startDate: Timestamp?
    let endDate: Timestamp?
    let notificationType: String?
    let notificationSubtype: String?
    let transactionId: String?
    let onlyFailures: Bool?

    /// A date of another form counts as missing: Apple has an error of its own for it.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        startDate = try? container.decode(Timestamp.self, forKey: .startDate)
        endDate = try? container.decode(Timestamp.self, forKey: .endDate)
        notificationType = try container.decodeIfPresent(String.self, forKey: .notificationType)
        notificationSubtype = try container.decodeIfPresent(String.self, forKey: .notificationSubtype)
        transactionId = try container.decodeIfPresent(String.self, forKey: .transactionId)
        onlyFailures = try container.decodeIfPresent(Bool.self, forKey: .onlyFailures)
    }

    /// The dates from the first until before the last. The history goes back 180 days, and 30 in Apple's sandbox.
    ///
    /// - Throws: `ServerAPIError` for a date that is missing, too early or in the wrong order.
    package func dates(at now: Timestamp, environment: AppStoreEnvironment) throws(ServerAPIError) -> Range<Timestamp> {
        guard let startDate else { throw .invalidStartDate }
        guard let endDate else { throw .invalidEndDate }
        guard startDate < endDate else { throw .startDateAfterEndDate }
        guard startDate >= now.adding(days: environment == .production ? -180 : -30) else {
            throw .startDateTooFarInPast
        }
        return startDate..<endDate
    }

    /// The notifications of the history that the request filters.
    ///
    /// - Returns: A function of a notification and of the original transactions of the requested customer; nil for all
    ///   customers.
    /// - Throws: `ServerAPIError` for filters that are unknown or exclude each other.
    package func filter() throws(ServerAPIError) -> (StoreNotification, Set<String>?) -> Bool {
        guard transactionId == nil || notificationType == nil else { throw .multipleFiltersSupplied }
        let type = notificationType.flatMap(NotificationTypeV2.init)
        let subtype = notificationSubtype.flatMap(Subtype.init)
        guard (type == nil) == (notificationType == nil), (subtype == nil) == (notificationSubtype == nil) else {
            throw .invalidNotificationType
        }
        if let subtype {
            guard let type, subtype.types.contains(type) else { throw .invalidNotificationType }
        }
        return { notification, originals in
            if let type, notification.type != type { return false }
            if let subtype, notification.subtype != subtype { return false }
            if let originals, !(notification.originalTransactionIdentifier.map(originals.contains) ?? false) {
                return false
            }
            let results = notification.sendAttempts.map(\.result)
            return onlyFailures != true || (!results.isEmpty && !results.contains(.success))
        }
    }
}
