import Proofs

/// The moments at which a notification is sent.
package struct DeliverySchedule: Hashable, Sendable {
    /// The hours from each failed attempt to the next (App Store Server Notifications, "Responding to App Store Server
    /// Notifications"); Apple's sandbox sends once.
    private static let retryHours: [Int64] = [1, 12, 24, 48, 72]

    private let retryHours: [Int64]

    package init(_ environment: AppStoreEnvironment) {
        retryHours = environment == .production ? Self.retryHours : []
    }

    /// The first attempt of a notification that is created now; nil if it is never sent.
    package static func firstAttempt(at now: Timestamp, _ fault: NotificationFault?) -> Timestamp? {
        switch fault {
        case .drop: nil
        case .delay(let seconds): now.adding(seconds: seconds)
        case .duplicate, .reorder, nil: now
        }
    }

    /// The attempt after another; nil if there is none.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts before.
    ///   - isRepeated: True if the notification is sent once more after its delivery.
    package func nextAttempt(
        after attempt: StoreNotification.SendAttempt,
        failures: Int,
        isRepeated: Bool
    ) -> Timestamp? {
        guard attempt.result != .success else { return isRepeated ? attempt.date : nil }
        return failures < retryHours.count ? attempt.date.adding(seconds: retryHours[failures] * 3600) : nil
    }
}
