import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// Subscriptions with seats, as notifications and the server API report them.
///
/// A line has the date and the notification, then the transaction with its seats, the status, and the seats of the renewal. Seats
/// at a price are written as `5 × 9990`.
@Suite struct SeatTests {
    let garden: TestGarden
    var store: Store { garden.store }

    private static let premium = "garden.premium.monthly"

    init() throws { garden = try TestGarden() }

    @Test func `a subscription is bought with seats and renews with them`() throws {
        try garden.buy(Self.premium, quantity: 3)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try lines.told() == [
                "2026-10-31 SUBSCRIBED INITIAL_BUY | 3 seats at 9990: 3 × 9990 APPLE until 2026-11-30 "
                    + "| 1 renews 3 seats at 9990: 3 × 9990",
                "2026-11-30 DID_RENEW | 3 seats at 9990: 3 × 9990 APPLE until 2026-12-31 "
                    + "| 1 renews 3 seats at 9990: 3 × 9990",
            ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        let (effect, queued) = try store.read { books in
            (try books.effect(of: 1), try books.queued(1).transaction.payment.quantity)
        }
        #expect(effect == .charged(Price(milliunits: 29970, currency: "USD")) && queued == 3)
        #expect(try store.subscriptions(of: "alice").first?.renewalPrice?.milliunits == 29970)
    }

    @Test func `a subscription of one seat states no seats`() throws {
        try garden.buy(Self.premium)
        #expect(
            try lines.told() == ["2026-10-31 SUBSCRIBED INITIAL_BUY | 1 at 9990 until 2026-11-30 | 1 renews at 9990"])
    }

    @Test func `seats are added for the rest of the period, and renew`() throws {
        let first = try #require(try garden.buy(Self.premium, quantity: 3).purchase).transactionIdentifier
        // The half of the period of 30 days is left.
        try garden.advance(to: "2026-11-15T12:00:00Z")
        try store.changeSeats(of: first, to: 5)
        #expect(
            try lines.told(after: 1) == [
                "2026-11-15 DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY | 2 seats at 4995: 2 × 4995 APPLE until 2026-11-30 "
                    + "SEAT_ADDITION | 1 renews 5 seats at 9990: 5 × 9990"
            ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        // Neither transaction replaces the other, so both state that there are two.
        let sold = try store.history(of: "alice")
        #expect(sold.map(\.additionalReason) == [.seatAddition, .seatAddition])
        #expect(sold.map(\.quantity) == [3, 2] && Set(sold.map(\.webOrderLineItemIdentifier)).count == 1)
        #expect(Set(sold.map(\.originalTransactionIdentifier)) == [first])
        // The app gets the transaction of the added seats from the queue.
        #expect(try store.transactions().map(\.transaction.payment.quantity) == [3, 2])
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try lines.told(after: 2) == [
                "2026-11-30 DID_RENEW | 5 seats at 9990: 5 × 9990 APPLE until 2026-12-31 "
                    + "| 1 renews 5 seats at 9990: 5 × 9990"
            ])
    }

    @Test func `a purchase with more seats adds them, and one with as many changes nothing`() throws {
        try garden.buy(Self.premium, quantity: 2)
        let again = try garden.buy(Self.premium, quantity: 2)
        #expect(
            try store.effect(of: again.identifier)
                == .alreadySubscribed(renewalDate: try #require(Timestamp(rfc3339: "2026-11-30T12:00:00Z"))))
        let more = try garden.buy(Self.premium, quantity: 3)
        #expect(
            try store.effect(of: more.identifier) == .charged(Price(milliunits: 9990, currency: "USD")))
        #expect(try store.history(of: "alice").map(\.quantity) == [2, 1])
        #expect(try lines.told().count == 2)
    }

