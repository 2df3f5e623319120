import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Logging
import PlayStore
import Proofs
import Service
import Vocabulary

/// The customers of a demonstration who buy on Google Play. Some of them buy at the App Store, too, and own the union.
///
/// The service learns of each purchase, renewal and refund as in production: it asks the Play over the Play Developer API, and
/// acknowledges or consumes what it has granted.
actor DemoPlay {
    /// The names of customers who have no account at the App Store.
    private static let newcomers = "daon haru iseul jia mirae nuri rian siwoo taeo yejun".split(separator: " ")
    /// The events of each year, whatever the chance: a user who buys at both stores, a subscription that renews, and a refund.
    private static let plan: [Int: Event] = [
        100: .buysAtBoth("background7"), 200: .joins("gardener.monthly"), 250: .joins("seeds100"), 260: .isRefunded,
    ]

    private enum Event {
        case buysAtBoth(String)
        case joins(String)
        /// The customer who joined last by this plan gets the money back.
        case isRefunded
    }

    private struct Customer {
        let user: User
        /// The latest purchase.
        var number: Int64
        var isSubscription: Bool
    }

    private let play: GooglePlay
    private let packageName: String
    /// The clock of the Play. It follows that of the App Store, whose day it has.
    private let clock: DemoClock
    private let chance: DemoChance
    private let app: GooglePlayApp
    private let door: RedemptionDoor
    private let acknowledger: DurableWork
    private var customers: [Customer] = []
    private var planned: Customer?
    /// The number of the last notification that the service has received.
    private var lastNotification: Int64 = 0

    init(_ play: GooglePlay, clock: DemoClock, chance: DemoChance, app: GooglePlayApp, door: RedemptionDoor) {
        (self.play, self.clock, self.chance, self.app, self.door) = (play, clock, chance, app, door)
        packageName = app.client.packageName
        acknowledger = app.acknowledger(
            metrics: ServiceMetrics(), logger: Logger(label: "", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Plays a day, and lets the service work on it.
    ///
    /// - Parameter day: The day of the year; nil to let time pass alone.
    func pass(to moment: Timestamp, _ day: Int?) async throws {
        clock.set(moment)
        if let day {
            for (token, user) in try act(on: day) {
                let proof = try GooglePlayToken(purchaseToken: token, packageName: packageName).json.compactBytes
                _ = try await door.redeem(RedemptionRequest(proof, for: user, by: .user))
            }
        }
        for queued in try play.perform({ [lastNotification] in try $0.notifications(after: lastNotification) }) {
            try await receive(queued)
            lastNotification = queued.number
        }
        try await acknowledger.perform()
    }

    /// The actions of the customers on a day.
    ///
    /// - Returns: The tokens of new purchases, which the app sends to the service.
    private func act(on day: Int) throws -> [(token: String, user: User)] {
        var sales: [(token: String, user: User)] = []
        let earlier = customers
        switch Self.plan[day] {
        case .buysAtBoth(let product): try join(as: DemoCountry.home.name(0), buying: product, &sales)
        case .joins(let product):
            try join(as: newName, buying: product, &sales)
            planned = customers.last
        case .isRefunded: if let planned { try refund(planned) }
        case nil: break
        }
        if chance.happens(perMille: 80) {
            // Every third one is a customer of the App Store, too.
            let isKnown = day > 30 && customers.count % 3 == 2
            try join(as: isKnown ? DemoCountry.home.name(customers.count / 3) : newName, buying: newProduct, &sales)
        }
        if chance.happens(perMille: 60), !earlier.isEmpty {
            try buy("seeds10", for: chance.element(of: earlier).user, &sales)
        }
        // The service has acknowledged what earlier customers have bought.
        if chance.happens(perMille: 40), !earlier.isEmpty { try change(chance.element(of: earlier)) }
        return sales
    }

    private var newName: String {
        let (round, index) = customers.count.quotientAndRemainder(dividingBy: Self.newcomers.count)
        return Self.newcomers[index] + (round == 0 ? "" : String(round + 1))
    }

    private var newProduct: String {
        switch chance.number(below: 100) {
        case 0..<45: "gardener.monthly"
        case 45..<55: "master.monthly"
        case 55..<75: "seeds10"
        case 75..<90: "sprout\(1 + chance.number(below: 4))"
        default: "background\(1 + chance.number(below: 6))"
        }
    }

    /// A new customer buys for the first time.
    private func join(as name: String, buying product: String, _ sales: inout [(token: String, user: User)]) throws {
        guard let user = User(name: name), let number = try buy(product, for: user, &sales) else { return }
        customers.append(Customer(user: user, number: number, isSubscription: product.hasSuffix("monthly")))
    }

    /// - Returns: The number of the purchase; nil if the customer owns the product.
    @discardableResult
    private func buy(
        _ product: String, for user: User, _ sales: inout [(token: String, user: User)]
    ) throws -> Int64? {
        let order = PlayPurchaseOrder(
            packageName: packageName, productId: DemoCatalog.prefix + product, account: user.name)
        do {
            let (token, number) = try play.perform { books in
                guard product.hasSuffix("monthly") else {
                    let purchase = try books.buy(order)
                    return (purchase.token, purchase.number)
                }
                let purchase = try books.subscribe(order)
                return (purchase.token, purchase.number)
            }
            sales.append((token, user))
            return number
        } catch PlayError.invalidAction {
            return nil
        }
    }

    /// A customer cancels, cannot pay, pays again, or gets the money back.
    private func change(_ customer: Customer) throws {
        guard customer.isSubscription else { return try refund(customer) }
        let action: SubscriptionAction =
            switch chance.number(below: 100) {
            case 0..<50: .cancel
            case 50..<70: .declinePayments
            case 70..<90: .acceptPayments
            default: .refund
            }
        try perform { _ = try $0.perform(action, on: customer.number) }
    }

    private func refund(_ customer: Customer) throws {
        try perform { books in
            if customer.isSubscription {
                _ = try books.perform(.refund, on: customer.number)
            } else {
                _ = try books.refund(customer.number, reason: .remorse)
            }
        }
    }

    private func perform(_ body: (PlayBooks) throws -> Void) throws {
        do { try play.perform(body) } catch PlayError.invalidAction {
            // The subscription has ended, or the money is back already.
        }
    }

    /// Lets the service receive a notification, and ask for the state.
    private func receive(_ queued: QueuedNotification) async throws {
        let bytes = Array(try JSONEncoder().encode(queued.notification))
        let notification = try GooglePlayNotification(json: bytes)
        guard let token = notification.purchaseToken else { return }
        let bundleIdentifier = app.purchases.app.bundleIdentifier
        _ = try await app.refresh(
            token,
            notifiedBy: { origin in
                NotificationRecord(
                    app: bundleIdentifier, origin: origin, notificationUUID: String(queued.number),
                    type: notification.type, subtype: notification.subtype, signedAt: notification.eventTime,
                    proofDigest: DigestAlgorithm.sha256.digest(of: bytes), content: notification.content)
            })
    }
}
