extension ResetResource {
    package init(_ result: ResetResult) {
        self.init(
            sales: result.sales, notifications: result.notifications, clock: result.clock, settings: result.settings)
    }
}