    @Test func `fewer seats begin with the renewal, and the reduction can be undone`() throws {
        let first = try #require(try garden.buy(Self.premium, quantity: 5).purchase).transactionIdentifier
        try store.changeSeats(of: first, to: 2)
        try store.changeSeats(of: first, to: 4)
        try store.changeSeats(of: first, to: 4)
        #expect(
            try lines.told(after: 1) == [
                "2026-10-31 DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY | 5 seats at 9990: 5 × 9990 APPLE until 2026-11-30 "
                    + "| 1 renews 2 seats at 9990: 2 × 9990",
                "2026-10-31 DID_CHANGE_RENEWAL_PREF INCREASE_QUANTITY | 5 seats at 9990: 5 × 9990 APPLE until 2026-11-30 "
                    + "| 1 renews 4 seats at 9990: 4 × 9990",
            ])
        try store.changeSeats(of: first, to: 1)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try lines.told(after: 3) == [
                "2026-10-31 DID_CHANGE_RENEWAL_PREF DECREASE_QUANTITY | 5 seats at 9990: 5 × 9990 APPLE until 2026-11-30 "
                    + "| 1 renews at 9990",
                "2026-11-30 DID_RENEW | 1 at 9990 until 2026-12-31 | 1 renews at 9990",
            ])
    }

    @Test func `a change of seats is refused for what does not renew, and beyond the limits`() throws {
        let first = try #require(try garden.buy(Self.premium, quantity: 2).purchase).transactionIdentifier
        for total in [0, 1001] {
            #expect(throws: StoreError.invalidAction("A subscription has 1 to 1000 seats, not \(total).")) {
                try store.changeSeats(of: first, to: total)
            }
        }
        try store.setAutoRenew(false, of: first)
        #expect(
            throws: StoreError.invalidAction(
                "The subscription \(first) does not renew, so its seats cannot change.")
        ) { try store.changeSeats(of: first, to: 3) }
        #expect(!(try store.listedTransaction(first).actions.contains(.changeSeats)))
        _ = try store.update { $0.storefront = "DEU" }
        #expect(
            throws: StoreError.invalidAction("The store sells no seats under a commitment. Buy them billed up front.")
        ) { try garden.buy("garden.basic.yearly", quantity: 2, billingPlanType: .monthly, account: "bob") }
    }

    @Test func `an upgrade has the seats of its payment, and marks all transactions of the period`() throws {
        let first = try #require(try garden.buy("garden.basic.yearly", quantity: 2).purchase).transactionIdentifier
        try store.changeSeats(of: first, to: 3)
        try garden.buy(Self.premium, quantity: 4)
        let sold = try store.history(of: "alice")
        #expect(sold.map(\.isUpgraded) == [true, true, false])
        #expect(sold.map(\.quantity) == [2, 1, 4])
        #expect(sold.last?.additionalReason == nil)
    }

    @Test func `a refund of added seats leaves the others, and a refund of all ends the subscription`() throws {
        let first = try #require(try garden.buy(Self.premium, quantity: 3).purchase).transactionIdentifier
        try store.changeSeats(of: first, to: 5)
        let added = try #require(try store.history(of: "alice").last).transactionIdentifier
        try store.refund(added)
        #expect(
            try lines.told(after: 2) == [
                "2026-10-31 REFUND | 2 seats at 9990: 2 × 9990 APPLE until 2026-11-30 SEAT_ADDITION revoked "
                    + "| 1 renews 3 seats at 9990: 3 × 9990"
            ])
        try store.reverseRefund(of: added)
        #expect(try store.subscriptions(of: "alice").map(\.quantity) == [5])
        try store.refund(added)
        try store.refund(first)
        #expect(
            try lines.told(after: 5) == [
                "2026-10-31 REFUND | 3 seats at 9990: 3 × 9990 APPLE until 2026-11-30 SEAT_ADDITION revoked | 5 ends"
            ])
    }
}

/// The prices of seats in a configuration.
extension SeatTests {
    private static let tiers = TestTeam.tiers

    @Test func `a configuration with seats comes back byte for byte`() throws {
        let configuration = try TestTeam.configuration(Self.tiers)
        let seats = try #require(configuration.products.first?.subscription?.multiSeat)
        #expect(seats.isEnabled && seats.invitationManagement == .developer)
        #expect(seats.priceTiers.map(\.minimumQuantity) == [6, 9])
        #expect(seats.priceTiers.map(\.price.milliunits) == [7990, 5990])
        #expect(configuration.text.contains(Self.tiers))
    }

