import Entitlements
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// The acknowledgement of purchases at a local Google Play. A service that ends between two steps is followed by another one over the same
/// ledger.
@Suite struct PurchaseAcknowledgerTests {
    /// A step between a purchase and its acknowledgement, after which the service ends.
    enum Step: CaseIterable {
        case nothing, recorded, granted, begun, sent
    }

    @Test(arguments: Step.allCases)
    func `nothing is lost and nothing happens twice if the service ends after a step`(step: Step) async throws {
        try await GooglePlayFixture.run { fixture in
            let gate = try fixture.buy("garden.gate")
            let seeds = try fixture.buy("garden.seeds")
            for purchase in [gate, seeds] { try await Self.end(after: step, of: purchase, fixture) }

            let service = try await fixture.service()
            try await service.acknowledge()
            if [.nothing, .recorded].contains(step) {
                // Nobody has the items yet, so Google Play may still refund them.
                #expect(try fixture.purchase(gate.number).isAcknowledged == false)
            }
            for token in [gate.token, seeds.token] { #expect(try await service.redeem(token).status == 200) }
            // The pause after the attempt without a result.
            fixture.advance(seconds: 60)
            try await service.acknowledge()
            #expect(try await service.items("gate") == [1])
            #expect(try await service.seeds() == 10)
            #expect(try await service.transactions().count == 2)
            let (owned, consumed) = (try fixture.purchase(gate.number), try fixture.purchase(seeds.number))
            #expect(owned.isAcknowledged && !owned.isConsumed && consumed.isConsumed)
            // Nothing is due any more, so the deadline passes without a refund.
            fixture.advance(days: 4)
            #expect(try await service.app.purchases.purchasesToAcknowledge(limit: 9).due.isEmpty)
            #expect(try fixture.purchase(gate.number).state == .purchased)
        }
    }

    /// Performs the steps of a purchase up to one with a service of its own.
    private static func end(after step: Step, of bought: OneTimePurchase, _ fixture: GooglePlayFixture) async throws {
        guard step != .nothing else { return }
        let service = try await fixture.service()
        if step == .recorded {
            _ = try await service.app.ask(about: bought.token)
            return
        }
        #expect(try await service.redeem(bought.token).redemption.outcome == .granted)
        guard step != .granted else { return }
        let due = try await service.app.purchases.purchasesToAcknowledge(limit: 9).due
        let purchase = try #require(due.first { $0.purchaseToken == bought.token })
        #expect(try await service.app.purchases.beginAcknowledgement(of: purchase))
        guard step == .sent else { return }
        if service.app.purchases.isConsumable(purchase) {
            try await service.app.client.consume(bought.token, of: bought.terms.productId)
        } else {
            try await service.app.client.acknowledge(bought.token, of: bought.terms.productId, as: .product)
        }
    }

    /// A customer's purchase in a random course of events.
    private struct Customer {
        let name: String
        let purchase: OneTimePurchase
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `whatever the order of failures, each purchase is granted once and consumed in time`(seed: UInt64) async throws
    {
        try await GooglePlayFixture.run { fixture in
            let chance = Randomness.seeded(seed)
            func roll(_ count: Int) -> Int { Int(chance.bytes(1)[0]) % count }
            var (service, customers) = (try await fixture.service(), [Customer]())
            let offline = try await fixture.service(isReachable: false)
            for number in 0..<60 {
                switch roll(7) {
                case 0, 1:
                    let (name, quantity) = ("c\(number)", 1 + roll(3))
                    let purchase = try fixture.buy("garden.seeds") { ($0.account, $0.quantity) = (name, quantity) }
                    customers.append(Customer(name: name, purchase: purchase))
                case 2 where !customers.isEmpty:
                    let customer = customers[roll(customers.count)]
                    let asked = roll(4) == 0 ? offline : service
                    let answer = try await asked.redeem(customer.purchase.token, for: customer.name)
                    #expect(answer.status == (asked === offline ? 503 : 200))
                case 3: service = try await fixture.service()
                case 4: try await offline.acknowledge()
                case 5: try await service.acknowledge()
                default: fixture.advance(seconds: Int64(roll(120)) * 60)
                }
            }
            for customer in customers {
                #expect(try await service.redeem(customer.purchase.token, for: customer.name).status == 200)
            }
            // The longest pause is an hour.
            fixture.advance(seconds: 3600)
            try await service.acknowledge()
            fixture.advance(days: 4)
            #expect(customers.count > 5)
            for customer in customers {
                let purchase = try fixture.purchase(customer.purchase.number)
                #expect(purchase.isConsumed && purchase.state == .purchased)
                #expect(try await service.seeds(of: customer.name) == 10 * purchase.quantity)
                #expect(try await service.transactions(of: customer.name).count == 1)
            }
        }
    }

    @Test func `a purchase that nobody redeems is not acknowledged, and Google Play refunds it`() async throws {
        try await GooglePlayFixture.run { fixture in
            let gate = try fixture.buy("garden.gate")
            let service = try await fixture.service()
            #expect(try await service.app.refresh(gate.token) == [.parked])
            for _ in 0..<4 {
                try await service.acknowledge()
                fixture.advance(days: 1)
            }
            #expect(try fixture.purchase(gate.number).state == .canceled)
            #expect(try await service.app.refresh(gate.token).count == 1)
            #expect(try await service.redeem(gate.token).redemption.outcome == .revoked)
        }
    }

    @Test func `a Play that does not answer is asked again, with pauses, until it has the acknowledgement`()
        async throws
    {
        try await GooglePlayFixture.run { fixture in
            let gate = try fixture.buy("garden.gate")
            #expect(try await fixture.service().redeem(gate.token).redemption.outcome == .granted)
            let offline = try await fixture.service(isReachable: false)
            try await offline.acknowledge()
            #expect(
                offline.metrics.text(queueDepth: 0).contains(
                    #"till_acknowledgements_total{outcome="failed",code="googlePlayUnreachable"} 1"#))
            // The pause survives the service.
            let service = try await fixture.service()
            try await service.acknowledge()
            #expect(try fixture.purchase(gate.number).isAcknowledged == false)
            fixture.advance(seconds: 10)
            try await service.acknowledge()
            #expect(try fixture.purchase(gate.number).isAcknowledged)
        }
    }

    @Test func `what the app has acknowledged, or Google Play has refunded, is settled`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let (gate, seeds) = (try fixture.buy("garden.gate"), try fixture.buy("garden.seeds"))
            for token in [gate.token, seeds.token] {
                #expect(try await service.redeem(token).redemption.outcome == .granted)
            }
            try await service.app.client.acknowledge(gate.token, of: "garden.gate", as: .product)
            fixture.advance(seconds: 1)
            _ = try fixture.play.perform { try $0.refund(seeds.number) }
            try await service.acknowledge()
            fixture.advance(days: 1)
            #expect(try await service.app.purchases.purchasesToAcknowledge(limit: 9).due.isEmpty)
            #expect(try await service.items("gate") == [1])
            // The state that says so takes the refunded purchase back.
            #expect(try await service.seeds() == 0)
        }
    }
}
