import Commerce
import Ledger

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases, or of users, in one commit.
    private static let pageSize = 100
    private static let subject = "purchase states"

    /// Records the changes that time has caused until now: ends, grace periods and billing retries.
    public func announceDueStates() async throws {
        let catalogs = catalogs
        var changed = 1
        // The loop ends at a page that changes nothing, which would repeat forever.
        while changed > 0, !Task.isCancelled {
            changed = try await ledger.write {
                try $0.announceDueStates(at: clock.now(), accepting: accepted, limit: Self.pageSize) {
                    catalogs.type(of: $0)
                }
            }
        }
    }

    /// Records the states of all purchases once in a ledger of an earlier version.
    public func announceUnknownStates() async throws {
        guard try await reconciled(Self.subject) == nil else { return }
        let catalogs = catalogs
        var last: Int64? = 0
        while let number = last, !Task.isCancelled {
            last = try await ledger.write {
                try $0.announceUnknownStates(ofUsersAfter: number, at: clock.now(), limit: Self.pageSize) {
                    catalogs.type(of: $0)
                }
            }
        }
        if !Task.isCancelled { try await setReconciled(Self.subject, until: clock.now()) }
    }
}
