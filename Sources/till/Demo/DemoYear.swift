import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

/// A year of sales at a local App Store and a local Google Play, played day by day. The app and the service act as in production: the app
/// presents each proof, and the service receives each notification.
struct DemoYear {
    static let days = 365
    /// The time after which the service has the proofs and notifications of an hour, in seconds.
    private static let transferTime: Int64 = 2

    /// A country with its customers.
    struct Market: Sendable {
        let country: DemoCountry
        /// The store, with the prices of the country.
        let store: Store
        var customers: [Customer] = []
    }

    struct Customer: Sendable {
        let user: User
        var subscription: String?
        var purchases: [String] = []
    }

    /// A payment of the app, with its user.
    typealias Sale = (transaction: PaymentTransaction, user: User)

    let door: RedemptionDoor
    let clock: DemoClock
    /// The clock of the service, which works on an hour while the store goes on.
    let serviceClock: DemoClock
    let chance: DemoChance
    let end: Timestamp

    /// The customers who buy on Google Play.
    let googlePlay: DemoPlay
    var markets: [Market]
    /// The work of the service on the previous hour. The store goes on meanwhile, as in production.
    var serviceWork: Task<Void, any Error>?
    /// The sales of the previous hour, which the app finishes once the service has granted them.
    var unfinished: [Sale] = []

    private var service: EntitlementService { door.entitlements }

    mutating func play(_ days: Range<Int>) async throws {
        let hours = markets.indices.flatMap { index in markets[index].country.hours.map { (hour: $0, market: index) } }
            .sorted { $0.hour < $1.hour }
        for day in days {
            for (hour, market) in hours {
                let moment = end.adding(days: Int64(day - Self.days)).adding(seconds: Int64(hour * 3600))
                // A few renewals cannot be charged.
                try begin(moment, in: markets[market], charging: !chance.happens(perMille: 60))
                let sales = try live(day, in: &markets[market])
                if day == Self.days - 1, hour == markets[market].country.hours[0] { try leaveUnclaimed(in: market) }
                // Google Play sells at the first hour at home.
                let isPlayHour = market == 0 && hour == markets[0].country.hours[0]
                try await serve(sales, of: markets[market], passesAtPlay: isPlayHour, on: day)
            }
        }
        try await finishWork()
    }

    /// Ends the year at home. Subscriptions renew in their countries from then on, too.
    mutating func finish() async throws {
        for market in markets {
            try begin(end, in: market, charging: true)
            try market.store.write { books in
                for customer in market.customers where customer.subscription != nil {
                    try books.keepTerms(of: customer.user.name)
                }
            }
        }
        try begin(end, in: markets[0], charging: true)
        try await serve([], of: markets[0], passesAtPlay: true)
        try await finishWork()
        serviceClock.set(end)
        try await service.recordDueStates()
    }

    /// Sets the store to a country, then its clock to an hour of this country's customers, and performs what is due.
    private func begin(_ moment: Timestamp, in market: Market, charging areCharged: Bool) throws {
        _ = try market.store.update {
            $0.storefront = market.country.storefront.countryCode
            $0.shouldEnterBillingRetryOnRenewal = !areCharged
        }
        clock.set(moment)
        try market.store.catchUp()
    }

    /// The customers of a country around one hour.
    private func live(_ day: Int, in market: inout Market) throws -> [Sale] {
        var sales: [Sale] = []
        // The app grows, and sells more on weekends and in two campaigns.
        let isCampaign = (90..<97).contains(day) || (270..<280).contains(day)
        let expected = 600 + day * 4 + (day % 7 >= 5 ? 700 : 0) + (isCampaign ? 3000 : 0)
        let (share, hours) = (market.country.share, market.country.hours.count)
        for _ in 0..<(expected * share / 100 / hours + chance.number(below: 1000)) / 1000 {
            try join(&market, &sales)
        }
        let rest = 125 * hours
        for _ in 0..<(market.customers.count + chance.number(below: rest)) / rest {
            guard !market.customers.isEmpty else { break }
            try returnAgain(chance.number(below: market.customers.count), in: &market, &sales)
        }
        for customer in market.customers where chance.happens(perMille: 4 / hours) {
            try change(customer, at: market.store)
        }
        return sales
    }

