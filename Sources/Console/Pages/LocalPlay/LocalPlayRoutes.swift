import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Vocabulary

/// The local Google Play on one page: its clock and the form of a customer above, the purchases on the left, and on the right what
/// the customer, the bank and Google can do with one.
struct LocalPlayRoutes: Sendable {
    private static let firstAccount = "alice"
    private static let account = Field.text(
        "customer", "Account of the customer", upTo: GooglePlay.maximumAccountLength, value: firstAccount,
        isRequired: true)
    private static let quantity = Field.number(
        "quantity", "Quantity (1 to 50)", in: 1...50, expected: "a number from 1 to 50", value: "1")
    private static let isPending = Field.checkbox("pending", "The payment is made later")
    private static let isTest = Field.checkbox("test", "License tester, with short periods")
    private static let usesOneTimeCode = Field.checkbox("code", "A promotion code pays for a one-time product")
    private static let other = "together"
    private typealias Choice = (value: String, title: Phrase)

    /// The action that hands a purchase to the service, as an app does.
    private static let redeeming = "redeem"
    /// The action of the customer's bank.
    private static let disputing = "dispute"

    let services: any ConsoleServices
    let play: GooglePlay

    private var names: CatalogNames { services.names }

    func add(to pages: ConsolePages) {
        pages.getStore("play") { request, context in try page(request, context) }
        pages.postStore("play/clock") { _, context in
            guard let step = TimeStep(try context.form.text("step", upTo: 8)) else {
                throw ConsoleForm.invalid("step", TimeStep.form)
            }
            let account = try LocalStoreRoutes.account(context.form)
            try play.perform { _ = try $0.advance(step, of: account) }
            return ConsolePath("play", query: ["account": account], done: .advanced)
        }
        pages.post("play/buy", .store) { _, context in
            Self.path(of: try await buy(context.form), done: .bought)
        }
        pages.post("play/purchases/:number/:action", .store) { _, context in
            let number = try context.parameters.require("number", as: Int64.self)
            switch try context.parameters.text("action") {
            case Self.redeeming:
                try await redeem(number, by: try context.requiredMember.actor)
                return Self.path(of: number, done: .redeemed)
            case Self.disputing:
                try await BlockingWork.run { try dispute(number) }
                return Self.path(of: number, done: .performed)
            default: break
            }
            let action = try context.parameter("action") { SubscriptionAction(rawValue: $0) }
            try await BlockingWork.run { try perform(action, on: number) }
            return Self.path(of: number, done: .performed)
        }
    }

    private static func path(of number: Int64, done notice: Notice? = nil) -> ConsolePath {
        ConsolePath("play", query: ["purchase": String(number)], done: notice)
    }

    private static func receiver(of purchase: PlayPurchase, _ action: String) -> ConsolePath {
        ConsolePath("play", "purchases", String(purchase.number), action)
    }

    // MARK: Actions

    /// Sells a one-time product, or a subscription, perhaps with another one in the same order. The account is the user of its name, as
    /// an app states it.
    ///
    /// - Returns: The number of the purchase.
    private func buy(_ form: ConsoleForm) async throws -> Int64 {
        var token: String?
        if let user = User(name: try form[Self.account]) {
            token = try await services.entitlements.appAccountToken(of: user).lowercasedString
        }
        return try await BlockingWork.run { [token] in
            let (order, offer) = try Self.order(form, token)
            return try play.perform { books in
                func isSubscription(_ product: String) throws -> Bool {
                    try books.subscriptionProduct(product, of: order.packageName) != nil
                }
                let sellsSubscription = try isSubscription(order.productId)
                guard try order.products.allSatisfy({ try isSubscription($0.productId) == sellsSubscription }) else {
                    throw ConsoleForm.invalid(Self.other, "a subscription with a subscription, and else none")
                }
                guard sellsSubscription else { return try books.buy(order, offerId: offer).number }
                var subscribed = order
                subscribed.products = []
                subscribed.addOns = order.products.map { other in
                    var addOn = PlayAddOnOrder(productId: other.productId)
                    (addOn.basePlanId, addOn.offerId) = (other.purchaseOptionId, other.offerId)
                    return addOn
                }
                return try books.subscribe(subscribed, offerId: offer).number
            }
        }
    }

