import PlayStore

/// What happens in the year of anna's subscriptions on Google Play.
enum PlayYearEvent: Sendable, CustomStringConvertible {
    /// Anna subscribes.
    ///
    /// - Parameters:
    ///   - offer: The identifier of an offer.
    ///   - mode: The mode in which her subscription is replaced; nil for a new one.
    case subscribes(String, offer: String? = nil, mode: ReplacementMode? = nil)
    case performs(SubscriptionAction)
    case raisesPrice(Int)

    var description: String {
        switch self {
        case .subscribes(let product, let offer, let mode):
            "anna subscribes to \(product)" + (offer.map { " with the offer \($0)" } ?? "")
                + (mode.map { ", \($0.rawValue)" } ?? "")
        case .performs(let action): "\(action.rawValue)"
        case .raisesPrice(let price): "the price of premium rises to \(price), with consent"
        }
    }
}

/// The script, and what has to follow from it by Google's documentation, whatever the journal says.
extension PlayYear {
    /// A trial, an upgrade, a grace period, account hold, its recovery, a pause, a higher price, a refund, a new beginning and the end.
    static let events: [String: [PlayYearEvent]] = [
        "01-04": [.subscribes("basic", offer: "trial")],
        // Half of the period is left, and half of the difference is charged: 2.50.
        "02-25": [.subscribes("premium", mode: .chargeProratedPrice)],
        // The renewal of 11 April is declined, and paid in the grace period of three days.
        "04-01": [.performs(.declinePayments)],
        "04-13": [.performs(.acceptPayments)],
        // That of 11 May is paid six days after the grace period. The period begins with the payment.
        "05-01": [.performs(.declinePayments)],
        "05-20": [.performs(.acceptPayments)],
        // The pause is that of the month from 20 June on.
        "06-01": [.performs(.pause)],
        // Customers have 37 days to consent. The renewal of 20 September is the first one after them.
        "08-01": [.raisesPrice(12)],
        "08-05": [.performs(.acceptPrice)],
        "09-25": [.performs(.refund)],
        "10-15": [.subscribes("basic")],
        "11-01": [.performs(.cancel)],
    ]

    /// The items that anna owns from a day on, and their end.
    static let possessions: [(day: String, items: [String])] = [
        ("01-01", []),
        ("01-04", ["plus 1 until 01-11"]),
        ("01-11", ["plus 1 until 02-11"]),
        ("02-11", ["plus 1 until 03-11"]),
        ("02-25", ["plus 2 until 03-11"]),
        ("03-11", ["plus 2 until 04-11"]),
        ("04-11", ["plus 2 until 04-14"]),
        ("04-13", ["plus 2 until 05-11"]),
        ("05-11", ["plus 2 until 05-14"]),
        ("05-14", []),
        ("05-20", ["plus 2 until 06-20"]),
        ("06-20", []),
        ("07-20", ["plus 2 until 08-20"]),
        ("08-20", ["plus 2 until 09-20"]),
        ("09-20", ["plus 2 until 10-20"]),
        ("09-25", []),
        ("10-15", ["plus 1 until 11-15"]),
        ("11-15", []),
    ]

    /// The types of the notifications with their days. `voided` is that of a voided purchase.
    static let notifications = [
        "01-04 purchased", "01-11 renewed", "02-11 renewed", "02-25 expired", "02-25 purchased", "03-11 renewed",
        "04-11 inGracePeriod", "04-13 renewed", "05-11 inGracePeriod", "05-14 onHold", "05-20 recovered",
        "06-01 pauseScheduleChanged", "06-20 paused", "07-20 recovered", "08-01 priceChangeUpdated",
        "08-05 priceChangeUpdated", "08-05 priceChangeConfirmed", "08-20 renewed", "09-20 renewed",
        "09-20 priceChangeUpdated", "09-25 revoked", "09-25 voided", "10-15 purchased", "11-01 canceled",
        "11-15 expired",
    ]

    /// The figures of the months, in thousandths of a dollar.
    static let sums = [
        "revenue USD: 5000 7500 10000 10000 10000 0 10000 10000 12000 5000 0 0",
        "refunded-revenue USD: 0 0 0 0 0 0 0 0 12000 0 0 0",
        "refunds: 0 0 0 0 0 0 0 0 1 0 0 0",
        "new-trials: 1 0 0 0 0 0 0 0 0 0 0 0",
    ]
}
