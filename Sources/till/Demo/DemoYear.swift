import AppStore
import Features
import Foundation
import Ledger
import Proofs

/// A year of sales at a local App Store, played day by day. The app and the service act as in production: the app presents
/// each proof, and the service receives each notification.
struct DemoYear {
    private static let days = 365
    /// The hours of a day at which customers buy.
    private static let hours = [10, 19]

    let store: Store
    let service: EntitlementService
    let clock: DemoClock
    let chance: DemoChance
    /// The end of the year.
    let end: Timestamp

    var customers: [Customer] = []
    var areRenewalsCharged = true
    /// The work of the service on the previous hour. The store goes on meanwhile, as in production.
    var serviceWork: Task<Void, any Error>?
    /// The sales of the previous hour, which the app finishes once the service has granted them.
    var unfinished: [Sale] = []

    /// A payment of the app, with its user.
    typealias Sale = (transaction: PaymentTransaction, user: User)

    struct Customer {
        let user: User
        var subscription: String?
        var purchases: [String] = []
    }

    /// Plays the year.
    mutating func play() async throws {
        _ = try store.update { $0.isBillingGracePeriodEnabled = true }
        for day in 0..<Self.days {
            for hour in Self.hours {
                let moment = end.adding(days: Int64(day - Self.days)).adding(seconds: Int64(hour * 3600))
                guard moment < end else { break }
                clock.set(moment)
                // A few renewals cannot be charged.
                try charge(!chance.happens(perMille: 60))
                try store.catchUp()
                let sales = try live(day)
                try await serve(sales, isMorning: hour == Self.hours[0])
            }
        }
        clock.set(end)
        try charge(true)
        try store.catchUp()
        try await serve([], isMorning: false)
        try await serve([], isMorning: false)
        try await service.recordDueStates()
    }

    private mutating func charge(_ areCharged: Bool) throws {
        guard areCharged != areRenewalsCharged else { return }
        areRenewalsCharged = areCharged
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = !areCharged }
    }

    /// The customers around one hour.
    private mutating func live(_ day: Int) throws -> [Sale] {
        var sales: [Sale] = []
        // The app grows, and sells more on weekends and in two campaigns.
        let isCampaign = (90..<97).contains(day) || (270..<280).contains(day)
        let expected = 300 + day * 2 + (day % 7 >= 5 ? 350 : 0) + (isCampaign ? 1500 : 0)
        for _ in 0..<(expected + chance.number(below: 1000)) / 1000 { try join(&sales) }
        for _ in 0..<(customers.count + chance.number(below: 250)) / 250 {
            try returnAgain(chance.number(below: customers.count), &sales)
        }
        for index in customers.indices where chance.happens(perMille: 2) { try change(index) }
        return sales
    }

    /// Lets the service work on the proofs and notifications of an hour, after those of the hour before.
    private mutating func serve(_ sales: [Sale], isMorning: Bool) async throws {
        var notifications: [String] = []
        while let delivery = try store.nextDelivery() {
            try store.record(.success, of: delivery)
            notifications.append(delivery.signedPayload)
        }
        var proofs: [(proof: String, user: User)] = []
        // Now and then an app is closed before it presents the proof. The App Store notifies the service all the same.
        for sale in sales where !chance.happens(perMille: 15) {
            proofs.append((try store.read { try $0.signedTransaction(sale.transaction.identifier) }, sale.user))
        }
        let misused = chance.happens(perMille: 20) ? proofs.first?.proof : nil
        let helped =
            isMorning && chance.happens(perMille: 60) && !customers.isEmpty
            ? chance.element(of: customers) : nil
        let isGift = chance.happens(perMille: 500)
        let number = 1 + chance.number(below: 7)
        try await serviceWork?.value
        for sale in unfinished {
            _ = try store.perform(.finish, on: sale.transaction.identifier, account: sale.user.name)
        }
        unfinished = sales
        serviceWork = Task { [service] in
            try await withThrowingTaskGroup { group in
                for (proof, user) in proofs {
                    group.addTask { _ = try await service.redeem(Array(proof.utf8), for: user, by: .user) }
                }
                for notification in notifications {
                    group.addTask { _ = try await service.receive(notification: Array(notification.utf8)) }
                }
                try await group.waitForAll()
            }
            if let misused { try await Self.misuse(misused, service) }
            if let helped { try await Self.help(helped.user, isGift: isGift, number, service) }
        }
    }

    /// Another user presents a purchase that has an owner.
    private static func misuse(_ proof: String, _ service: EntitlementService) async throws {
        guard let user = User(name: "someone-else") else { return }
        // The refusal, which the ledger records, is the purpose.
        _ = try? await service.redeem(Array(proof.utf8), for: user, by: .user)
    }

    /// The team helps a customer.
    private static func help(_ user: User, isGift: Bool, _ number: Int, _ service: EntitlementService) async throws {
        let caller = AuditActor.caller(member: DemoShop.member)
        guard isGift else {
            let addition = try service.newAddition(
                of: 10, to: "seeds", reason: "Sorry for the trouble with the last update", by: caller)
            _ = try await service.add(addition, for: user)
            return
        }
        let grant = try service.newGrant(
            of: Item(collection: "background", number: number), reason: "A present for a kind review", endsAt: nil,
            by: caller)
        _ = try await service.give(grant, to: user)
    }

    /// A new customer buys for the first time.
    private mutating func join(_ sales: inout [Sale]) throws {
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
    private mutating func returnAgain(_ index: Int, _ sales: inout [Sale]) throws {
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

    private func buy(_ product: String, for customer: inout Customer, _ sales: inout [Sale]) throws {
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
            let action: TransactionAction =
                switch chance.number(below: 100) {
                case 0..<62: .turnAutoRenewOff
                case 62..<70: .turnAutoRenewOn
                case 70..<82: .resolveBillingIssue
                default: .refund
                }
            if action != .refund {
                guard let subscription = customer.subscription else { return }
                try store.perform(action, on: subscription)
            } else if !customer.purchases.isEmpty {
                try store.perform(.refund, on: chance.element(of: customer.purchases))
            }
        } catch StoreError.invalidAction {
            // The subscription has ended, or the money is back already.
        }
    }
}

/// The names of the demonstration's customers.
enum DemoNames {
    private static let names = [
        "ada", "bora", "chanho", "dahee", "eunji", "finn", "gaeul", "haneul", "inho", "jiwoo", "kira", "leo", "mina",
        "noah", "olga", "paul", "quinn", "rosa", "seojun", "taeyang", "uma", "victor", "wonbin", "xenia", "yuna",
        "zoe", "areum", "byeol", "dooly", "emma", "hana", "jun", "liam", "maya", "nari", "sora", "tom", "woojin",
    ]

    /// The name of a customer by number, such as `mina` and later `mina2`.
    static func name(_ number: Int) -> String {
        let (round, index) = (number / names.count, number % names.count)
        return names[index] + (round == 0 ? "" : String(round + 1))
    }
}
