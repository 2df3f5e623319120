import GRDB
import HTTPSupport
import Proofs
import Vocabulary

/// The Play's clock: the machine's clock plus an offset (`PlayBooks.advance`). Accounts follow it, unless they have their own
/// (`ClockRecords`).
///
/// A service beside the Play knows purchases by their orders and by the names of their tokens.
package struct PlayClock: CustomerClocks {
    let play: GooglePlay
    /// The names by which the service knows purchase tokens; nil for a clock that only says the time.
    let names: PurchaseTokenNames?

    package func now() -> Timestamp { play.now }

    package var hasCustomers: Bool {
        names != nil
            && play.readings.value(.hasCustomers, before: false) { try read { try $0.clocks.latestTime() != nil } }
    }

    package func time(ofBuyerOf transactionIdentifier: String) -> Timestamp? {
        guard let names, hasCustomers else { return nil }
        return play.readings.attempt { try read { try $0.time(ofBuyerOf: transactionIdentifier, naming: names) } }
            ?? nil
    }

    package func customers() -> [CustomerTime] {
        guard let names else { return [] }
        return play.readings.value(.customers, before: []) {
            try read { books in
                try books.clocks.all(limit: .max).map { clock in
                    CustomerTime(
                        account: clock.account, now: clock.now,
                        originalTransactionIdentifiers: try books.tokens(of: clock.account).map { names.name(of: $0) })
                }
            }
        }
    }

    private func read<Value>(_ body: (PlayBooks) throws -> Value) throws -> Value {
        try play.queue.read { try body(try play.books($0)) }
    }
}

/// The latest of the Play's clock and its accounts' own clocks. A verifier of the Play's signatures on the same machine uses it.
package struct LatestPlayClock: WallClock {
    let play: GooglePlay

    package func now() -> Timestamp { play.latestTime }
}

extension GooglePlay {
    package var clock: PlayClock { PlayClock(play: self, names: nil) }
    package var latestClock: LatestPlayClock { LatestPlayClock(play: self) }

    /// The clocks of the Play and of its customers, for a service.
    ///
    /// - Parameter names: The names by which the service knows purchase tokens.
    package func clock(naming names: PurchaseTokenNames) -> PlayClock { PlayClock(play: self, names: names) }

    fileprivate var latestTime: Timestamp {
        let offset = readings.value(.latestOffset, before: Int64(0)) {
            try queue.read { database in
                let books = try books(database)
                return try books.latestTime().millisecondsSince1970 - books.machineTime.millisecondsSince1970
            }
        }
        return machineClock.now().adding(milliseconds: offset)
    }
}

extension PlayBooks {
    var clocks: ClockRecords { ClockRecords(database: database, machineTime: machineTime) }

    func latestTime() throws -> Timestamp { max(now, try clocks.latestTime() ?? now) }

    /// The time of a clock.
    ///
    /// - Parameter account: The account; nil for the Play's clock.
    /// - Throws: `PlayError`, `accountUnknown`.
    package func time(of account: String?) throws -> Timestamp {
        guard let account else { return now }
        guard LocalAccount.isValid(account) else { throw PlayError.accountInvalid(account) }
        let isKnown = try SQLRequest<Bool>(
            """
            SELECT EXISTS (SELECT * FROM purchase WHERE account = \(account))
                OR EXISTS (SELECT * FROM subscription_purchase WHERE account = \(account))
                OR EXISTS (SELECT * FROM account_clock WHERE account = \(account))
            """
        ).fetchOne(database)
        guard isKnown == true else { throw PlayError.accountUnknown(account) }
        return try of(account).now
    }

    /// The accounts with their own clocks, each with its time, in the order of their names.
    package func accountTimes() throws -> [AccountTime] { try clocks.all(limit: .max) }

    /// The same books at the time of an account.
    func of(_ account: String) throws -> PlayBooks {
        var books = self
        books.now = try clocks.time(of: account) ?? now
        return books
    }

    /// The same books at the time of the customer whom a call of the API is about: the buyer of a purchase token or of an order.
    func at(_ call: PublisherCall) throws -> PlayBooks {
        guard try clocks.latestTime() != nil else { return self }
        let account =
            if let token = call.path["token"] {
                try purchases.purchase(token: token)?.account ?? subscriptions.purchase(token: token)?.account
            } else {
                try call.path["orderId"].flatMap { try ordered($0)?.account }
            }
        return try account.map { try of($0) } ?? self
    }

    /// Advances a clock, and performs what becomes due.
    ///
    /// - Parameter account: The account, which gets its own clock; nil for the Play's clock.
    /// - Returns: The new time, and what has become due by this clock.
    /// - Throws: `PlayError`: `accountUnknown`; `invalidAction` for a step that is too long.
    package func advance(
        _ step: TimeStep, of account: String? = nil
    ) throws -> (now: Timestamp, events: [DueEvent]) {
        let start = try time(of: account)
        let seconds: Int64
        do { seconds = try step.length(from: start) } catch { throw PlayError.invalidAction(error.message) }
        let time = start.adding(seconds: seconds)
        if let account {
            try clocks.setTime(time, of: account)
        } else {
            let offset = time.millisecondsSince1970 - machineTime.millisecondsSince1970
            try database.insert(["name": "clockOffset", "value": offset], into: "setting", replacing: "name")
        }
        var advanced = self
        advanced.now = time
        return (time, try advanced.catchUp(of: account))
    }

    /// Performs all due events of each clock, each event at its own moment.
    func catchUp() throws {
        _ = try catchUp(of: nil)
        for clock in try clocks.all(limit: .max) { _ = try of(clock.account).catchUp(of: clock.account) }
    }

    fileprivate func tokens(of account: String) throws -> [String] {
        try SQLRequest<String>(
            """
            SELECT token FROM purchase WHERE account = \(account)
            UNION ALL SELECT token FROM subscription_purchase WHERE account = \(account)
            """
        ).fetchAll(database)
    }

    /// The time of the account that bought a transaction of a service, if the account has its own clock.
    ///
    /// A charge of a subscription has its order as the transaction, and any other purchase the name of its token. A product beside the
    /// first one of a purchase has its identifier behind them, after a colon.
    fileprivate func time(
        ofBuyerOf transactionIdentifier: String, naming names: PurchaseTokenNames
    ) throws -> Timestamp? {
        let identifier = transactionIdentifier.prefix { $0 != ":" }
        if let account = try ordered(String(identifier))?.account { return try clocks.time(of: account) }
        guard identifier.hasPrefix(PurchaseTokenNames.prefix) else { return nil }
        // A charge without an order has the seconds of its end behind the name.
        let name = identifier.prefix { $0 != "." }
        return try clocks.all(limit: .max).first { clock in
            try tokens(of: clock.account).contains { names.name(of: $0) == name }
        }?.now
    }
}