    /// The order of a form, and the offer of its purchase option; nil for none.
    private static func order(_ form: ConsoleForm, _ token: String?) throws -> (PlayPurchaseOrder, offer: String?) {
        let product = try parts("product", form)
        var order = PlayPurchaseOrder(packageName: product[0], productId: product[1], account: try form[account])
        order.quantity = try form[quantity]
        (order.isPending, order.isTest) = (try form[isPending], try form[isTest])
        order.usesOneTimeCode = try form[usesOneTimeCode]
        order.obfuscatedAccountId = token
        order.purchaseOptionId = product.count > 2 ? product[2] : nil
        if try !form.text(other).isEmpty {
            let sold = try parts(other, form)
            guard sold[0] == order.packageName else { throw ConsoleForm.invalid(other, "a product of the same app") }
            var together = PlayProductOrder(productId: sold[1])
            together.purchaseOptionId = sold.count > 2 ? sold[2] : nil
            together.offerId = sold.count > 3 ? sold[3] : nil
            order.products = [together]
        }
        return (order, product.count > 3 ? product[3] : nil)
    }

    /// The app and the product of a choice, perhaps with a purchase option and its offer.
    private static func parts(_ name: String, _ form: ConsoleForm) throws -> [String] {
        let parts = try form.requiredText(name).split(separator: " ").map(String.init)
        guard (2...4).contains(parts.count) else { throw ConsoleForm.invalid(name, "a product of the list") }
        return parts
    }

    private func perform(_ action: SubscriptionAction, on number: Int64) throws {
        try play.perform { books in
            switch action {
            case _ where try isSubscription(number, books): _ = try books.perform(action, on: number)
            case .complete: _ = try books.complete(number)
            case .cancel: _ = try books.cancel(number)
            case .refund: _ = try books.refund(number)
            default: throw Problem.pathUnknown
            }
        }
    }

    /// Disputes the latest payment of a purchase.
    private func dispute(_ number: Int64) throws {
        try play.perform { books in
            let order =
                try isSubscription(number, books)
                ? books.subscription(number).periods.last?.orderId : books.purchase(number).orderId
            guard let order else { throw Problem.pathUnknown }
            _ = try books.dispute(order: order)
        }
    }

    private func isSubscription(_ number: Int64, _ books: PlayBooks) throws -> Bool {
        do {
            _ = try books.subscription(number)
            return true
        } catch PlayError.purchaseNotFound {
            return false
        }
    }

    /// Redeems the signed purchase of a one-time product for the user of the account's name. The service learns of a subscription by
    /// its notification.
    private func redeem(_ number: Int64, by actor: AuditActor) async throws {
        let (account, signed) = try await BlockingWork.run {
            try play.perform { books in
                let purchase = try books.purchase(number)
                return (purchase.account, try books.signed(purchase))
            }
        }
        guard let user = User(name: account) else { throw Problem.userNotFound }
        let request = RedemptionRequest(signed.json.compactBytes, for: user, by: actor)
        _ = try await services.door.redeem(request).decision.redemption
    }

    // MARK: The page

    /// The times that the page shows.
    private struct Times {
        /// The account whose purchases are shown, and whose time moves; nil for the Play's.
        let customer: String?
        let now: Timestamp
        /// The accounts with their own time.
        let others: [AccountTime]

        init(_ customer: String?, now: Timestamp, _ others: [AccountTime]) {
            (self.customer, self.now, self.others) = (customer, now, others)
        }
    }

