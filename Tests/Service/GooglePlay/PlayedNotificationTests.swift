import Entitlements
import Foundation
import PlayStore
import Proofs
import TestSupport
import Testing

/// The life of purchases at a local Google Play, whose notifications change what a customer owns at the service.
@Suite struct PlayedNotificationTests {
    @Test func `a subscription renews, is declined, held, recovered, canceled, and ends`() async throws {
        try await PlayService.run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let number = try played.play.perform { try $0.subscribe(order).number }
            try await played.expect("SUBSCRIPTION_PURCHASED")
            #expect(try await played.outcomes(of: "SUBSCRIPTION_PURCHASED") == [.granted])
            #expect(try await played.items() == ["plus 2"])
            // Google would revoke it after three days.
            try await played.acknowledge()
            let acknowledged = try played.play.perform { try $0.subscription(number) }
            #expect(acknowledged.isAcknowledged)

            try played.advance(days: 31, seconds: 3600)
            try await played.expect("SUBSCRIPTION_RENEWED")
            #expect(try await played.items() == ["plus 2"])

            _ = try played.play.perform { try $0.perform(.declinePayments, on: number) }
            try played.advance(days: 30)
            try await played.expect("SUBSCRIPTION_IN_GRACE_PERIOD")
            #expect(try await played.items() == ["plus 2"])

            try played.advance(days: 3)
            try await played.expect("SUBSCRIPTION_ON_HOLD")
            #expect(try await played.items() == [])

            _ = try played.play.perform { try $0.perform(.acceptPayments, on: number) }
            try await played.expect("SUBSCRIPTION_RECOVERED")
            #expect(try await played.items() == ["plus 2"])

            _ = try played.play.perform { try $0.perform(.cancel, on: number) }
            try await played.expect("SUBSCRIPTION_CANCELED")
            #expect(try await played.items() == ["plus 2"])

            try played.advance(days: 31, seconds: 3600)
            try await played.expect("SUBSCRIPTION_EXPIRED")
            #expect(try await played.items() == [])
            let received = try await played.received()
            #expect(received.allSatisfy { $0.origin == .localPlayProduction })
            #expect(received.allSatisfy { $0.app == TestGarden.bundleIdentifier })
        }
    }

    @Test func `a revoked subscription is taken back once, although two notifications say so`() async throws {
        try await PlayService.run { played async throws in
            let order = try await played.order("garden.basic.monthly")
            let number = try played.play.perform { try $0.subscribe(order).number }
            try await played.expect("SUBSCRIPTION_PURCHASED")
            #expect(try await played.items() == ["plus 1"])
            _ = try played.play.perform { try $0.perform(.refund, on: number) }
            try await played.expect("SUBSCRIPTION_REVOKED")
            try await played.expect("VOIDED_PURCHASE")
            #expect(try await played.items() == [])
            let outcomes = try await played.received().map(\.outcome)
            #expect(outcomes.count { $0 == .revoked } == 1, "\(outcomes)")
            // The list of voided purchases has it, too.
            _ = try await played.app.reconciler.recordVoidedPurchases()
            #expect(try await played.items() == [])
        }
    }

    @Test func `a subscription that is bought again before its end continues its chain`() async throws {
        try await PlayService.run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let first = try played.play.perform { try $0.subscribe(order) }
            try await played.expect("SUBSCRIPTION_PURCHASED")
            try await played.acknowledge()
            _ = try played.play.perform { try $0.perform(.cancel, on: first.number) }
            try await played.expect("SUBSCRIPTION_CANCELED")
            try played.advance(days: 1)
            let second = try played.play.perform { try $0.subscribe(order) }
            try await played.expect("SUBSCRIPTION_PURCHASED", count: 2)
            try await played.expect("SUBSCRIPTION_EXPIRED")
            #expect(try await played.items() == ["plus 2"])
            let recorded = try #require(try await played.app.purchases.purchase(of: second.token))
            #expect(recorded.originalToken == first.token)
        }
    }

    @Test func `a subscription that is bought again in the Play Store is the same customer's`() async throws {
        try await PlayService.run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let first = try played.play.perform { try $0.subscribe(order) }
            try await played.expect("SUBSCRIPTION_PURCHASED")
            try await played.acknowledge()
            _ = try played.play.perform { try $0.perform(.cancel, on: first.number) }
            try await played.expect("SUBSCRIPTION_CANCELED")
            try played.advance(days: 32)
            try await played.expect("SUBSCRIPTION_EXPIRED")
            #expect(try await played.items() == [])
            _ = try played.play.perform { try $0.perform(.resubscribe, on: first.number) }
            try await played.expect("SUBSCRIPTION_PURCHASED", count: 2)
            #expect(try await played.items() == ["plus 2"])
        }
    }

    @Test func `a product is granted when it is bought, and taken back when it is refunded`() async throws {
        try await PlayService.run { played async throws in
            let order = try await played.order("garden.gate")
            let number = try played.play.perform { try $0.buy(order).number }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.items() == ["gate 1"])
            try await played.acknowledge()
            _ = try played.play.perform { try $0.refund(number) }
            try await played.expect("VOIDED_PURCHASE")
            #expect(try await played.items() == [])
        }
    }

    @Test func `several units count, and a refund takes them back once`() async throws {
        try await PlayService.run { played async throws in
            var order = try await played.order("garden.seeds")
            order.quantity = 3
            let number = try played.play.perform { [order] in try $0.buy(order).number }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.seeds() == 30)
            _ = try played.play.perform { try $0.refund(number) }
            try await played.expect("VOIDED_PURCHASE")
            #expect(try await played.seeds() == 0)
            _ = try await played.app.reconciler.recordVoidedPurchases()
            #expect(try await played.seeds() == 0)
        }
    }

    @Test func `a pending payment grants nothing until it is made`() async throws {
        try await PlayService.run { played async throws in
            var order = try await played.order("garden.gate")
            order.isPending = true
            let number = try played.play.perform { [order] in try $0.buy(order).number }
            #expect(try await played.items() == [])
            _ = try played.play.perform { try $0.complete(number) }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.items() == ["gate 1"])
        }
    }

    @Test func `a rented item ends without a notification`() async throws {
        try await PlayService.run { played async throws in
            try played.fixture.offerRentalAndPreorder()
            var order = try await played.order("garden.gate")
            order.purchaseOptionId = "rent"
            let rented = try played.play.perform { [order] in try $0.buy(order) }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.items() == ["gate 1"])
            let transaction = try #require(try await played.transactions().first)
            #expect(transaction.expiresDate == rented.purchaseTime.adding(days: 2).rfc3339)
            #expect(transaction.facts.keys.contains("isRental") && transaction.facts.keys.contains("purchaseOptionId"))
            try await played.acknowledge()
            let acknowledged = try played.fixture.purchase(rented.number)
            #expect(acknowledged.isAcknowledged)
            try played.advance(days: 2)
            #expect(try await played.items() == [])
            #expect(try await played.received().count == 1)
        }
    }

    @Test func `a pre-order is granted at its release, and not when it is cancelled before`() async throws {
        try await PlayService.run { played async throws in
            try played.fixture.offerRentalAndPreorder()
            let order = try await played.order("garden.gate")
            let first = try played.play.perform { try $0.buy(order, offerId: "early") }
            #expect(try await played.redeem(first.token).code == "purchasePending")
            _ = try played.play.perform { try $0.cancel(first.number) }
            try await played.expect("ONE_TIME_PRODUCT_CANCELED")
            _ = try played.play.perform { try $0.buy(order, offerId: "early") }
            try played.advance(days: 9)
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.items() == ["gate 1"])
            let transaction = try #require(try await played.transactions().first)
            #expect(transaction.facts.keys.contains("preorderReleaseTime") && transaction.expiresDate == nil)
        }
    }

    @Test func `a pending payment that is not made is recorded`() async throws {
        try await PlayService.run { played async throws in
            var order = try await played.order("garden.gate")
            order.isPending = true
            let number = try played.play.perform { [order] in try $0.buy(order).number }
            _ = try played.play.perform { try $0.cancel(number) }
            try await played.expect("ONE_TIME_PRODUCT_CANCELED")
            #expect(try await played.outcomes(of: "ONE_TIME_PRODUCT_CANCELED") == [.recorded])
            #expect(try await played.items() == [])
        }
    }

    @Test func `the purchase of a license tester is no real one`() async throws {
        try await PlayService.run(accepting: [.localPlayProduction]) { played async throws in
            var order = try await played.order("garden.gate")
            order.isTest = true
            _ = try played.play.perform { [order] in try $0.buy(order) }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.items() == [])
            #expect(try await played.received().map(\.origin) == [.localPlayTest])
        }
    }

    @Test func `the test notification of the Play Console is recorded`() async throws {
        try await PlayService.run { played async throws in
            try played.play.perform { try $0.sendTestNotification(of: TestGarden.bundleIdentifier) }
            try await played.expect("TEST")
            #expect(try await played.outcomes(of: "TEST") == [.recorded])
        }
    }

    @Test func `a purchase of nobody waits for its user`() async throws {
        try await PlayService.run { played async throws in
            let order = PlayPurchaseOrder(
                packageName: TestGarden.bundleIdentifier, productId: "garden.gate", account: "somebody")
            _ = try played.play.perform { try $0.buy(order) }
            try await played.expect("ONE_TIME_PRODUCT_PURCHASED")
            #expect(try await played.outcomes(of: "ONE_TIME_PRODUCT_PURCHASED") == [.parked])
            #expect(try await played.items() == [])
        }
    }
}
