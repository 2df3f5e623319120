import Proofs

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

    /// The time of a clock.
    ///
    /// - Parameter account: The account; nil for the store's clock.
    /// - Throws: `StoreError`, `accountUnknown`.
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

    package func settings() throws(StoreError) -> StoreSettings {
        try read(\.settings)
    }

    /// Changes the store's settings.
    package func update(_ body: (inout StoreSettings) -> Void) throws(StoreError) -> StoreSettings {
        try write { books in
            // Events due before the change happened under the earlier settings.
            var settings = books.settings
            body(&settings)
            guard Storefront(countryCode: settings.storefront) != nil else {
                throw StoreError.storefrontNotFound(settings.storefront)
            }
            try books.state.setSettings(settings)
            return settings
        }
    }
}

/// A step of a clock of the store.
extension TimeStep {
    /// The length of the step from a moment, in seconds.
    ///
    /// - Throws: `StoreError`, `invalidAction`, for a negative step or a step of more than ten years.
    package func seconds(from start: Timestamp) throws(StoreError) -> Int64 {
        do { return try length(from: start) } catch { throw .invalidAction(error.message) }
    }
}

/// A change of a subscription that became due.
package struct DueEvent: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case renewed
        case renewalFailed
        case gracePeriodEnded
        case expired
    }

    /// The kinds by the notifications about them.
    fileprivate static let kinds: [NotificationTypeV2: Kind] = [
        .didRenew: .renewed, .didFailToRenew: .renewalFailed, .gracePeriodExpired: .gracePeriodEnded,
        .expired: .expired,
    ]

    package let kind: Kind
    /// The date, by the account's clock.
    package let date: Timestamp
    package let account: String
    package let productIdentifier: String
    package let transactionIdentifier: String
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
}
