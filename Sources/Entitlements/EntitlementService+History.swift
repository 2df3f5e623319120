import Commerce
import Ledger

/// The histories of users, as the passing of time makes them.
extension EntitlementService {
    /// The largest number of purchases of one commit.
    private static let pageSize = 100
    /// The largest number of users of one read.
    private static let usersOfRead = 1000
    private static let subject = "purchase states"

    /// Records what the passing of time has changed until now: ends, grace periods and billing retries.
    public func announceDueStates() async throws {
        let catalogs = catalogs
        var changed = 1
        // A page that changes nothing would be read again and again.
        while changed > 0, !Task.isCancelled {
            changed = try await ledger.writeInBackground {
                try $0.announceDueStates(at: clock.now(), accepting: accepted, limit: Self.pageSize) {
                    catalogs.type(of: $0)
                }
            }
        }
    }

    /// Makes the states of all purchases known to a ledger of an earlier version, once.
    public func announceUnknownStates() async throws {
        guard try await reconciled(Self.subject) == nil else { return }
        let catalogs = catalogs
        var last: Int64 = 0
        while !Task.isCancelled {
            let number = last
            let page = try await ledger.read(.longSnapshot) {
                try $0.purchasesWithoutHistory(ofUsersAfter: number, limit: Self.usersOfRead)
            }
            guard let page else { break }
            var rest = page.originals[...]
            while !rest.isEmpty, !Task.isCancelled {
                let some = Array(rest.prefix(Self.pageSize))
                rest = rest.dropFirst(Self.pageSize)
                try await ledger.writeInBackground {
                    try $0.announceStatesSilently(of: some, at: clock.now()) { catalogs.type(of: $0) }
                }
            }
            last = page.last
        }
        if !Task.isCancelled { try await setReconciled(Self.subject, until: clock.now()) }
    }
}
