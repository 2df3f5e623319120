import Proofs

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
