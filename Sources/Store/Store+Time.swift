import Commerce

extension Store {
    /// How far time may be moved at once: ten years of what is due in between happen in one go.
    private static let maximumAdvance: Int64 = 10 * 366 * 86_400

    public var clock: StoreClock { StoreClock(store: self) }

    /// Moves the store's clock on. Everything due in between happens, in order, each at its own moment.
    ///
    /// - Returns: What time it is then.
    public func advance(seconds: Int64) throws(StoreError) -> Timestamp {
        guard (0...Self.maximumAdvance).contains(seconds) else {
            throw .invalidAction("Time goes forward only, and at most ten years at once.")
        }
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
        let start = now
        let end = start.adding(period, dayOfMonth: start.dayOfMonth)
        return try advance(seconds: (end.millisecondsSince1970 - start.millisecondsSince1970) / 1000)
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
            // What was due before has happened by the settings of before.
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