    private func page(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let account = try request.chosen("account")
        let number = try request.query("purchase").flatMap { Int64($0) }
        typealias Content = (Times, [PlayPurchase], PlayPurchase?, RefundReview?, Sold)
        let (times, purchases, shown, review, sold) = try play.perform { (books: PlayBooks) -> Content in
            let bought: [PlayPurchase] = try books.purchases(of: account).map { PlayPurchase($0) }
            let subscribed: [PlayPurchase] = try books.subscriptions(of: account).map { PlayPurchase($0) }
            let all = bought + subscribed
            // An account without a purchase has no time of its own.
            let customer = all.isEmpty ? nil : account
            let others = customer == nil ? try books.accountTimes() : []
            let shown = all.first { $0.number == number }
            let review = try shown?.order.flatMap { try books.review(order: $0) }
            return (
                Times(customer, now: try books.time(of: customer), others), all, shown, review, try products(books)
            )
        }
        return Page("Local Google Play", section: .localPlay) {
            div(.class("bar")) {
                section {
                    h2 { times.customer == nil ? "Play's time" : "Customer's time" }
                    Shown.moment(times.now)
                    LocalStoreRoutes.clockButtons(context, to: ConsolePath("play", "clock"), of: times.customer)
                }
            }
            if !times.others.isEmpty {
                Listing.table(
                    "Accounts with their own time", of: times.others, empty: "Every account follows the store's clock."
                ) {
                    column("Account") { other in
                        a(.href(ConsolePath("play", query: ["account": other.account]))) { data(other.account) }
                    }
                    column("Time") { Shown.moment($0.now) }
                }
            }
            context.action(
                "Buy as a customer", to: ConsolePath("play", "buy"), submit: "Buy", isOpen: purchases.isEmpty
            ) {
                Field.choice("product", "Product", sold.once + sold.subscriptions)
                if max(sold.once.count, sold.subscriptions.count) > 1 {
                    Field.choice(Self.other, "Together with", empty: "None", sold.once + sold.subscriptions)
                }
                Self.account.html(account)
                Self.quantity
                Self.isPending
                Self.usesOneTimeCode
                Self.isTest
            }
            div(.class("store")) {
                div {
                    form(.class("filters"), .method("get"), .action(ConsolePath("play")), .role("search")) {
                        Field.text("account", "Account", upTo: GooglePlay.maximumAccountLength, value: account ?? "")
                        button { "Filter" }
                    }
                    list(purchases.sorted { $0.number > $1.number }, shown)
                }
                StoreRows.inspector {
                    if let shown {
                        inspector(shown, review, context)
                    } else {
                        note("Choose a purchase of the list to see its facts and everything that can be done with it.")
                    }
                }
            }
        }
    }

    private typealias Sold = (once: [Choice], subscriptions: [Choice])

    /// The sold products: their apps with their identifiers, and their names. They are also sold by their other purchase options or
    /// plans, and by their offers.
    private func products(_ books: PlayBooks) throws -> Sold {
        let known = services.entitlements.catalogs.all.flatMap(\.products).map(\.productIdentifier)
        var sold: Sold = ([], [])
        for app in try books.apps() {
            func choices(_ identifier: String, _ forms: [PlayBooks.SoldForm]) -> [Choice] {
                let name = names.product(identifier)
                return [("\(app) \(identifier)", name)]
                    + forms.map { form in
                        let form = [form.purchaseOptionId, form.offerId].compactMap(\.self).joined(separator: " ")
                        return ("\(app) \(identifier) \(form)", "\(name) (\(form))")
                    }
            }
            for product in try books.products(of: app) {
                guard let identifier = product.productId else { continue }
                sold.once += choices(identifier, try books.soldForms(of: product))
            }
            for identifier in known {
                guard let product = try books.subscriptionProduct(identifier, of: app) else { continue }
                sold.subscriptions += choices(identifier, try books.soldForms(of: product))
            }
        }
        return sold
    }

