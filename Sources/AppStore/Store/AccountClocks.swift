import GRDB
import Proofs

/// The SQL statements on the clocks of accounts. They run inside the caller's transaction of the store's database.
///
/// An account follows the store's clock until its own time is advanced. From then on it has its own clock: the machine's clock
/// plus an offset, which the store's clock no longer moves.
package struct ClockRecords {
    let database: Database
    /// The time of the machine's clock.
    let machineTime: Timestamp

    /// The time of an account's own clock; nil if the account follows the store's.
    func time(of account: String) throws -> Timestamp? {
        try SQLRequest<Timestamp>(
            "SELECT \(machineTime) + time_offset FROM account_clock WHERE account = \(account)"
        ).fetchOne(database)
    }

    /// The latest time of all own clocks; nil if every account follows the store's.
    func latestTime() throws -> Timestamp? {
        try SQLRequest<Timestamp>("SELECT \(machineTime) + max(time_offset) FROM account_clock").fetchOne(database)
    }

    /// The accounts with their own clocks, each with its time, in the order of their names.
    ///
    /// - Parameter limit: The maximum number of accounts.
    func all(limit: Int) throws -> [AccountTime] {
        try SQLRequest<Row>(
            """
            SELECT account, \(machineTime) + time_offset AS time FROM account_clock ORDER BY account LIMIT \(limit)
            """
        ).fetchAll(database).map { AccountTime(account: $0["account"], now: $0["time"]) }
    }

    func setTime(_ time: Timestamp, of account: String) throws {
        try database.insert(
            [
                "account": account,
                "time_offset": time.millisecondsSince1970 - machineTime.millisecondsSince1970,
            ], into: "account_clock", replacing: "account")
    }

    /// Lets every account follow the store's clock.
    func clear() throws { try database.execute(sql: "DELETE FROM account_clock") }

    /// True if the store knows an account: its queue has a payment, or its time was advanced.
    func isKnown(_ account: String) throws -> Bool {
        try SQLRequest<Bool>(
            """
            SELECT EXISTS (SELECT * FROM payment_transaction WHERE account = \(account))
                OR EXISTS (SELECT * FROM account_clock WHERE account = \(account))
            """
        ).fetchOne(database) ?? false
    }

    /// The condition of rows whose accounts follow a clock.
    ///
    /// - Parameter account: The account whose rows are meant; nil for all accounts that follow the store's clock.
    static func follows(_ account: String?) -> SQL {
        account.map { "account = \($0)" } ?? "account NOT IN (SELECT account FROM account_clock)"
    }
}

/// An account with its own clock, and its time.
package struct AccountTime: Hashable, Sendable {
    package let account: String
    package let now: Timestamp
}

extension Books {
    var clocks: ClockRecords { ClockRecords(database: database, machineTime: machineTime) }

    /// The time of an account: that of its own clock, or else the store's.
    func now(of account: String) throws -> Timestamp { isAtMoment ? now : try clocks.time(of: account) ?? now }

    /// The time of a clock.
    ///
    /// - Parameter account: The account; nil for the store's clock.
    /// - Throws: `StoreError`, `accountUnknown`.
    package func time(of account: String?) throws -> Timestamp {
        guard let account else { return now }
        try Store.check(account: account)
        guard try isKnown(account) else { throw StoreError.accountUnknown(account) }
        return try now(of: account)
    }

    /// True if the store knows an account: its queue has a payment, or its time was advanced.
    package func isKnown(_ account: String) throws -> Bool { try clocks.isKnown(account) }

    /// The accounts with their own clocks, each with its time, in the order of their names.
    package func accountTimes(limit: Int = .max) throws -> [AccountTime] { try clocks.all(limit: limit) }

    /// The same books at the time of an account.
    func of(_ account: String) throws -> Books { at(try now(of: account)) }

    func terms(of account: String) throws -> SubscriptionTerms {
        settings.terms(of: configuration, at: try now(of: account))
    }

    /// Advances a clock, without performing due events.
    ///
    /// - Parameter account: The account, which gets its own clock; nil for the store's clock.
    package func advance(by milliseconds: Int64, of account: String? = nil) throws {
        if let account {
            try clocks.setTime(try now(of: account).adding(milliseconds: milliseconds), of: account)
        } else {
            try state.setOffset(try state.offset() + milliseconds)
        }
    }

    /// Advances a clock to the next moment at which an event or a notification of its accounts is due, and performs the events.
    ///
    /// - Parameters:
    ///   - rest: The longest way, in milliseconds.
    ///   - account: The account; nil for the store's clock.
    /// - Returns: The rest of the way.
    func advanceToNextMoment(atMost rest: Int64, of account: String?) throws -> Int64 {
        _ = try catchUp()
        let start = try account.map(now(of:)) ?? now
        let next = [
            try subscriptions.nextDueDate(of: account), try notifications.nextAttemptDate(after: start, of: account),
        ].compactMap(\.self).min()
        let way = min(rest, next.map { max(0, $0.millisecondsSince1970 - start.millisecondsSince1970) } ?? rest)
        try advance(by: way, of: account)
        var advanced = self
        if account == nil { advanced.now = start.adding(milliseconds: way) }
        _ = try advanced.catchUp()
        return rest - way
    }

    /// The first subscription that is due by the clock of its account.
    func firstDue() throws -> CustomerSubscription? {
        try subscriptions.firstDue(until: now) ?? subscriptions.firstDue(by: clocks)
    }

    /// Performs the due events of each clock in order, each event at its own moment.
    ///
    /// - Parameter limit: The maximum number of events.
    /// - Returns: True if no due event is left.
    func catchUp(limit: Int = .max) throws -> Bool {
        var count = 0
        while let subscription = try firstDue(), let dueDate = subscription.dueDate {
            var changed = subscription
            let effects = changed.becomeDue(terms)
            guard count < limit else { return false }
            count += 1
            try at(dueDate).record(changed, effects)
        }
        return true
    }
}

/// For a service beside the store. As for `now`, a read error is reported by the next use case.
extension StoreClock: CustomerClocks {
    package var hasCustomers: Bool { read { try $0.latestTime() != nil } ?? false }

    package func time(ofBuyerOf transactionIdentifier: String) -> Timestamp? {
        read { try $0.time(ofBuyerOf: transactionIdentifier) } ?? nil
    }

    package func customers() -> [CustomerTime] { read { try $0.customers() } ?? [] }

    private func read<Value>(_ body: (ClockRecords) throws -> Value) -> Value? {
        let machineTime = store.machineClock.now()
        return try? store.queue.read { try body(ClockRecords(database: $0, machineTime: machineTime)) }
    }
}

extension ClockRecords {
    /// The time of the account of a sale, if the account has its own clock.
    fileprivate func time(ofBuyerOf transactionIdentifier: String) throws -> Timestamp? {
        try SQLRequest<Timestamp>(
            """
            SELECT \(machineTime) + time_offset FROM app_store_transaction JOIN account_clock USING (account)
            WHERE transaction_id = \(transactionIdentifier)
            """
        ).fetchOne(database)
    }

    /// The accounts with their own clocks that have bought anything, with the original transactions of their purchases.
    fileprivate func customers() throws -> [CustomerTime] {
        try all(limit: .max).map { clock in
            CustomerTime(
                account: clock.account, now: clock.now,
                originalTransactionIdentifiers: try SQLRequest<String>(
                    "SELECT DISTINCT original_transaction_id FROM app_store_transaction WHERE account = \(clock.account)"
                ).fetchAll(database))
        }
    }
}
