/// The causes of the explanations, for each customer and item on the last days of the months.
enum ExpectedCauses {
    static let all = {
        var all: [String: [String]] = [:]
        for customer in YearScript.customers {
            all["\(customer) bed/0"] = months(("ownedByEverybody", 12))
            for item in ["bed/1", "plus/1", "plus/2", "plus/3"] {
                all["\(customer) \(item)"] = months(("neverBought", 12))
            }
            // Nobody has claimed jo's gate of 6 June.
            all["\(customer) gate/1"] = months(("neverBought", 5), ("unclaimed", 7))
        }
        return all.merging(further) { $1 }
    }()

    private static let further = [
        "anna plus/1": months(("owned", 12)),
        // The subscription has had another product since 1 August.
        "ben plus/2": months(
            ("owned", 3), ("gracePeriod", 1), ("renewalFailed", 1), ("expired", 2), ("productChanged", 5)),
        "ben plus/1": months(("neverBought", 7), ("owned", 5)),
        "cleo plus/1": months(("neverBought", 1), ("owned", 3), ("productChanged", 4), ("expired", 4)),
        "cleo plus/2": months(("neverBought", 4), ("owned", 2), ("productChanged", 2), ("expired", 4)),
        "cleo plus/3": months(("neverBought", 6), ("owned", 2), ("expired", 4)),
        "dora plus/1": months(
            ("owned", 2), ("productChanged", 2), ("expired", 1), ("productChanged", 1), ("owned", 2), ("expired", 4)),
        "dora plus/2": months(
            ("neverBought", 2), ("owned", 2), ("expired", 1), ("owned", 1), ("productChanged", 2), ("expired", 4)),
        "eli plus/1": months(("neverBought", 9), ("owned", 1), ("expired", 2)),
        "eli plus/3": months(("neverBought", 2), ("owned", 2), ("expired", 5), ("productChanged", 1), ("expired", 2)),
        // A season of three months.
        "finn bed/1": months(("neverBought", 2), ("owned", 3), ("expired", 7)),
        // The refund is reversed on 1 June.
        "finn gate/1": months(("neverBought", 1), ("owned", 3), ("refunded", 1), ("owned", 7)),
        // Family sharing precedes the refusal of the day before.
        "gus gate/1": months(
            ("neverBought", 2), ("familyShared", 2), ("revokedByAppStore", 1), ("familyShared", 3),
            ("revokedByAppStore", 1),
            ("granted", 3)),
        "hana plus/1": months(("owned", 12)),
        "ivan plus/1": months(("owned", 6), ("revokedByTeam", 6)),
    ]

    private static func months(_ causes: (cause: String, months: Int)...) -> [String] {
        causes.flatMap { Array(repeating: $0.cause, count: $0.months) }
    }
}