    private func list(_ purchases: [PlayPurchase], _ shown: PlayPurchase?) -> HTML {
        Listing.table("Purchases, newest first", of: purchases, empty: "The Play has sold nothing yet.") {
            column("Product") { purchase in
                StoreRows.link(Self.path(of: purchase.number), isOpen: purchase.number == shown?.number) {
                    StoreRows.product(purchase.product, quantity: purchase.quantity, names)
                }
                br()
                small { Shown.moment(purchase.boughtAt) }
            }
            column("Account") { data($0.account) }
            column("Price") { Shown.money($0.price) }
            column("State") { Shown.badge($0.state) }
        }
    }

    /// - Parameter review: The dispute of the latest payment; nil for none.
    @HTMLBuilder private func inspector(
        _ purchase: PlayPurchase, _ review: RefundReview?, _ context: ConsoleContext
    ) -> HTML {
        h2 { bdi { names.product(purchase.product) } }
        div(.class("head")) {
            Shown.badge(purchase.state)
            data(purchase.account)
            Shown.money(purchase.price)
        }
        div(.class("actions")) {
            if purchase.mayRedeem {
                context.form(to: Self.receiver(of: purchase, Self.redeeming)) { button(.class("primary")) { "Redeem" } }
            }
            for action in purchase.actions {
                context.form(to: Self.receiver(of: purchase, action.rawValue)) { button { action.title } }
            }
            if purchase.mayDispute, review == nil {
                context.form(to: Self.receiver(of: purchase, Self.disputing)) { button { "Dispute" } }
            }
        }
        Facts.list {
            if !purchase.addOns.isEmpty {
                fact(purchase.isSubscription ? "Add-ons" : "Other products") {
                    for (index, product) in purchase.addOns.enumerated() {
                        if index > 0 { br() }
                        bdi { names.product(product) }
                    }
                }
            }
            fact("Offer") { Shown.identifier(purchase.offer) }
            fact("Order") { Shown.identifier(purchase.order) }
            fact("Dispute") { review.map { spaced(Shown.badge($0.state.word), Shown.moment($0.deadline)) } }
            fact("Bought") { Shown.moment(purchase.boughtAt) }
            fact("Until") { Shown.moment(purchase.until) }
            fact("Charged at the release") { Shown.moment(purchase.release) }
            fact("Acknowledged") { Shown.badge(purchase.isAcknowledged ? "yes" : "no") }
            fact("Refunded unless acknowledged by") { Shown.moment(purchase.deadline) }
            fact("Customer") { User(name: purchase.account).map { Shown.link(to: $0) } }
        }
    }
}

/// A purchase at the local Google Play as its page shows it: of a one-time product, or a subscription.
struct PlayPurchase {
    let number: Int64
    let account: String
    let product: String
    let isSubscription: Bool
    /// The products besides the first one, or those of the items besides the base item.
    let addOns: [String]
    let quantity: Int
    let price: Price
    let boughtAt: Timestamp
    /// The end of the paid time; nil for a one-time product that is not rented.
    let until: Timestamp?
    /// The moment at which a pre-order is charged; nil for another purchase.
    let release: Timestamp?
    let order: String?
    let offer: String?
    let isAcknowledged: Bool
    /// The moment at which the purchase is refunded unless it is acknowledged.
    let deadline: Timestamp?
    let state: Shown.Word
    /// The actions of the customer, the bank and Google that are possible now. A one-time product has some of a subscription's.
    let actions: [SubscriptionAction]
    /// True if the app hands the purchase to the service. Google notifies it of a subscription.
    let mayRedeem: Bool
    /// True if the customer's bank can dispute the latest payment.
    let mayDispute: Bool

