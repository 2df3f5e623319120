import Ledger
import Proofs

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases in one commit.
    private static let pageSize = 100

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
}
