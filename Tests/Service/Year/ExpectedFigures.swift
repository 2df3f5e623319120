/// The figures of the year by month, from January to December, as they follow from the sales by the definitions of
/// `Documentation/Figures.md`.
///
/// The sales, by day and price in thousandths; trials are in brackets:
///
///     anna   basic [01-04] 01-11 02-11 03-11 4990, 04-11 to 12-11 5990: nine times, the one of June paid on the 15th
///     ben    premium 01-18 02-18 4990, 03-18 9990; basic for six months 08-01 9990
///     cleo   basic [02-01] 03-01 4990, 04-01 05-01 1990; premium 05-08 06-08 9990; basic 07-08 4990; duo 07-20 08-20 6990
///     dora   basic [01-20] 01-27 02-27 4990; premium 03-01 6990, 04-01 06-05 9990; basic 07-05 08-05 1990
///     eli    duo 03-02 6990, 04-02 7990; basic [10-03] 10-10 4990
///     finn   3 seeds 02-02 2970; gate 02-20 19990; season 03-10 4990; seeds 07-07 990 EUR
///     hana   basic for a year 01-15 49990
///     ivan   basic [01-13] 01-20 02-24 4990; for a year 03-24 49990
///
/// Gus has paid nothing, finn's second gate is the first, and nobody has redeemed jo's. Refunds that were reversed are none:
/// finn's seeds (02-12) and ivan's period of January (04-05) stay.
enum ExpectedFigures {
    static let all =
        [
            "units: 5 8 7 4 3 3 5 4 1 2 1 1",
            // The three seeds are one.
            "transactions: 5 6 7 4 3 3 5 4 1 2 1 1",
            "without-price: 0 0 0 0 0 0 0 0 0 0 0 0",
            "revenue EUR: 0 0 0 0 0 0 990 0 0 0 0 0",
            // January: 4 × 4990 + 49990. February: 4 × 4990 + 2970 + 19990. March: 3 × 4990 + 9990 + 2 × 6990 + 49990.
            // April: 5990 + 1990 + 9990 + 7990. May: 5990 + 1990 + 9990. June: 5990 + 2 × 9990. July: 5990 + 4990 + 6990 + 1990.
            // August: 5990 + 9990 + 6990 + 1990. October: 5990 + 4990.
            "revenue USD: 69950 42920 88930 25960 17970 25970 19960 24960 5990 10980 5990 5990",
            "refunds: 0 1 0 1 0 0 0 0 0 0 0 0",
            "refunded-revenue USD: 0 2970 0 4990 0 0 0 0 0 0 0 0",
            // Ivan's period was bought in January.
            "refund-rate: 1 1 0 0 0 0 0 0 0 0 0 0 of 5 6 7 4 3 3 5 4 1 2 1 1",
            // January: anna, ben, dora, hana and ivan. February: cleo and finn. March: eli.
            "new-customers: 5 2 1 0 0 0 0 0 0 0 0 0",
            // January and February: anna, ben, dora, hana and ivan. March and April: with cleo and eli; ben is in the
            // grace period until 05-04. May: without ben, dora and eli. June and July: with dora. August: with ben. September:
            // without cleo and dora. October: with eli. November: without eli.
            "active-subscriptions: 5 5 7 7 4 5 5 6 4 5 4 4",
            // Resubscribed: ivan on 02-24, after four days without; dora on 06-05, ben on 08-01, eli on 10-10. Churned: ivan on
            // 02-20, dora on 05-01, eli on 05-02, ben on 05-04, dora on 09-05, cleo on 09-20, eli on 11-10. What changes from
            // product to product stays one subscription.
            "subscription-movement: 5 0 2 0 -3 1 0 1 -2 1 -1 0; changed 0 0 0 0 0 0 0 0 0 0 0 0; "
                + "churned 0 -1 0 0 -3 0 0 0 -2 0 -1 0; new 5 0 2 0 0 0 0 0 0 0 0 0; "
                + "resubscribed 0 1 0 0 0 1 0 1 0 1 0 0",
            // February: anna, ben, dora. March: anna, ben, dora's upgrade, ivan's year. April: anna, cleo, dora, eli. May: anna
            // and cleo twice. June: anna and cleo. July: anna, cleo twice, dora. August: anna, cleo, dora. Then anna. A first
            // payment after a trial is none.
            "renewals: 0 3 4 4 3 2 4 3 1 1 1 1",
            // Those who ended less those who came back, by those active at the end of the month before.
            "churn: 0 0 0 0 3 -1 0 -1 2 -1 1 0 of 0 5 5 7 7 4 5 5 6 4 5 4",
            // Cleo's trial of February lasts until 03-01.
            "active-trials: 0 1 0 0 0 0 0 0 0 0 0 0",
            "new-trials: 3 1 0 0 0 0 0 0 0 1 0 0",
            "conversions: 3 0 1 0 0 0 0 0 0 1 0 0",
            "trial-conversion: 3 1 0 0 0 0 0 0 0 1 0 0 of 3 1 0 0 0 0 0 0 0 1 0 0",
            // A year of 49990 is 4165 a month (hana and, from March on, ivan), six months of 9990 are 1665 (ben, from August on).
            // January and February: 4 × 4990 + 4165. March: 2 × 4990 + 9990 + 2 × 6990 + 8330. April: 5990 + 1990 + 2 × 9990 + 7990
            // + 8330. May: 5990 + 9990 + 8330. June: with another 9990. July: 5990 + 6990 + 1990 + 8330. August: with 1665.
            // September: 5990 + 1665 + 8330. October: with 4990.
            "mrr USD: 24125 24125 42280 44280 24310 34300 23300 24965 15985 20975 15985 15985",
            // Changed, March: ben + 5000, dora + 2000, ivan 4165 - 4990. April: anna + 1000, cleo - 3000, dora + 3000,
            // eli + 1000. May: cleo 9990 - 1990. July: cleo 4990 - 9990 and 6990 - 4990, dora 1990 - 9990.
            "mrr-movement USD: 24125 0 18155 2000 -19970 9990 -11000 1665 -8980 4990 -4990 0; "
                + "changed 0 0 6175 2000 8000 0 -11000 0 0 0 0 0; "
                + "churned 0 -4990 0 0 -27970 0 0 0 -8980 0 -4990 0; "
                + "new 24125 0 11980 0 0 0 0 0 0 0 0 0; resubscribed 0 4990 0 0 0 9990 0 1665 0 4990 0 0",
            // Twelve times the MRR.
            "arr USD: 289500 289500 507360 531360 291720 411600 279600 299580 191820 251700 191820 191820",
            "arppu EUR: 0 0 0 0 0 0 990 0 0 0 0 0 of 0 0 0 0 0 0 1 0 0 0 0 0",
            // January and February: five each, finn with two payments. March: anna, ben, cleo, dora, eli, finn, ivan. May: anna, and
            // cleo with two. July: anna, dora, and cleo with two.
            "arppu USD: 69950 42920 88930 25960 17970 25970 19960 24960 5990 10980 5990 5990 of 5 5 7 4 2 3 3 4 1 2 1 1",
            "lifetime-value EUR: 0 0 0 0 0 0 990 990 990 990 990 990 of 0 0 0 0 0 0 1 1 1 1 1 1",
            // The revenue up to each month, less 2970 from February on and 4990 from April on. Finn is new in February, cleo and eli
            // in March.
            "lifetime-value USD: 69950 109900 198830 219800 237770 263740 283700 308660 314650 325630 331620 337610 "
                + "of 5 6 8 8 8 8 8 8 8 8 8 8",
        ] + retention

