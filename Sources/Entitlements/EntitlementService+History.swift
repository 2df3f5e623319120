import Commerce
import Ledger

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases in one commit.
    private static let pageSize = 100
    /// The largest number of users of one read.
    private static let usersOfRead = 1000
    private static let subject = "purchase states"

    /// Records the changes that time has caused: ends, grace periods and billing retries.
    ///
    /// - Parameters:
    ///   - moment: The moment until which they are due; nil for now.
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew; nil
    ///     if there is none.
    /// - Returns: The due subscriptions whose statement about the renewal is awaited, by their original transactions.
    @discardableResult
    package func recordDueStates(
        at moment: Timestamp? = nil,
        holding hold: Timestamp? = nil
    ) async throws -> Set<TransactionKey> {
        let catalogs = catalogs
        let moment = moment ?? clock.now()
        var awaiting: Set<TransactionKey> = []
        var changed = 1
        // The loop ends at a page that changes nothing, which would repeat forever.
        while changed > 0, !Task.isCancelled {
            let page = try await ledger.writeInBackground {
                try $0.recordDueStates(at: moment, holding: hold, accepting: accepted, limit: Self.pageSize) {
                    catalogs.type(of: $0)
                }
            }
            changed = page.changed
            awaiting.formUnion(page.awaiting)
        }
        return awaiting
    }

    /// Records the states of all purchases once in a ledger of an earlier version.
    public func recordMissingStates() async throws {
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
                    try $0.recordStatesWithoutEvents(of: some, at: clock.now()) { catalogs.type(of: $0) }
                }
            }
            last = page.last
        }
        if !Task.isCancelled { try await setReconciled(Self.subject, until: clock.now()) }
    }
}