    init(_ purchase: OneTimePurchase) {
        (number, account, product) = (purchase.number, purchase.account, purchase.terms.productId)
        addOns = purchase.items.dropFirst().map(\.productId)
        (isSubscription, quantity, price) = (false, purchase.quantity, purchase.price(of: 1).price)
        offer = purchase.terms.offerId
        (boughtAt, until, order) = (purchase.purchaseTime, purchase.rentalEnd, purchase.orderId)
        (isAcknowledged, deadline) = (purchase.isAcknowledged, purchase.acknowledgementDeadline)
        release = purchase.releaseTime
        switch purchase.state {
        case .pending where release != nil: (state, actions) = (("pre-ordered", .warning), [.cancel])
        case .pending: (state, actions) = (("payment pending", .warning), [.complete, .cancel])
        case .canceled where purchase.refundedQuantity > 0: (state, actions) = (("refunded", .bad), [])
        case .canceled: (state, actions) = (("canceled", .neutral), [])
        case .purchased where purchase.refundableQuantity == 0: (state, actions) = (("refunded", .bad), [])
        case .purchased: (state, actions) = (purchase.isConsumed ? ("consumed", .neutral) : ("owned", .good), [.refund])
        }
        mayRedeem = purchase.state == .purchased && purchase.refundableQuantity != 0
        mayDispute = mayRedeem && order != nil
    }

    init(_ purchase: RecurringPurchase) {
        (number, account, product) = (purchase.number, purchase.account, purchase.terms.productId)
        (addOns, isSubscription) = (purchase.addOns.map(\.terms.productId), true)
        (quantity, price, offer) = (1, purchase.terms.price.price, purchase.terms.offerId)
        (boughtAt, until) = (purchase.periods.first?.start ?? purchase.expiryTime, purchase.expiryTime)
        (order, isAcknowledged) = (purchase.periods.last?.orderId, purchase.isAcknowledged)
        (deadline, release, mayRedeem) = (purchase.acknowledgementDeadline, nil, false)
        mayDispute = order.map { !purchase.isRefunded($0) } ?? false
        let charge: SubscriptionAction = purchase.declines ? .acceptPayments : .declinePayments
        let consent: [SubscriptionAction] =
            (purchase.awaitsConsent ? [.acceptPrice] : []) + (purchase.stepUp?.state == .pending ? [.acceptStepUp] : [])
        switch purchase.state {
        case .pending: (state, actions) = (("payment pending", .warning), [.complete, .cancel])
        case .active:
            (state, actions) = (("active", .good), consent + [.cancel, charge, .pause, .refund, .chargeback])
        case .inGracePeriod:
            (state, actions) = (("grace period", .warning), [.cancel, charge, .refund, .chargeback])
        case .onHold: (state, actions) = (("on hold", .warning), [.cancel, charge, .refund, .chargeback])
        case .paused: (state, actions) = (("paused", .warning), [.resume])
        case .canceled: (state, actions) = (("canceled", .neutral), [.restore, .refund, .chargeback])
        case .expired: (state, actions) = (("expired", .neutral), [.resubscribe])
        case .pendingPurchaseCanceled: (state, actions) = (("canceled", .neutral), [])
        }
    }
}

extension RefundReview.State {
    fileprivate var word: Shown.Word {
        switch self {
        case .open: ("open", .warning)
        case .answered: ("answered", .neutral)
        case .refunded: ("refunded", .bad)
        case .kept: ("payment kept", .good)
        }
    }
}

extension SubscriptionAction {
    fileprivate var title: Phrase {
        switch self {
        case .complete: "Complete the payment"
        case .cancel: "Cancel"
        case .restore: "Restore"
        case .acceptPrice: "Consent to the higher price"
        case .acceptStepUp: "Consent to the price after the offer"
        case .resubscribe: "Subscribe again"
        case .declinePayments: "Let payments fail"
        case .acceptPayments: "Let payments succeed"
        case .pause: "Pause"
        case .resume: "Resume"
        case .refund: "Refund"
        case .chargeback: "Charge back"
        }
    }
}