    /// January: anna, ben, dora, hana and ivan, of whom anna, hana and ivan are there in each month, and ben and dora as active
    /// subscriptions. February: finn, who also pays in March and July. March: cleo until August, and eli until April and in
    /// October. The months go on until January 2028, whose end ben, hana and ivan have paid for.
    private static let retention = [
        (5, 1, 2), (5, 1, 2), (5, 0, 1), (5, 0, 1), (3, 0, 1), (4, 1, 1), (4, 0, 0), (5, 0, 1), (4, 0, 0), (4, 0, 0),
        (4, 0, 0), (4, 0, 0), (3, 0, 0),
    ].enumerated().map { monthsAfter, stayed in
        let sizes = monthsAfter < 11 ? "5 1 2" : monthsAfter == 11 ? "5 1 0" : "5 0 0"
        let rest = " 0 0 0 0 0 0 0 0 0"
        return "retention \(monthsAfter): \(stayed.0) \(stayed.1) \(stayed.2)\(rest) of \(sizes)\(rest)"
    }

    /// Some of them by product, storefront and origin: the sums are the same.
    static let breakdowns = [
        // Anna; dora in January, February, July and August; ivan in January and February; cleo in March and April; ben from
        // August on; eli in October.
        "active-subscriptions basic.monthly: 3 3 2 2 1 1 2 3 2 3 2 2",
        "active-subscriptions basic.yearly: 1 1 2 2 2 2 2 2 2 2 2 2",
        "active-subscriptions duo.monthly: 0 0 1 1 0 0 1 1 0 0 0 0",
        // Ben until April, dora in March, April and June, cleo in May and June.
        "active-subscriptions premium.monthly: 1 1 2 2 1 2 0 0 0 0 0 0",
        "revenue basic.monthly USD: 14970 14970 9980 7980 7980 5990 12970 17970 5990 10980 5990 5990",
        "revenue basic.yearly USD: 49990 0 49990 0 0 0 0 0 0 0 0 0",
        "revenue duo.monthly USD: 0 0 6990 7990 0 0 6990 6990 0 0 0 0",
        "revenue gate USD: 0 19990 0 0 0 0 0 0 0 0 0 0",
        "revenue premium.monthly USD: 4990 4990 16980 9990 9990 19980 0 0 0 0 0 0",
        "revenue season USD: 0 0 4990 0 0 0 0 0 0 0 0 0",
        "revenue seeds EUR: 0 0 0 0 0 0 990 0 0 0 0 0",
        "revenue seeds USD: 0 2970 0 0 0 0 0 0 0 0 0 0",
        "units DEU: 0 0 0 0 0 0 1 0 0 0 0 0",
        "units USA: 5 8 7 4 3 3 4 4 1 2 1 1",
        "units local/Sandbox: 5 8 7 4 3 3 5 4 1 2 1 1",
    ]
}
