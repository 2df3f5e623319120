import Proofs

extension Store {
    package var clock: StoreClock { StoreClock(store: self) }

    /// The longest time that a step of the clock waits for all notifications. A server that answers more slowly than new ones become
    /// due would hold the clock forever.
    package static let longestDelivery = Duration.seconds(600)
    /// The longest time in which a notification is delivered while the clock waits for it.
    private static let deliveryTime = Duration.seconds(5)
    /// The pause between two looks at the deliveries.
    private static let deliveryCheckInterval = Duration.milliseconds(2)

    /// Advances the store's clock from one moment at which something is due to the next. The events of each moment happen, and
    /// their notifications are delivered, before the clock passes it. So a service beside the store never sees an end before the
    /// renewal.
    ///
    /// The clock does not wait if no process delivers (`beginDelivering`), or one notification takes longer than five seconds.
    ///
    /// - Parameter limit: The longest time to wait for all deliveries. The rest of the step then takes place at once.
    /// - Returns: The new time of the store.
    package func advance(_ step: TimeStep, deliveringWithin limit: Duration) async throws(StoreError) -> Timestamp {
        let end = ContinuousClock.now + limit
        do {
            try await catchUpInBackground()
            var rest = try step.seconds(from: now) * 1000
            var isDelivered = try await waitForDeliveries(until: end)
            while rest > 0, isDelivered, .now < end {
                let remaining = rest
                rest = try await committing { try $0.advanceToNextMoment(atMost: remaining) }
                isDelivered = try await waitForDeliveries(until: end)
            }
            if rest > 0 {
                let remaining = rest
                try await committing { _ = try $0.advance(by: remaining) }
                try await catchUpInBackground()
            }
            return now
        } catch {
            throw fault(error)
        }
    }

    private func catchUpInBackground() async throws {
        while try await !committing({ try $0.catchUp(limit: Self.catchUpLimit) }) {}
    }

    /// - Returns: True if all due notifications are delivered. False if nothing is to be sent, or nobody delivers.
    private func waitForDeliveries(until end: ContinuousClock.Instant) async throws -> Bool {
        guard try settings().notificationsURL != nil else { return false }
        var (awaited, limit): (NotificationDelivery?, ContinuousClock.Instant) = (nil, .now)
        while let next = try nextDelivery() {
            let now = ContinuousClock.now
            if next != awaited {
                guard isDelivering else { return false }
                (awaited, limit) = (next, now + Self.deliveryTime)
            }
            guard now < min(limit, end) else { return false }
            try await Task.sleep(for: Self.deliveryCheckInterval)
        }
        return true
    }

    /// Advances the store's clock at once. The due events in between happen in order, each at its own moment.
    ///
    /// - Returns: The new time of the store.
    package func advance(_ step: TimeStep) throws(StoreError) -> Timestamp {
        let seconds = try step.seconds(from: now)
        let offset: Int64 = try writeState { state in
            try state.setOffset(try state.offset() + seconds * 1000)
            return try state.offset()
        }
        let moment = Timestamp(millisecondsSince1970: machineClock.now().millisecondsSince1970 + offset)
        try catchUp()
        return moment
    }

    /// Advances the store's clock by a period of the calendar.
    package func advance(_ period: SubscriptionPeriod) throws(StoreError) -> Timestamp {
        try advance(TimeStep.period(period))
    }

    /// Advances the store's clock by a number of seconds.
    package func advance(seconds: Int64) throws(StoreError) -> Timestamp {
        try advance(TimeStep.seconds(seconds))
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
            try StateRecords(database: books.database).setSettings(settings)
            return settings
        }
    }
}
