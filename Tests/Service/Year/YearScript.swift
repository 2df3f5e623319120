import HTTPSupport
import Proofs
import Vocabulary

/// The events of the year 2027, by their days. Everything happens at noon, after what is due at that moment.
///
/// No subscription has two events at one moment, so that the order of its notifications is that of their dates.
enum YearScript {
    static let customers = ["anna", "ben", "cleo", "dora", "eli", "finn", "gus", "hana", "ivan"]
    /// A customer of the App Store whose app never presents what was bought.
    static let stranger = "jo"

    private static let spring = Payment.OfferChoice(kind: .promotional, identifier: "spring")
    private static let climb = Payment.OfferChoice(kind: .promotional, identifier: "climb")
    private static let fair = Payment.OfferChoice(kind: .offerCode, identifier: "FAIR")
    private static let again = Payment.OfferChoice(kind: .winBack, identifier: "again")

    static let events: [String: [YearEvent]] = [
        "01-02": [.asksForTest],
        // Three begin with a trial of a week, one with two cheaper months, and one pays for a year.
        "01-04": [.buys("anna", "basic.monthly")],
        "01-13": [.buys("ivan", "basic.monthly")],
        "01-15": [.buys("hana", "basic.yearly")],
        "01-18": [.buys("ben", "premium.monthly")],
        "01-20": [.buys("dora", "basic.monthly")],
        "02-01": [.buys("cleo", "basic.monthly", offer: fair)],
        "02-02": [.buys("finn", "seeds", quantity: 3)],
        "02-05": [.spends("finn", 12)],
        "02-10": [.asksForRefund("finn.1")],
        "02-12": [.refunds("finn.1")],
        "02-19": [.charges(false)],
        // Ivan cannot be charged. He is without the item until he mends it.
        "02-20": [.charges(true), .buys("finn", "gate")],
        "02-24": [.mendsPayment("ivan")],
        "03-01": [.buys("dora", "premium.monthly", offer: climb), .extends("hana", days: 10)],
        "03-02": [.buys("eli", "duo.monthly")],
        "03-04": [.presents("gus", "finn.2")],
        "03-05": [.shares("finn.2", with: "gus"), .buys("ivan", "basic.yearly")],
        "03-10": [.buys("finn", "season"), .raisesPrice("eli", to: 7_990, needsConsent: false)],
        "03-15": [.buys("cleo", "basic.monthly", offer: spring)],
        "03-20": [.raisesPrice("anna", to: 5_990, needsConsent: true)],
        "03-22": [.consents("anna")],
        "04-01": [.extendsAll("basic.yearly", days: 20)],
        "04-05": [.refunds("ivan.2")],
        "04-15": [.raisesPrice("dora", to: 12_990, needsConsent: true)],
        "04-17": [.charges(false, withGracePeriod: true)],
        // Ben cannot be charged, neither in the grace period, until 4 May, nor in 60 days, until 17 June.
        "04-18": [.charges(true), .declines("dora")],
        // Eli does not respond.
        "04-20": [.raisesPrice("eli", to: 8_990, needsConsent: true)],
        "05-01": [.turnsRenewal("anna", isOn: false)],
        "05-03": [.turnsRenewal("anna", isOn: true)],
        // It has been extended twice, as often as Apple allows.
        "05-05": [.extendsAll("basic.yearly", days: 20)],
        "05-08": [.buys("cleo", "premium.monthly")],
        "05-18": [.asksForRefund("finn.2")],
        "05-20": [.refunds("finn.2")],
        "06-01": [.reversesRefund("finn.2")],
        "06-05": [.buys("dora", "premium.monthly")],
        "06-06": [.buys(stranger, "gate")],
        "06-10": [.charges(false, withGracePeriod: true)],
        // Anna cannot be charged, and mends it in the grace period.
        "06-11": [.charges(true)],
        "06-15": [.mendsPayment("anna")],
        "06-20": [.buys("cleo", "basic.monthly"), .buys("dora", "basic.monthly", offer: spring)],
        // Cleo thinks better of it, twice.
        "06-25": [.buys("cleo", "premium.monthly")],
        "07-01": [.buys("cleo", "basic.monthly")],
        "07-07": [.sellsIn("DEU"), .buys("finn", "seeds"), .sellsIn("USA")],
        "07-15": [.takesBack("ivan.4")],
        "07-20": [.buys("cleo", "duo.monthly")],
        "08-01": [.buys("ben", "basic.monthly", offer: again)],
        // Buying an owned product again is free.
        "08-02": [.buys("finn", "gate")],
        "08-08": [.asksForRefund("dora.8")],
        "08-10": [.declinesRefund("dora.8")],
        "08-18": [.asksForRefund("dora.8")],
        "08-20": [.refunds("dora.8")],
        "08-25": [.reversesRefund("dora.8")],
        "09-01": [.withdraws("duo.monthly"), .endsSharing("gus.1")],
        "10-01": [.grants("gus", Item(collection: "gate", number: 1))],
        // Eli has not had a trial yet.
        "10-03": [.buys("eli", "basic.monthly")],
        "10-20": [.turnsRenewal("eli", isOn: false)],
    ]
}
