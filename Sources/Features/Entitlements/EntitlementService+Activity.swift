import Ledger
import Proofs

/// The use cases that show the activity of all users.
extension EntitlementService {
    /// The largest number of entries that are counted of each origin.
    private static let maximumCounted = 50_000

    /// The latest audit entries of all users, newest first: those of the origins, and those without a purchase.
    package func latestActivity(from origins: Set<Origin>, limit: Int) async throws -> [ActivityEntry] {
        try await ledger.read { try $0.latestActivity(from: origins, limit: limit) }
    }

    /// The numbers of today's audit entries of the origins. The day is in UTC.
    package func activityToday(from origins: Set<Origin>) async throws -> ActivityCount {
        let start = CalendarDay(clock.now()).start
        return try await ledger.read {
            try $0.activityCount(from: origins, since: start, limit: Self.maximumCounted)
        }
    }
}