    /// Lets the service work on the proofs and notifications of an hour, after those of the hour before.
    ///
    /// - Parameters:
    ///   - passesAtPlay: True for an hour to which the clock of Google Play moves, with the work on its purchases.
    ///   - day: The day of the year on which its customers act; nil if none does.
    private mutating func serve(
        _ sales: [Sale], of market: Market, passesAtPlay: Bool = false, on day: Int? = nil
    ) async throws {
        let store = market.store
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
        let misused = chance.happens(perMille: 10) ? proofs.first?.proof : nil
        let helped =
            chance.happens(perMille: 15) && !market.customers.isEmpty ? chance.element(of: market.customers) : nil
        let isGift = chance.happens(perMille: 500)
        let number = 1 + chance.number(below: 7)
        try await finishWork()
        unfinished = sales
        serviceClock.set(min(end, clock.now().adding(seconds: Self.transferTime)))
        let moment = clock.now()
        serviceWork = Task { [door, service, googlePlay] in
            try await withThrowingTaskGroup { group in
                for (proof, user) in proofs {
                    group.addTask { try await Self.redeem(proof, for: user, door) }
                }
                for notification in notifications {
                    group.addTask { _ = try await service.receive(notification: Array(notification.utf8)) }
                }
                try await group.waitForAll()
            }
            if passesAtPlay { try await googlePlay.pass(to: moment, day) }
            if let misused { try await Self.misuse(misused, door) }
            if let helped { try await Self.help(helped.user, isGift: isGift, number, service) }
        }
    }

    /// Waits for the service, and lets the app finish what it has granted.
    private mutating func finishWork() async throws {
        try await serviceWork?.value
        for sale in unfinished {
            _ = try markets[0].store.perform(.finish, on: sale.transaction.identifier, account: sale.user.name)
        }
        unfinished = []
    }

    private static func redeem(_ proof: String, for user: User, _ door: RedemptionDoor) async throws {
        _ = try await door.redeem(RedemptionRequest(Array(proof.utf8), for: user, by: .user)).decision.redemption
    }

    /// Another user presents a purchase that has an owner.
    private static func misuse(_ proof: String, _ door: RedemptionDoor) async throws {
        guard let user = User(name: "someone-else") else { return }
        // The refusal, which the ledger records, is the purpose.
        try? await redeem(proof, for: user, door)
    }

