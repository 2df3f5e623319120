import Proofs

/// The key of a sum: a metric, on a day, for a product, a storefront and a currency.
package struct FigureKey: Hashable, Sendable {
    package let day: CalendarDay
    package let metric: FigureMetric
    package let subject: FigureSubject
    /// The ISO 4217 code; empty for a metric that is not money.
    package let currency: ByteKey

    package init(day: CalendarDay, metric: FigureMetric, subject: FigureSubject, currency: ByteKey = "") {
        self.day = day
        self.metric = metric
        self.subject = subject
        self.currency = currency
    }
}
