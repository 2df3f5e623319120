import Commerce

extension Store {
    public var clock: StoreClock { StoreClock(store: self) }

    /// Advances the store's clock. The due events in between happen in order, each at its own moment.
    ///
    /// - Returns: The new time of the store.
    public func advance(_ step: TimeStep) throws(StoreError) -> Timestamp {
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
    public func advance(_ period: SubscriptionPeriod) throws(StoreError) -> Timestamp {
        try advance(TimeStep.period(period))
    }

    /// Advances the store's clock by a number of seconds.
    public func advance(seconds: Int64) throws(StoreError) -> Timestamp {
        try advance(TimeStep.seconds(seconds))
    }

    /// Performs all due events.
    public func catchUp() throws(StoreError) {
        try write { _ in }
    }

    public func settings() throws(StoreError) -> StoreSettings {
        try read(\.settings)
    }

    /// Changes the store's settings.
    public func update(_ body: (inout StoreSettings) -> Void) throws(StoreError) -> StoreSettings {
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
