import Proofs

extension Grant {
    /// The end of the grant or its revocation; nil for no end.
    package var coverageEndsAt: Timestamp? { [endsAt, revocation?.revokedAt].compactMap(\.self).min() }

    /// The names of the usual durations, as RevenueCat's promotional products have them.
    private static let durations: [(name: String, period: String)] = [
        ("daily", "P1D"), ("three_day", "P3D"), ("weekly", "P1W"), ("two_week", "P2W"), ("monthly", "P1M"),
        ("two_month", "P2M"), ("three_month", "P3M"), ("six_month", "P6M"), ("yearly", "P1Y"),
    ]

    /// The name of the granted duration, such as `monthly`. It is `lifetime` without an end, and `custom` if no name fits.
    package var duration: String {
        guard let endsAt else { return "lifetime" }
        let exact = Self.durations.first { duration in
            SubscriptionPeriod(duration.period).map {
                grantedAt.adding($0, dayOfMonth: grantedAt.dayOfMonth).secondsSince1970 == endsAt.secondsSince1970
            } ?? false
        }
        return exact?.name ?? "custom"
    }
}
