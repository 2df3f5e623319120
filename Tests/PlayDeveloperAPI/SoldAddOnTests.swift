import Entitlements
import Foundation
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// Add-ons that the local Play sells, as the service knows them from its API alone
/// (developer.android.com/google/play/billing/subscription-with-addons).
@Suite struct SoldAddOnTests {
    private static let (base, add) = ("garden.basic.monthly", "garden.premium.monthly")

    private let garden: PlayGarden
    private var server: PlayServer { garden.server }

    init() async throws { garden = try await PlayGarden() }

    private func sell(
        with addOns: [String], replacing number: Int64? = nil, _ mode: ReplacementMode? = nil
    ) throws -> RecurringPurchase {
        var order = PlayPurchaseOrder(packageName: PlayServer.packageName, productId: Self.base, account: "ada")
        order.addOns = addOns.map { PlayAddOnOrder(productId: $0) }
        (order.replacedNumber, order.replacementMode) = (number, mode)
        return try server.play.perform { books in
            let purchase = try books.subscribe(order)
            try books.acknowledge(purchase, SubscriptionRequests.Acknowledge())
            return purchase
        }
    }

    private func advance(days: Int64) { garden.advance(milliseconds: (days * 86_400 + 1) * 1000) }

    private func states() async throws -> [String: PurchaseState] {
        Dictionary(
            try await garden.entitlements.subscriptions(of: garden.alice).map { ($0.productIdentifier, $0.state) },
            uniquingKeysWith: { first, _ in first })
    }

    private func transactions() async throws -> [RedeemedTransaction] {
        try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 99)
    }

    @Test func `an add-on in the middle of a period is owned at once, and renews with the base item`() async throws {
        let alone = try sell(with: [])
        #expect(try await garden.present(alone.token) == nil)
        #expect(try await garden.items() == ["plus 1"])
        advance(days: 10)
        let both = try sell(with: [Self.add], replacing: alone.number)
        _ = try await garden.app.refresh(both.token)
        _ = try await garden.app.refresh(alone.token)
        #expect(try await garden.items() == ["plus 1", "plus 2"])
        let added = try #require(try await transactions().first { $0.productIdentifier == Self.add })
        let price = try #require(both.addOns.first?.terms.price.price.milliunits)
        // About two thirds of the month are left.
        #expect(added.facts.integer(.price).map { (price / 2..<price).contains($0) } ?? false)
        #expect(added.facts.bool(.isProrated) == true)
        advance(days: 25)
        _ = try await garden.app.refresh(both.token)
        #expect(try await garden.items() == ["plus 1", "plus 2"])
        let renewals = try await transactions().filter { $0.facts.text(.transactionReason) == "RENEWAL" }
        #expect(Set(renewals.map(\.productIdentifier)) == [Self.base, Self.add])
        // The figures count the price of each line of their common order.
        #expect(renewals.first { $0.productIdentifier == Self.add }?.facts.integer(.price) == price)
        #expect(Set(renewals.compactMap { $0.facts.text(.orderId) }).count == 1)
    }

    @Test func `a removed add-on stays until the end of its period, and ends then by the customer's choice`()
        async throws
    {
        let both = try sell(with: [Self.add])
        #expect(try await garden.present(both.token) == nil)
        #expect(try await garden.items() == ["plus 1", "plus 2"])
        advance(days: 10)
        let removed = try sell(with: [], replacing: both.number, .keepExisting)
        _ = try await garden.app.refresh(removed.token)
        _ = try await garden.app.refresh(both.token)
        #expect(try await garden.items() == ["plus 1", "plus 2"])
        let before = try await garden.entitlements.subscriptions(of: garden.alice)
        #expect(before.first { $0.productIdentifier == Self.add }?.ending == .customerCancelled)
        #expect(before.first { $0.productIdentifier == Self.base }?.ending == nil)
        advance(days: 25)
        _ = try await garden.app.refresh(removed.token)
        #expect(try await garden.items() == ["plus 1"])
        #expect(try await states() == [Self.base: .active, Self.add: .expired])
        #expect(try await transactions().allSatisfy { $0.revocationDate == nil })
    }

    @Test func `an item that the developer takes back alone is revoked with its price`() async throws {
        let both = try sell(with: [Self.add])
        #expect(try await garden.present(both.token) == nil)
        advance(days: 1)
        try server.play.perform { books in
            let request = #"{"revocationContext":{"itemBasedRefund":{"productId":"\#(Self.add)"}}}"#
            let revoke = try JSONDecoder().decode(SubscriptionRequests.Revoke.self, from: Data(request.utf8))
            try books.revoke(try books.subscription(both.number), revoke)
        }
        _ = try await garden.app.refresh(both.token)
        #expect(try await garden.items() == ["plus 1"])
        #expect(try await states() == [Self.base: .active, Self.add: .revoked])
        let revoked = try #require(try await transactions().first { $0.productIdentifier == Self.add })
        #expect(revoked.facts.integer(.refundedAmount) == both.addOns.first?.terms.price.price.milliunits)
        #expect(try await transactions().first { $0.productIdentifier == Self.base }?.revocationDate == nil)
    }

    @Test func `on hold nothing is owned, and the time of the base item returns when the add-on is paid`() async throws
    {
        let both = try sell(with: [Self.add])
        #expect(try await garden.present(both.token) == nil)
        _ = try server.play.perform { try $0.perform(.declinePayments, on: both.number) }
        advance(days: 35)
        _ = try await garden.app.refresh(both.token)
        #expect(try await garden.items().isEmpty)
        _ = try server.play.perform { try $0.perform(.acceptPayments, on: both.number) }
        advance(days: 0)
        _ = try await garden.app.refresh(both.token)
        #expect(try await garden.items() == ["plus 1", "plus 2"])
    }
}