    /// The team helps a customer.
    private static func help(_ user: User, isGift: Bool, _ number: Int, _ service: EntitlementService) async throws {
        let caller = AuditActor.caller(member: TeamRole.support.rawValue)
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
    private func join(_ market: inout Market, _ sales: inout [Sale]) throws {
        guard let user = User(name: market.country.name(market.customers.count)) else { return }
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
        try buy(product, for: &customer, at: market.store, &sales)
        market.customers.append(customer)
    }

    /// A customer buys something more.
    private func returnAgain(_ index: Int, in market: inout Market, _ sales: inout [Sale]) throws {
        let product =
            switch chance.number(below: 100) {
            case 0..<45: "seeds10"
            case 45..<55: "seeds100"
            case 55..<75: "sprout\(1 + chance.number(below: 4))"
            case 75..<92: "background\(1 + chance.number(below: 7))"
            default: "master.monthly"
            }
        try buy(product, for: &market.customers[index], at: market.store, &sales)
    }

    private func buy(
        _ product: String, for customer: inout Customer, at store: Store, _ sales: inout [Sale]
    ) throws {
        for transaction in try pay(product, of: customer.user.name, at: store) {
            guard let purchase = transaction.purchase else { continue }
            customer.purchases.append(purchase.transactionIdentifier)
            if product.hasPrefix("gardener") || product.hasPrefix("master") {
                customer.subscription = purchase.transactionIdentifier
            }
            sales.append((transaction, customer.user))
        }
    }

    private func pay(
        _ product: String, of account: String, at store: Store, token: UUID? = nil
    ) throws -> [PaymentTransaction] {
        _ = try store.add(
            Payment(productIdentifier: DemoCatalog.prefix + product, appAccountToken: token), account: account)
        return try store.process(account: account)
    }

    /// A customer buys and never opens the app again, so that the service knows the purchase from a notification alone. The app of one
    /// of them states the account token of a user whom the service does not know.
    private func leaveUnclaimed(in market: Int) throws {
        let products = ["seeds100", "gardener.monthly", "sprout2"]
        _ = try pay(
            products[market % products.count], of: markets[market].country.stranger, at: markets[market].store,
            token: market == 1 ? UUID(randomness: chance.randomness) : nil)
    }

    /// A customer cancels, returns, mends the payment or gets the money back.
    private func change(_ customer: Customer, at store: Store) throws {
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

/// A country in which the shop of a demonstration sells, with its own storefront and currency.
struct DemoCountry: Sendable {
    let storefront: Storefront
    /// The price of one unit of its currency, in the currency of the catalog; nil at home.
    let rate: Int64?
    /// The part of all sales, in percent.
    let share: Int
    /// The hours of the day at which its customers buy. No other country has them. A period ends at the hour at which it began, so
    /// that all that is due at such an hour belongs to this country.
    let hours: [Int]
    fileprivate let names: [String]
    /// An account whose app never sends its purchase to the service.
    let stranger: String

    private init(_ code: String, rate: Int64?, share: Int, hours: [Int], names: String, stranger: String) {
        storefront = Storefront(countryCode: code) ?? Storefront.all[0]
        self.names = names.split(separator: " ").map(String.init)
        (self.rate, self.share, self.hours, self.stranger) = (rate, share, hours, stranger)
    }

    static let home = DemoCountry(
        "KOR", rate: nil, share: 55, hours: [10, 19],
        names: """
            bora chanho dahee mina eunji gaeul haneul inho jiwoo seojun taeyang wonbin yuna areum byeol dooly hana jun nari sora \
            woojin 민지
            """, stranger: "sumin")

    static let all = [
        home,
        DemoCountry(
            "USA", rate: 1390, share: 30, hours: [2],
            names: "ada emma grace leo liam maya noah olivia paul quinn rosa tom uma victor zoe", stranger: "walter"),
        DemoCountry(
            "DEU", rate: 1510, share: 15, hours: [16],
            names: "finn anna ben greta jonas kira lena mats olga pia xenia", stranger: "fritz"),
    ]

    /// The rates of all countries, as the file of a catalog has them.
    static func exchangeRates(of day: CalendarDay) -> String {
        let rates = all.compactMap { country in
            country.rate.map { "\"\(country.storefront.currency)\": \"\($0)\"" }
        }
        return """
            {"date": "\(day)", "currency": "\(home.storefront.currency)", "rates": {\(rates.joined(separator: ", "))}}
            """
    }

    /// The name of a customer by number, such as `mina` and later `mina2`.
    func name(_ number: Int) -> String {
        let (round, index) = (number / names.count, number % names.count)
        return names[index] + (round == 0 ? "" : String(round + 1))
    }

    /// The products of a configuration at the prices of this country: the next amount that ends with 99 cents.
    func configuration(_ catalog: StoreKitConfiguration) throws(CatalogError) -> StoreKitConfiguration {
        guard let rate else { return catalog }
        let text = catalog.text
            .replacing(/"displayPrice": "([0-9]+)"/) { match in
                "\"displayPrice\": \"\((Int64(match.1) ?? 0) / rate).99\""
            }
            .replacing(/"_storefront": "[A-Z]+"/) { _ in "\"_storefront\": \"\(storefront.countryCode)\"" }
        return try StoreKitConfiguration(json: Array(text.utf8), file: Catalog.configurationFile)
    }
}