    /// As at Apple, a subscription that a family can share is sold with seats only if the developer enables them.
    @Test func `a subscription that a family can share has seats on request alone`() throws {
        for (multiSeat, isShareable, isEnabled) in [
            ("", false, true), ("", true, false), (", \"multiSeat\": {}", true, true),
            (", \"multiSeat\": {\"isEnabled\": false}", false, false),
        ] {
            let read = try TestTeam.configuration(multiSeat, isShareable: isShareable).products.first?.subscription
            #expect(read?.multiSeat.isEnabled == isEnabled)
        }
    }

    @Test(arguments: [
        #"{"priceTiers": [{"minimumQuantity": 1, "displayPrice": "7.99"}]}"#,
        #"{"priceTiers": [{"minimumQuantity": 4, "displayPrice": "7.99"}, {"minimumQuantity": 4, "displayPrice": "6.99"}]}"#,
        #"{"priceTiers": [{"minimumQuantity": 4}]}"#, #"{"invitationManagement": "NOBODY"}"#,
        #"""
        {"priceTiers": [
            {"minimumQuantity": 2, "displayPrice": "7"}, {"minimumQuantity": 3, "displayPrice": "6"},
            {"minimumQuantity": 4, "displayPrice": "5"}, {"minimumQuantity": 5, "displayPrice": "4"},
            {"minimumQuantity": 6, "displayPrice": "3"}]}
        """#,
    ])
    func `seats of another form are refused`(multiSeat: String) {
        #expect(throws: CatalogError.self) { try TestTeam.configuration(", \"multiSeat\": \(multiSeat)") }
    }

    @Test func `seats fill the price tiers, and added ones those that follow`() throws {
        let team = try TestTeam(Self.tiers)
        let store = team.store
        _ = try store.add(Payment(productIdentifier: "team.monthly", quantity: 8), account: "alice")
        let bought = try #require(try store.process(account: "alice").first?.purchase)
        try store.changeSeats(of: bought.transactionIdentifier, to: 10)
        let seats = try store.history(of: "alice").map { sale -> [[Int64]] in
            (sale.seats?.priceTiers ?? []).map { [$0.quantity, $0.price] }
        }
        #expect(seats == [[[5, 9990], [3, 7990]], [[2, 5990]]])
        // 73920 for eight seats, of which Apple states the average.
        #expect(try store.history(of: "alice").map(\.price.milliunits) == [9240, 5990])
        #expect(try store.subscriptions(of: "alice").first?.renewalPrice?.milliunits == 73920 + 2 * 5990)
    }
}

extension SeatTests {
    private var lines: SubscriptionLines { SubscriptionLines(garden: garden, state: state) }

    private func state(_ sale: String, _ status: String, _ renewal: String) throws -> String {
        let (transaction, stated) = (try garden.transaction(sale), try garden.renewalInfo(renewal).facts)
        let sold = transaction.facts
        var words: [String] = []
        let price = sold.integer(.price) ?? -1
        if let seats = sold.seats {
            words.append("\(transaction.quantity) seats at \(price): \(Self.words(seats))")
            if let info = sold.text(.multiSeatInfo) { words.append(info.contains("\"APPLE\"") ? "APPLE" : "DEVELOPER") }
        } else {
            words.append("\(transaction.quantity) at \(price)")
        }
        words += ["until", SubscriptionLines.day(sold.date(.expiresDate))]
        if let reason = sold.text(.additionalTransactionReason) { words.append(reason) }
        if transaction.revocationDate != nil { words.append("revoked") }
        words += ["|", status, stated.integer(.autoRenewStatus) == 1 ? "renews" : "ends"]
        if let seats = stated.seats {
            let quantity = stated.integer(.renewalQuantity) ?? -1
            words.append("\(quantity) seats at \(stated.integer(.renewalPrice) ?? -1): \(Self.words(seats))")
        } else if let price = stated.integer(.renewalPrice) {
            words.append("at \(price)")
        }
        return words.joined(separator: " ")
    }

    private static func words(_ seats: [MultiSeatPriceTier]) -> String {
        seats.map { "\($0.quantity) × \($0.price)" }.joined(separator: ", ")
    }

}
