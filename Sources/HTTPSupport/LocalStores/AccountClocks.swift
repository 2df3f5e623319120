import GRDB
import Proofs

/// The SQL statements on the clocks of accounts. They run inside the caller's transaction of a local store's database.
///
/// An account follows the store's clock until its own time is advanced. From then on it has its own clock: the machine's clock
/// plus an offset, which the store's clock no longer moves.
package struct ClockRecords {
    /// The statement that creates the table.
    package static let table = """
        CREATE TABLE account_clock (
            account TEXT PRIMARY KEY,
            time_offset INTEGER NOT NULL
        ) STRICT;
        """

    package let database: Database
    package let machineTime: Timestamp

    package init(database: Database, machineTime: Timestamp) {
        (self.database, self.machineTime) = (database, machineTime)
    }

    /// The time of an account's own clock; nil if the account follows the store's.
    package func time(of account: String) throws -> Timestamp? {
        try SQLRequest<Timestamp>(
            "SELECT \(machineTime) + time_offset FROM account_clock WHERE account = \(account)"
        ).fetchOne(database)
    }

    /// The latest time of all own clocks; nil if every account follows the store's.
    package func latestTime() throws -> Timestamp? {
        try SQLRequest<Timestamp>("SELECT \(machineTime) + max(time_offset) FROM account_clock").fetchOne(database)
    }

    /// The accounts with their own clocks, each with its time, in the order of their names.
    ///
    /// - Parameter limit: The maximum number of accounts.
    package func all(limit: Int) throws -> [AccountTime] {
        try SQLRequest<Row>(
            """
            SELECT account, \(machineTime) + time_offset AS time FROM account_clock ORDER BY account LIMIT \(limit)
            """
        ).fetchAll(database).map { AccountTime(account: $0["account"], now: $0["time"]) }
    }

    package func setTime(_ time: Timestamp, of account: String) throws {
        try database.insert(
            [
                "account": account,
                "time_offset": time.millisecondsSince1970 - machineTime.millisecondsSince1970,
            ], into: "account_clock", replacing: "account")
    }

    /// Lets every account follow the store's clock.
    package func clear() throws { try database.execute(sql: "DELETE FROM account_clock") }

    /// The condition of rows whose accounts follow a clock.
    ///
    /// - Parameter account: The account whose rows are meant; nil for all accounts that follow the store's clock.
    package static func follows(_ account: String?) -> SQL {
        account.map { "account = \($0)" } ?? "account NOT IN (SELECT account FROM account_clock)"
    }
}

package struct AccountTime: Hashable, Sendable {
    package let account: String
    package let now: Timestamp
}

/// A change of a subscription that became due.
package struct DueEvent: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case renewed
        case renewalFailed
        case gracePeriodEnded
        case expired
    }

    package let kind: Kind
    /// The date, by the account's clock.
    package let date: Timestamp
    package let account: String
    package let productIdentifier: String
    package let transactionIdentifier: String

    package init(
        kind: Kind, date: Timestamp, account: String, productIdentifier: String, transactionIdentifier: String
    ) {
        (self.kind, self.date, self.account) = (kind, date, account)
        (self.productIdentifier, self.transactionIdentifier) = (productIdentifier, transactionIdentifier)
    }
}
