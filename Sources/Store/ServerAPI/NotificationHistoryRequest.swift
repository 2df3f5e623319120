import Commerce

/// A request for the notification history (App Store Server API, `NotificationHistoryRequest`).
public struct NotificationHistoryRequest: Decodable, Sendable {
    let startDate: Timestamp?
    let endDate: Timestamp?
    let notificationType: String?
    let notificationSubtype: String?
    let transactionId: String?
    let onlyFailures: Bool?

    /// The dates from the first until before the last. The history goes back 180 days, and 30 in Apple's sandbox.
    ///
    /// - Throws: `ServerAPIError` for a date that is missing, too early or in the wrong order.
    package func dates(
        at now: Timestamp,
        environment: AppStoreEnvironment
    ) throws(ServerAPIError) -> Range<Timestamp> {
        guard let startDate else { throw .invalidStartDate }
        guard let endDate else { throw .invalidEndDate }
        guard startDate < endDate else { throw .startDateAfterEndDate }
        guard startDate >= now.adding(days: environment == .production ? -180 : -30) else {
            throw .startDateTooFarInPast
        }
        return startDate..<endDate
    }
}
