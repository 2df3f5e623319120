import Foundation
import Proofs
import TestSupport
import Testing

/// A year whose whole journal is kept in a file of its name in `Tests/Service/Years`.
///
/// A sale is named by its customer and its number among the customer's: `anna.2`. Everything happens at noon.
struct RecordedYear: Sendable, CustomTestStringConvertible {
    let name: String
    /// The customers, in the order of their lines.
    let customers: [String]
    let events: [String: [YearEvent]]

    static let all = [subscription, commitment, seats, clocks, family, household]

    var testDescription: String { name }

    var file: URL { Self.file(of: name) }

    /// The file of a journal.
    static func file(of name: String) -> URL {
        Project.root.appending(path: "Tests/Service/Years/\(name).txt", directoryHint: .notDirectory)
    }

    /// The lines of the journal.
    func lines() throws -> [String] { try Self.lines(of: file) }

    static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// The types and subtypes of the notifications in the journal.
    func notifications() throws -> [String] {
        try lines().compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 2, words[1] == "notification" else { return nil }
            return words.dropFirst(2).prefix { $0 != "|" }.joined(separator: " ")
        }
    }

    /// What the customers have in the end, as the last lines of the journal without their days, and the figures.
    func end() throws -> [String] {
        let lines = try lines()
        let possessions = customers.flatMap { customer in
            ["items \(customer):", "subscriptions \(customer):"].map { subject in
                let last = lines.last { $0.contains(" \(subject) ") }
                return last.map { String($0.drop { $0 != " " }.dropFirst()) } ?? "\(subject) none"
            }
        }
        return possessions + lines.filter { $0.hasPrefix("figure ") }
    }
}

/// The scripts.
extension RecordedYear {
    /// A trial, an upgrade and a downgrade, a grace period, a higher price, billing retry, a refund, a new beginning and the end.
    static let subscription = RecordedYear(
        name: "subscription", customers: ["anna"],
        events: [
            "01-04": [.buys("anna", "basic.monthly")],
            "02-20": [.buys("anna", "premium.monthly")],
            "03-01": [.buys("anna", "basic.monthly")],
            // The renewal of 20 April fails. The grace period of a month is 16 days.
            "04-01": [.charges(false, withGracePeriod: true)],
            "04-25": [.charges(true), .mendsPayment("anna")],
            "05-01": [.raisesPrice("anna", to: 5_990, needsConsent: true)],
            "05-03": [.consents("anna")],
            // That of 20 June fails, too.
            "06-01": [.charges(false)],
            "07-10": [.charges(true), .mendsPayment("anna")],
            "07-20": [.asksForRefund("anna.8")],
            "07-25": [.refunds("anna.8")],
            "09-01": [.buys("anna", "basic.monthly")],
            "10-10": [.turnsRenewal("anna", isOn: false)],
        ])

    /// Twelve months that ben pays until the end after he has cancelled, those of cleo after a retry, and those of dora, who cannot be
    /// charged for ninety days.
    static let commitment = RecordedYear(
        name: "commitment", customers: ["ben", "cleo", "dora"],
        events: [
            "01-01": [.sellsIn("DEU"), .buys("ben", "basic.yearly", plan: .monthly)],
            "02-10": [.buys("cleo", "basic.yearly", plan: .monthly)],
            "03-10": [.turnsRenewal("ben", isOn: false)],
            "03-20": [.buys("dora", "basic.yearly", plan: .monthly)],
            // The charge of 10 May fails. The setting of the grace period does not count under a commitment.
            "05-05": [.charges(false, withGracePeriod: true)],
            "05-12": [.charges(true)],
            "06-15": [.mendsPayment("cleo")],
            // The charge of 20 July fails.
            "07-18": [.charges(false)],
            "07-22": [.charges(true)],
        ])

    /// Eight seats at two prices, of which three are claimed. Two more, two refunded, fewer and one more at the renewal, the refund of the
    /// period, and two seats again.
    static let seats = RecordedYear(
        name: "seats", customers: ["emil"],
        events: [
            "01-05": [.buys("emil", "team.monthly", quantity: 8)],
            "01-10": [.claimsSeat("emil"), .claimsSeat("emil"), .claimsSeat("emil")],
            "01-12": [.unclaimsSeat("emil", "claim.2"), .claimsSeat("emil")],
            "01-20": [.changesSeats("emil", to: 10)],
            "02-15": [.refundsSeats("emil.3", 2)],
            "03-20": [.changesSeats("emil", to: 1)],
            "03-25": [.changesSeats("emil", to: 2)],
            "05-10": [.asksForRefund("emil.6")],
            "05-12": [.refunds("emil.6")],
            "06-01": [.buys("emil", "team.monthly", quantity: 2)],
            "08-10": [.turnsRenewal("emil", isOn: false)],
        ])

    /// Fay and gil have clocks of their own, and hal has the store's.
    static let clocks = RecordedYear(
        name: "clocks", customers: ["fay", "gil", "hal"],
        events: [
            "01-04": [.buys("fay", "basic.monthly"), .buys("gil", "premium.monthly"), .buys("hal", "basic.yearly")],
            // The trial of fay ends on 11 January, and her renewals follow on the 11th.
            "01-05": [.advances("fay", days: 40)],
            "01-06": [.turnsRenewal("fay", isOn: false)],
            "01-07": [.advances("gil", days: 30)],
            "01-10": [.refunds("gil.2")],
            // In the time of fay it is 11 May.
            "04-01": [.buys("fay", "premium.monthly")],
            "04-02": [.turnsRenewal("fay", isOn: false)],
        ])

    /// The gate that ida has bought, for her family.
    static let family = RecordedYear(
        name: "family", customers: ["ida", "jan", "kim"],
        events: [
            "01-10": [.buys("ida", "gate")],
            "01-15": [.shares("ida.1", with: "jan")],
            "03-01": [.shares("ida.1", with: "kim"), .presents("kim", "ida.1")],
            "05-01": [.endsSharing("jan.1")],
            "07-01": [.shares("ida.1", with: "jan")],
            "09-01": [.endsSharing("kim.1")],
        ])

    /// The subscription that lena shares with two members: one joins in a period, leaves and comes back, and one stays through a charge
    /// that fails, a refund that is reversed, the end and a new beginning. An upgrade to a product that is not shared takes it from both.
    static let household = RecordedYear(
        name: "household", customers: ["lena", "mark", "nora"],
        events: [
            "01-10": [.buys("lena", "duo.monthly")],
            "01-20": [.joinsFamily("mark", of: "lena")],
            "03-01": [.joinsFamily("nora", of: "lena")],
            "03-25": [.leavesFamily("mark")],
            // The renewal of 10 May fails.
            "05-01": [.charges(false, withGracePeriod: true)],
            "05-15": [.charges(true), .mendsPayment("lena")],
            "05-20": [.refunds("lena.5")],
            // The subscription ends on 10 June.
            "05-25": [.reversesRefund("lena.5")],
            "07-01": [.buys("lena", "duo.monthly")],
            "07-10": [.joinsFamily("mark", of: "lena")],
            "08-10": [.buys("lena", "premium.monthly")],
            "08-20": [.turnsRenewal("lena", isOn: false)],
        ])
}
