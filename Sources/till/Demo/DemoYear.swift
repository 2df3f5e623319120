import Commerce
import Entitlements
import Foundation
import Receipts
import Store

/// A year of sales at a local App Store, played day by day. The app and the service act as in production: the app presents
/// each proof, and the service receives each notification.
struct DemoYear {
    private static let days = 365
    /// The hours of a day at which customers buy.
    private static let hours = [9, 14, 20]

    let store: Store
    let service: EntitlementService
    let clock: DemoClock
    let chance: DemoChance
    /// The end of the year.
    let end: Timestamp

    private var customers: [Customer] = []

    init(store: Store, service: EntitlementService, clock: DemoClock, chance: DemoChance, end: Timestamp) {
        self.store = store
        self.service = service
        self.clock = clock
        self.chance = chance
        self.end = end
    }

    private struct Customer {
        let user: User
        var subscription: String?
        var purchases: [String] = []
    }

    /// Plays the year.
    ///
    /// - Parameter report: Called after each month, with the number of months.
    mutating func play(_ report: (Int) -> Void) async throws {
        _ = try store.update { $0.isBillingGracePeriodEnabled = true }
        for day in 0..<Self.days {
            for (index, hour) in Self.hours.enumerated() {
                let moment = end.adding(days: Int64(day - Self.days)).adding(seconds: Int64(hour * 3600))
                guard moment < end else { break }
                clock.set(moment)
                // A few renewals cannot be charged.
                _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = chance.happens(perMille: 60) }
                try store.catchUp()
                try await live(day, hour: index)
                try await deliver()
            }
            if day % 30 == 29 { report(day / 30 + 1) }
        }
        clock.set(end)
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = false }
        try store.catchUp()
        try await deliver()
        try await service.recordDueStates()
    }

    /// The part of a day around one hour.
    private mutating func live(_ day: Int, hour: Int) async throws {
        var sales: [(PaymentTransaction, User)] = []
        // The app grows, and sells more on weekends and in two campaigns.
        let isCampaign = (90..<97).contains(day) || (270..<280).contains(day)
        let expected = 700 + day * 4 + (day % 7 >= 5 ? 500 : 0) + (isCampaign ? 2500 : 0)
        for _ in 0..<(expected + chance.number(below: 1400)) / 1000 { try join(&sales) }
        for _ in 0..<(customers.count / 160) where !customers.isEmpty {
            try returnAgain(chance.number(below: customers.count), &sales)
        }
        for index in customers.indices where chance.happens(perMille: 1) { try change(index) }
        try await redeem(sales)
        if chance.happens(perMille: 12), let sale = sales.first { try await misuse(sale.0) }
        if hour == 0, chance.happens(perMille: 40), !customers.isEmpty { try await help(chance.element(of: customers)) }
    }

    /// A new customer buys for the first time.
    private mutating func join(_ sales: inout [(PaymentTransaction, User)]) throws {
        let name = DemoNames.name(customers.count)
        guard let user = User(name: name) else { return }
        var customer = Customer(user: user)
        let product =
            switch chance.number(below: 100) {
            case 0..<26: "gardener.monthly"
            case 26..<31: "gardener.yearly"
            case 31..<36: "master.monthly"
            case 36..<60: "seeds10"
            case 60..<66: "seeds100"
            case 66..<88: "sprout\(1 + chance.number(below: 4))"
            default: "background\(1 + chance.number(below: 7))"
            }
        try buy(product, for: &customer, &sales)
        customers.append(customer)
    }

    /// A customer buys something more.
    private mutating func returnAgain(_ index: Int, _ sales: inout [(PaymentTransaction, User)]) throws {
        let product =
            switch chance.number(below: 100) {
            case 0..<45: "seeds10"
            case 45..<55: "seeds100"
            case 55..<75: "sprout\(1 + chance.number(below: 4))"
            case 75..<92: "background\(1 + chance.number(below: 7))"
            default: "master.monthly"
            }
        try buy(product, for: &customers[index], &sales)
    }

    private func buy(_ product: String, for customer: inout Customer, _ sales: inout [(PaymentTransaction, User)])
        throws
    {
        let account = customer.user.name
        _ = try store.add(Payment(productIdentifier: DemoCatalog.prefix + product), account: account)
        for transaction in try store.process(account: account) {
            guard let purchase = transaction.purchase else { continue }
            customer.purchases.append(purchase.transactionIdentifier)
            if product.hasPrefix("gardener") || product.hasPrefix("master") {
                customer.subscription = purchase.transactionIdentifier
            }
            sales.append((transaction, customer.user))
        }
    }

    /// A customer cancels, returns, mends the payment or gets the money back.
    private mutating func change(_ index: Int) throws {
        let customer = customers[index]
        do {
            switch chance.number(below: 100) {
            case 0..<62:
                guard let subscription = customer.subscription else { return }
                try store.setAutoRenew(false, of: subscription)
            case 62..<70:
                guard let subscription = customer.subscription else { return }
                try store.setAutoRenew(true, of: subscription)
            case 70..<82:
                guard let subscription = customer.subscription else { return }
                try store.resolveBillingIssue(of: subscription)
            default:
                guard !customer.purchases.isEmpty else { return }
                try store.refund(chance.element(of: customer.purchases), reason: .refundedForOtherReason)
            }
        } catch StoreError.invalidAction {
            // The subscription has ended, or the money is back already.
        }
    }

    /// Presents the proofs of new sales, and then finishes the transactions.
    private func redeem(_ sales: [(PaymentTransaction, User)]) async throws {
        try await withThrowingTaskGroup { group in
            for (transaction, user) in sales {
                // Now and then an app is closed before it presents the proof. The App Store notifies the service.
                guard !chance.happens(perMille: 15) else { continue }
                let proof = try store.signedTransaction(transaction.identifier)
                group.addTask { [service] in
                    _ = try await service.redeem(Array(proof.utf8), for: user, by: .user)
                }
            }
            try await group.waitForAll()
        }
        for (transaction, user) in sales { _ = try store.finish(transaction.identifier, account: user.name) }
    }

    /// Another user presents a purchase that has an owner.
    private func misuse(_ transaction: PaymentTransaction) async throws {
        guard let user = User(name: "someone-else") else { return }
        let proof = try store.signedTransaction(transaction.identifier)
        _ = try? await service.redeem(Array(proof.utf8), for: user, by: .user)
    }

    /// The team helps a customer.
    private func help(_ customer: Customer) async throws {
        let caller = "member demo"
        if chance.happens(perMille: 500) {
            let addition = try service.newAddition(
                of: 10, to: "seeds", reason: "Sorry for the trouble with the last update", by: caller)
            _ = try await service.add(addition, for: customer.user, keeping: nil, for: nil)
        } else {
            let grant = try service.newGrant(
                of: Item(collection: "background", number: 1 + chance.number(below: 7)),
                reason: "A present for a kind review", endsAt: nil, by: caller)
            _ = try await service.give(grant, to: customer.user, keeping: nil, for: nil)
        }
    }

    /// Delivers every notification that is due.
    private func deliver() async throws {
        try await withThrowingTaskGroup { group in
            while let delivery = try store.nextDelivery() {
                try store.record(.success, of: delivery)
                group.addTask { [service] in
                    _ = try await service.receive(notification: Array(delivery.signedPayload.utf8))
                }
            }
            try await group.waitForAll()
        }
    }
}
