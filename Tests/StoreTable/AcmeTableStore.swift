import Acme
import Foundation
import Proofs
import TestSupport
import Testing

/// acme in its own words: contracts, tickets, and messages with whole statements.
actor AcmeTableStore: TableStore {
    nonisolated let service: TableService
    private let shop: AcmeShop
    private var purchases: [Purchase] = []

    init(_ service: TableService) { (self.service, shop) = (service, service.acme) }

    private struct Purchase {
        let user: String
        let contract: String
    }

    nonisolated func revenueCatProduct(_ plan: Plan) -> String {
        plan.rawValue.replacing("garden.", with: "").replacing(".monthly", with: "")
    }

    private var now: Timestamp { service.now() }

    private func add(_ contract: String, of user: String) -> Sold {
        purchases.append(Purchase(user: user, contract: contract))
        return Sold(number: purchases.count - 1)
    }

    private func last(of sold: Sold) throws -> AcmeStatement.Charge {
        try #require(try shop.contract(purchases[sold.number].contract).charges.last)
    }

    private func end(of sold: Sold) throws -> Timestamp { try #require(try last(of: sold).until) }

    /// Changes a contract, and tells the service.
    private func tell(_ type: String, _ sold: Sold, _ change: @Sendable (inout AcmeStatement) -> Void) async throws {
        try self.change(sold, change)
        try await service.notify(acme: try shop.notification(type, about: purchases[sold.number].contract))
    }

    /// Changes a contract, and tells nobody.
    private func change(_ sold: Sold, _ change: @Sendable (inout AcmeStatement) -> Void) throws {
        try shop.change(purchases[sold.number].contract, change)
    }

    private func redeem(_ sold: Sold, for user: String) async throws -> TableService.Answer {
        let ticket = try shop.ticket(of: purchases[sold.number].contract)
        return try await service.redeem(json(("signedTransaction", .string(ticket))), for: user)
    }

    // MARK: Subscriptions

    func subscribe(_ user: String, to plan: Plan, _ terms: Terms) async throws -> Sold {
        let end = terms == .trial ? now.adding(days: 7) : try Day.month(after: now)
        let (price, kind): (Int64, AcmeStatement.Charge.Terms) =
            switch terms {
            case .full: (plan.price, .full)
            case .trial: (0, .trial)
            case .introductory: (2000, .introductory)
            }
        let charge = AcmeStatement.Charge(
            1, plan.rawValue, .plan, from: now, until: end, price: price, recurring: plan.price, terms: kind)
        let contract = shop.sell(
            charge, of: TestGarden.bundleIdentifier, to: UUID(uuidString: try await service.accountToken(of: user)),
            next: .renews(as: plan.rawValue))
        let sold = add(contract, of: user)
        _ = try await redeem(sold, for: user).value
        try await tell("sold", sold) { _ in }
        return sold
    }

    func renew(_ sold: Sold) async throws { try await renew(sold, hoursEarly: 0) }

    func renew(_ sold: Sold, hoursEarly: Int64) async throws {
        let end = try end(of: sold)
        service.advance(to: end.adding(seconds: hoursEarly == 0 ? 60 : -hoursEarly * 3600))
        try await charge(sold, from: end, "renewed")
    }

    /// Renews at the end of the period, and the message is lost.
    func renewInSilence(_ sold: Sold) throws {
        let (begin, last) = (try end(of: sold), try last(of: sold))
        service.advance(to: begin.adding(seconds: 60))
        try change(sold, try Self.charging(last, from: begin))
    }

    /// Charges the next period of the plan that renews.
    private func charge(_ sold: Sold, from begin: Timestamp, _ type: String) async throws {
        try await tell(type, sold, try Self.charging(try last(of: sold), from: begin))
    }

    private static func charging(
        _ last: AcmeStatement.Charge, from begin: Timestamp
    ) throws -> @Sendable (inout AcmeStatement) -> Void {
        let end = try Day.month(after: begin)
        return { contract in
            var product = last.product
            if case .renews(let next)? = contract.next { product = next }
            let price = Plan(rawValue: product)?.price ?? last.price
            contract.charges.append(
                AcmeStatement.Charge(
                    last.number + 1, product, .plan, from: begin, until: end, price: price, recurring: price,
                    continues: true))
            contract.next = .renews(as: product)
        }
    }

    func turnOff(_ sold: Sold) async throws { try await tell("stopped", sold) { $0.next = .stops } }

    func turnOn(_ sold: Sold) async throws {
        let product = try last(of: sold).product
        try await tell("resumed", sold) { $0.next = .renews(as: product) }
    }

    func expire(_ sold: Sold, _ reason: EndReason) async throws {
        let retryDays: Int64 = reason == .billing ? 60 : 0
        service.advance(to: try end(of: sold).adding(days: retryDays).adding(seconds: 60))
        let why: AcmeStatement.Next.Reason =
            switch reason {
            case .customer: .customer
            case .billing: .bank
            case .priceIncrease: .price
            }
        try await tell("over", sold) { $0.next = .over(why) }
    }

    func beginGrace(_ sold: Sold, days: Int64?) async throws {
        let end = try end(of: sold)
        service.advance(to: end.adding(seconds: 60))
        try await tell("declined", sold) { $0.next = .grace(until: days.map { end.adding(days: $0) }) }
    }

    func beginRetry(_ sold: Sold) async throws {
        var end = try end(of: sold)
        if case .grace(let until?)? = try shop.contract(purchases[sold.number].contract).next { end = until }
        service.advance(to: end.adding(seconds: 60))
        try await tell("declined", sold) { $0.next = .retry }
    }

    func recover(_ sold: Sold) async throws {
        // In a grace period, acme charges for the period that has begun.
        var begin = now
        if case .grace? = try shop.contract(purchases[sold.number].contract).next { begin = try end(of: sold) }
        try await charge(sold, from: begin, "renewed")
    }

    /// Pauses at the end of the period.
    func pause(_ sold: Sold, until resume: Timestamp) async throws {
        service.advance(to: try end(of: sold).adding(seconds: 60))
        try await tell("paused", sold) { $0.next = .paused(until: resume) }
    }

    func upgrade(_ sold: Sold, to plan: Plan) async throws {
        let (last, begin, end) = (try last(of: sold), now, try Day.month(after: now))
        try await tell("replaced", sold) { contract in
            contract.charges[contract.charges.count - 1].isReplaced = true
            contract.charges.append(
                AcmeStatement.Charge(
                    last.number + 1, plan.rawValue, .plan, from: begin, until: end, price: plan.price,
                    recurring: plan.price))
            contract.next = .renews(as: plan.rawValue)
        }
    }

    func choose(_ plan: Plan, at sold: Sold) async throws {
        try await tell("chosen", sold) { $0.next = .renews(as: plan.rawValue) }
    }

    func refund(_ sold: Sold, half: Bool) async throws { try await payBack(sold, fromEnd: 0, half: half) }

    func refundEarlier(_ sold: Sold) async throws { try await payBack(sold, fromEnd: 1) }

    /// Pays half of the last charge back, and leaves the goods.
    func payHalfBack(_ sold: Sold) async throws { try await payBack(sold, fromEnd: 0, half: true, takesGoods: false) }

    private func payBack(_ sold: Sold, fromEnd position: Int, half: Bool = false, takesGoods: Bool = true) async throws
    {
        let now = now
        try await tell("paidBack", sold) { contract in
            let index = contract.charges.count - 1 - position
            let price = contract.charges[index].price
            contract.charges[index].paidBack = .init(
                amount: half ? price / 2 : price, at: now, takesGoods: takesGoods)
        }
    }

    func resubscribe(_ sold: Sold) async throws {
        let product = try last(of: sold).product
        try change(sold) { $0.next = .renews(as: product) }
        try await charge(sold, from: now, "sold")
    }

    // MARK: Other products

    func buy(_ product: OneTime, for user: String, quantity: Int64) async throws -> Sold {
        let kind: AcmeStatement.Charge.Kind =
            switch product {
            case .gate: .goods
            case .seeds: .credit
            case .season: .pass
            }
        let charge = AcmeStatement.Charge(
            1, product.rawValue, kind, units: Int(quantity), from: now, price: product.price * quantity)
        let sold = add(shop.sell(charge, of: TestGarden.bundleIdentifier, to: nil), of: user)
        _ = try await redeem(sold, for: user).value
        try await service.settle()
        return sold
    }

    func refundProduct(_ sold: Sold) async throws { try await payBack(sold, fromEnd: 0) }

    func present(_ sold: Sold, by user: String) async throws {
        _ = try await redeem(sold, for: user)
        try await service.settle()
    }

    /// The service asks about the contract by itself.
    func ask(_ sold: Sold) async throws { try await service.ask(acme: purchases[sold.number].contract) }
}
