import Commerce

extension Store {
    public var clock: StoreClock { StoreClock(store: self) }

    /// Moves the store's clock on. Everything due in between happens, in order, each at its own moment.
    ///
    /// - Returns: The time in the store after it.
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

    /// Moves the store's clock on by a period of the calendar.
    public func advance(_ period: SubscriptionPeriod) throws(StoreError) -> Timestamp {
        try advance(TimeStep.period(period))
    }

    /// Moves the store's clock on by a number of seconds.
    public func advance(seconds: Int64) throws(StoreError) -> Timestamp {
        try advance(TimeStep.seconds(seconds))
    }

    /// Lets everything happen that has become due.
    public func catchUp() throws(StoreError) {
        try write { _ in }
    }

    public func settings() throws(StoreError) -> StoreSettings {
        try read(\.settings)
    }

    /// Changes how the store behaves from now on.
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
