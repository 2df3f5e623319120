import Commerce

/// The key of a sum: a metric, on a day, of a product, a storefront and a currency.
package struct FigureKey: Hashable, Sendable {
    package let day: CalendarDay
    package let metric: FigureMetric
    package let subject: FigureSubject
    /// ISO 4217; empty for a metric that is no money.
    package let currency: ByteKey

    package init(day: CalendarDay, metric: FigureMetric, subject: FigureSubject, currency: ByteKey = "") {
        self.day = day
        self.metric = metric
        self.subject = subject
        self.currency = currency
    }
}
