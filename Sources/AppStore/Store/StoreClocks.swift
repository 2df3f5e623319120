import GRDB
import HTTPSupport
import Proofs
import Vocabulary

/// The store's clock: the machine's clock plus an offset (`Store.advance`). Accounts follow it, unless they have their own
/// (`ClockRecords`).
package struct StoreClock: WallClock {
    let store: Store

    package func now() -> Timestamp { store.now }
}

/// The latest of the store's clock and its accounts' own clocks. A verifier of the store's proofs on the same machine uses it: to others,
/// the proofs of a customer who is ahead would be of the future.
package struct LatestStoreClock: WallClock {
    let store: Store

    package func now() -> Timestamp { store.latestTime }
}

extension Store {
    package var clock: StoreClock { StoreClock(store: self) }
    package var latestClock: LatestStoreClock { LatestStoreClock(store: self) }

    /// The longest time that a step of the clock waits for all notifications. A server that answers more slowly than new ones become
    /// due would hold the clock forever.
    package static let longestDelivery = Duration.seconds(600)
    /// The longest time in which a notification is delivered while the clock waits for it.
    private static let deliveryTime = Duration.seconds(5)
    /// The first pause between two looks at a delivery. Each later one is twice as long, up to the longest.
    private static let deliveryCheckInterval = Duration.milliseconds(2)
    private static let longestDeliveryCheckInterval = Duration.milliseconds(32)

    /// Advances a clock from one moment at which something is due to the next. The events of each moment happen, and their
    /// notifications are delivered, before the clock passes it. So a service beside the store never sees an end before the
    /// renewal.
    ///
    /// The clock does not wait if no process delivers (`beginDelivering`), or one notification takes longer than five seconds.
    ///
    /// - Parameters:
    ///   - account: The account whose time advances, and no other's; nil for the store's clock, and so for all accounts without
    ///     their own.
    ///   - limit: The longest time to wait for all deliveries. The rest of the step then takes place at once.
    /// - Returns: The new time of the clock.
    package func advance(
        _ step: TimeStep,
        of account: String? = nil,
        deliveringWithin limit: Duration
    ) async throws(StoreError) -> Timestamp {
        let end = ContinuousClock.now + limit
        do {
            try await catchUpInBackground()
            var rest = try step.seconds(from: try time(of: account)) * 1000
            var isDelivered = try await waitForDeliveries(until: end)
            while rest > 0, isDelivered, .now < end {
                let remaining = rest
                rest = try await committing { try $0.advanceToNextMoment(atMost: remaining, of: account) }
                isDelivered = try await waitForDeliveries(until: end)
            }
            if rest > 0 {
                let remaining = rest
                try await committing { _ = try $0.advance(by: remaining, of: account) }
                try await catchUpInBackground()
            }
            return try time(of: account)
        } catch {
            throw fault(error)
        }
    }

    package func time(of account: String?) throws(StoreError) -> Timestamp { try read { try $0.time(of: account) } }

    private func catchUpInBackground() async throws {
        while try await !committing({ try $0.catchUp(limit: Self.catchUpLimit) }) {}
    }

    /// - Returns: True if all due notifications are delivered. False if nothing is to be sent, or nobody delivers.
    private func waitForDeliveries(until end: ContinuousClock.Instant) async throws -> Bool {
        guard try settings().notificationsURL != nil else { return false }
        var (awaited, limit): (NotificationDelivery?, ContinuousClock.Instant) = (nil, .now)
        var pause = Self.deliveryCheckInterval
        while let next = try nextDelivery() {
            let now = ContinuousClock.now
            if next != awaited {
                guard isDelivering else { return false }
                (awaited, limit) = (next, now + Self.deliveryTime)
                pause = Self.deliveryCheckInterval
            }
            guard now < min(limit, end) else { return false }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestDeliveryCheckInterval)
        }
        return true
    }

    /// Performs all due events.
    package func catchUp() throws(StoreError) {
        try write { _ in }
    }
}

extension TimeStep {
    /// The length of the step from a moment, in seconds.
    ///
    /// - Throws: `StoreError`, `invalidAction`, for a negative step or a step of more than ten years.
    package func seconds(from start: Timestamp) throws(StoreError) -> Int64 {
        do { return try length(from: start) } catch { throw .invalidAction(error.message) }
    }
}

extension DueEvent {
    /// The kinds by the notifications about them.
    fileprivate static let kinds: [NotificationTypeV2: Kind] = [
        .didRenew: .renewed, .didFailToRenew: .renewalFailed, .gracePeriodExpired: .gracePeriodEnded,
        .expired: .expired,
    ]
}

extension Books {
    /// The due events of a clock after one moment until another, the oldest first.
    ///
    /// - Parameters:
    ///   - account: The account; nil for all that follow the store's clock.
    ///   - limit: The maximum number of events.
    package func dueEvents(
        after start: Timestamp,
        until end: Timestamp,
        of account: String? = nil,
        limit: Int = .max
    ) throws -> [DueEvent] {
        try notifications.notifications(
            Array(DueEvent.kinds.keys), from: Timestamp(millisecondsSince1970: start.millisecondsSince1970 + 1),
            until: Timestamp(millisecondsSince1970: end.millisecondsSince1970 + 1), of: account, limit: limit
        ).compactMap { notification in
            guard let kind = DueEvent.kinds[notification.type],
                let sold = try notification.transactionIdentifier.flatMap(transactions.transaction)
            else { return nil }
            return DueEvent(
                kind: kind, date: notification.date, account: sold.account,
                productIdentifier: sold.productIdentifier, transactionIdentifier: sold.transactionIdentifier)
        }
    }

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
    package func isKnown(_ account: String) throws -> Bool {
        try SQLRequest<Bool>(
            """
            SELECT EXISTS (SELECT * FROM payment_transaction WHERE account = \(account))
                OR EXISTS (SELECT * FROM account_clock WHERE account = \(account))
            """
        ).fetchOne(database) ?? false
    }

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
            account == nil ? try externalPurchases.nextReminder() : nil,
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

    /// True if an event is due.
    func isDue() throws -> Bool { try firstDue() != nil || externalPurchases.firstDue(at: now) != nil }

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
        while let (token, date) = try externalPurchases.firstDue(at: now) {
            guard count < limit else { return false }
            count += 1
            try at(date).remind(of: token)
        }
        return true
    }
}

/// For a service beside the store.
extension StoreClock: CustomerClocks {
    package var hasCustomers: Bool {
        store.readings.value(.hasCustomers, before: false) { try read { try $0.latestTime() != nil } }
    }

    package func time(ofBuyerOf transactionIdentifier: String) -> Timestamp? {
        store.readings.attempt { try read { try $0.time(ofBuyerOf: transactionIdentifier) } } ?? nil
    }

    package func customers() -> [CustomerTime] {
        store.readings.value(.customers, before: []) { try read { try $0.customers() } }
    }

    private func read<Value>(_ body: (ClockRecords) throws -> Value) throws -> Value {
        let machineTime = store.machineClock.now()
        return try store.queue.read { try body(ClockRecords(database: $0, machineTime: machineTime)) }
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
