import Catalog
import Proofs
import Testing

@Suite struct TimeRateTests {
    static let start = Timestamp(rfc3339: "2026-11-21T10:00:00Z")

    /// Apple's tables: the length of each period, its grace period and the duration of billing retry.
    @Test(
        arguments: [
            (TimeRate.monthlyRenewalEveryHour, "P1W", 900, 771, 7200),
            (.monthlyRenewalEveryHour, "P1M", 3600, 1800, 7200),
            (.monthlyRenewalEveryHour, "P2M", 7200, 1800, 7200), (.monthlyRenewalEveryHour, "P3M", 10_800, 1800, 7200),
            (.monthlyRenewalEveryHour, "P6M", 21_600, 1800, 7200),
            (.monthlyRenewalEveryHour, "P1Y", 43_200, 1800, 7200),
            (.monthlyRenewalEveryFifteenMinutes, "P1M", 900, 450, 1800),
            (.monthlyRenewalEveryFiveMinutes, "P1W", 180, 154, 600),
            (.monthlyRenewalEveryFiveMinutes, "P1M", 300, 150, 600),
            (.monthlyRenewalEveryFiveMinutes, "P1Y", 3600, 150, 600),
            (.monthlyRenewalEveryThirtySeconds, "P1W", 10, 9, 60),
            (.monthlyRenewalEveryThirtySeconds, "P6M", 180, 15, 60),
            (.oneRenewalEveryFifteenMinutes, "P1Y", 900, 900, 1800), (.oneRenewalEveryTwoSeconds, "P1W", 2, 2, 4),
            (.oneSecondIsOneDay, "P1M", 30, 16, 60),
            (.realTime, "P1W", 604_800, 518_400, 5_184_000), (.realTime, "P1M", 30 * 86_400, 1_382_400, 5_184_000),
            (.realTime, "P1Y", 365 * 86_400, 1_382_400, 5_184_000),
        ] as [(TimeRate, String, Int64, Int64, Int64)])
    func `a period has the length of Apple's tables`(
        rate: TimeRate,
        text: String,
        seconds: Int64,
        grace: Int64,
        retry: Int64
    ) throws {
        let start = try #require(Self.start)
        let period = try #require(SubscriptionPeriod(text))
        let end = rate.end(of: period, from: start, dayOfMonth: start.dayOfMonth)
        #expect(end.secondsSince1970 - start.secondsSince1970 == seconds)
        #expect(rate.gracePeriodSeconds(for: period) == grace)
        #expect(rate.billingRetrySeconds == retry)
        #expect(rate.commitmentBillingRetrySeconds == retry * 3 / 2)
    }

    @Test(arguments: [
        ("2026-01-31T12:00:00Z", "P1M", 31, "2026-02-28T12:00:00Z"),
        ("2026-02-28T12:00:00Z", "P1M", 31, "2026-03-31T12:00:00Z"),
        ("2028-01-31T23:59:59Z", "P1M", 31, "2028-02-29T23:59:59Z"),
        ("2026-11-30T12:00:00Z", "P3M", 30, "2027-02-28T12:00:00Z"),
        ("2028-02-29T12:00:00Z", "P1Y", 29, "2029-02-28T12:00:00Z"),
        ("2026-12-15T12:00:00Z", "P1M", 15, "2027-01-15T12:00:00Z"),
        ("2026-12-28T12:00:00Z", "P2W", 28, "2027-01-11T12:00:00Z"),
        ("2026-12-31T12:00:00Z", "P3D", 31, "2027-01-03T12:00:00Z"),
    ])
    func `a month ends on the same day if it has that day`(start: String, period: String, day: Int, end: String) throws
    {
        let moment = try #require(Timestamp(rfc3339: start))
        let period = try #require(SubscriptionPeriod(period))
        #expect(moment.adding(period, dayOfMonth: day).rfc3339 == end)
    }

    @Test func `a rate is found by its name and number`() {
        for rate in TimeRate.allCases { #expect(TimeRate(name: rate.name) == rate) }
        #expect(TimeRate(name: "fast") == nil)
        #expect(TimeRate(rawValue: 14) == nil)
    }
}
