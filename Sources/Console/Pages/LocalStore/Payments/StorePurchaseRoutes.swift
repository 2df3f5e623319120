import AppStore
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// Purchases at the local store, and the steps of their payments.
extension LocalStoreRoutes {
    static let user = Field.text(
        "user", "Redeem for the user", maximumLength: User.maximumLength, isRequired: true,
        note: "Hands the proof to the service as the app of this user would, and finishes the transaction."
    ).parsed("a user's name of at most \(User.maximumLength) bytes, without spaces and control characters") {
        User(name: $0)
    }
    private static let token = Field.text(
        "token", "Account token (appAccountToken)", maximumLength: 36,
        note: "Empty sends the service's token of the user, as an app does. If you only buy, it sends none."
    ).optional("a UUID") { UUID(uuidString: $0) }
    private static let outcome = Field.choice(
        "outcome", "Outcome",
        [.purchased, .deferred, .interrupted] + SKErrorCode.allCases.map { .failed($0) },
        expected: "purchased, deferred, interrupted or an SKError by its name", text: \.name,
        shown: { outcome in
            switch outcome {
            case .purchased: "Purchased, by the settings"
            case .deferred: "Deferred: Ask to Buy"
            case .interrupted: "Interrupted"
            case .failed(let error): "Fails with \(error.name)"
            }
        }, isRequired: true, parse: { PaymentOutcome(name: $0) })
    private static let billingPlan = Field.choice(
        "billing-plan", "Billing plan", BillingPlanType.allCases, expected: "upFront or monthly", text: \.name,
        shown: StoreWords.title, absent: .upFront)
    private static let quantity = Field.number("quantity", "Quantity (1 to 10)", value: "1", isRequired: true)
    /// The button that also redeems the purchase.
    private static let redeeming = (name: "then", value: "redeem")
    /// The account of a store that has sold nothing yet.
    private static let firstAccount = "alice"

    /// The offer of one of some products, as `KIND IDENTIFIER`. An introductory offer needs no request.
    private static func offer(_ products: [Product]) -> Field<Payment.OfferChoice?> {
        var choices: [(value: String, title: Phrase)] = [("", "None, or the introductory offer for a new customer")]
        for product in products {
            for offer in product.subscription?.offers ?? [] {
                guard let identifier = offer.identifier else { continue }
                let title: Phrase = "\(offer.kind.title) \(identifier) (\(product.productIdentifier))"
                choices.append(("\(offer.kind.name) \(identifier)", title))
            }
        }
        return Field.choice("offer", "Offer", choices).optional("an offer of the list") { text in
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, let kind = SubscriptionOffer.Kind(name: parts[0]), kind != .introductory else {
                return nil
            }
            return Payment.OfferChoice(kind: kind, identifier: parts[1])
        }
    }

    func addPurchases(to pages: ConsolePages) {
        pages.getStore("store/buy", purchaseForm)
        pages.post("store/buy", .store) { _, context in try await buy(context) }
        pages.get("store/queue/:payment", .store) { request, context in try await payment(request, context) }
        for action in PaymentAction.allCases {
            pages.postStore(RouterPath("store/queue/:payment/\(action.rawValue)")) { context in
                // A resolved payment continues as another transaction of the queue.
                let changed = try store.perform(action, on: try context.parameter("payment") { Int64($0) })
                return .storePayment(changed.transaction.identifier, done: action.words.notice)
            }
        }
    }

    /// The form that buys a product as any customer.
    private func purchaseForm(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let given = try request.query("account", upTo: Store.maximumAccountLength)
        let product = try request.query("product")
        let accounts = try store.read { try $0.transactions.recentAccounts() }
        let account = given ?? accounts.first ?? Self.firstAccount
        let products = store.configuration.products
        return Page("Buy as a customer", section: .localStore) {
            LocalStoreTab.links(LocalStoreTab.buy)
            context.form(to: LocalStoreTab.buy.path) {
                div(.class("columns")) {
                    card("At the App Store") {
                        div(.class("field")) {
                            label(.for("account")) { "Account of the customer" }
                            input(
                                .type("text"), .id("account"), .name("account"), .value(account), .required,
                                HTMLAttribute("autocomplete", "off"), HTMLAttribute("maxlength", "256"),
                                HTMLAttribute("list", "accounts"))
                            datalist(.id("accounts")) {
                                for account in accounts { Console.option(.value(account)) }
                            }
                        }
                        Field.choice(
                            "product", "Product",
                            products.map {
                                ($0.productIdentifier, Phrase("\($0.productIdentifier) (\($0.price.phrase))"))
                            }, chosen: product)
                        Self.quantity
                        Self.billingPlan
                        Self.offer(products)
                        Self.outcome
                    }
                    card("In the app") {
                        p {
                            "An app hands the proof of a purchase to the service. The service verifies it and grants the items, and the app then finishes the transaction."
                        }
                        Field.text(
                            "user", "Redeem for the user",
                            value: User(name: account)?.name ?? "", maximumLength: User.maximumLength,
                            note: "A user that the service does not know is added.")
                        Self.token
                    }
                }
                div(.class("actions")) {
                    // The first button is the one of the Enter key.
                    button(.class("primary"), .name(Self.redeeming.name), .value(Self.redeeming.value)) {
                        "Buy and redeem"
                    }
                    button { "Buy only" }
                }
            }
        }
    }

    /// Buys, and redeems the purchase for a user if the form names one.
    private func buy(_ context: ConsoleContext) async throws -> ConsolePath {
        let (actor, form) = (try context.requiredMember.actor, context.form)
        let account = try form.requiredText("account", upTo: Store.maximumAccountLength)
        let outcome = try form[Self.outcome]
        let user = try form.text(Self.redeeming.name) == Self.redeeming.value ? form[Self.user] : nil
        var token = try form[Self.token]
        let (product, quantity) = (try form.requiredText("product"), try form[Self.quantity] ?? 1)
        let offer = try form[Self.offer([])]
        if token == nil, let user { token = try await entitlements.appAccountToken(of: user) }
        let request = Payment(
            productIdentifier: product, quantity: quantity, appAccountToken: token,
            billingPlanType: try form[Self.billingPlan], offer: offer)
        let payment = try await BlockingWork.run {
            let added = try store.add(request, account: account, outcome: outcome)
            _ = try store.process(account: account)
            return try store.read { try $0.queued(added.identifier).transaction }
        }
        var refusal: String?
        if let user, let sold = payment.purchase {
            do {
                try await redeem(sold.transactionIdentifier, for: user, by: actor)
            } catch let error as RedemptionError {
                // The purchase has happened, so its page shows the refusal.
                refusal = error.code
            }
        }
        return ConsolePath(
            "store", "queue", String(payment.identifier),
            query: ["done": payment.purchase == nil ? nil : Notice.bought.rawValue, "refused": refusal])
    }

    /// A payment of the queue, with the way of its purchase.
    private func payment(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let identifier = try context.parameter("payment") { Int64($0) }
        // The code with which the service refused the proof; nil if it did not.
        let refusal = try request.query("refused", upTo: 64)
        let (queued, effect) = try await BlockingWork.run {
            try store.read { try ($0.queued(identifier), $0.effect(of: identifier)) }
        }
        let sold = queued.transaction.purchase?.transactionIdentifier
        let way = StorePurchaseWay(
            context: context, payment: queued.transaction, sold: sold, effect: effect,
            owners: try await owners(of: sold))
        return Page("Payment \(queued.transaction.identifier)", section: .localStore) {
            LocalStoreTab.links(nil)
            if let refusal {
                div(.class("problem"), .role("alert")) {
                    p {
                        "The store sold the product, but the service refused the proof:"
                        also(Shown.identifier(refusal))
                    }
                }
            }
            LocalStoreTab.live {
                section(.class("card")) {
                    Facts.list {
                        let payment = queued.transaction.payment
                        fact("State") { StoreWords.badge(queued) }
                        fact("Effect") { effect.map(StoreWords.sentence) ?? Shown.nothing }
                        fact("Account") { StoreRows.account(queued.account) }
                        fact("Product") { StoreRows.product(payment) }
                        fact("Offer") {
                            payment.offer.map { spaced($0.kind.title, Shown.identifier($0.identifier)) }
                                ?? Shown.nothing
                        }
                        fact("Account token") { Shown.identifier(payment.appAccountToken?.lowercasedString) }
                    }
                }
                StoreRows.buttons(queued, context)
                way.steps
            }
            way.form
        }
    }

    /// The purchases at the service that have a transaction, each with its owner.
    func owners(of transactionIdentifier: String?) async throws -> [KnownPurchase] {
        guard let transactionIdentifier else { return [] }
        return try await entitlements.purchases(ofTransaction: transactionIdentifier)
    }
}

/// The way of a purchase from the payment to the grant, as a list of steps.
struct StorePurchaseWay {
    let context: ConsoleContext
    /// The payment of the queue; nil for a renewal, which no payment began.
    let payment: PaymentTransaction?
    /// The identifier of the transaction that the store has sold; nil if it sold none.
    let sold: String?
    let effect: PurchaseEffect?
    /// The purchases of the transaction that the service knows.
    let owners: [KnownPurchase]

    @HTMLBuilder var steps: HTML {
        h2 { "The way of the purchase" }
        ol(.class("timeline")) {
            if let payment { paymentStep(payment) }
            if let sold {
                li(.class("good")) {
                    "The store has signed a proof:"
                    also(StoreRows.transaction(sold))
                }
                for owner in owners { redeemed(owner, sold) }
                if owners.isEmpty {
                    li(.class("warning")) {
                        "The service knows nothing of it yet. The app hands the proof to the service:"
                    }
                }
            }
            if let payment, payment.purchase != nil {
                let isFinished = payment.state == .finished
                li(.class(isFinished ? "good" : "warning")) {
                    isFinished
                        ? "The app has finished the transaction."
                        : "The app has not finished the transaction. The queue delivers it at each launch."
                }
            }
        }
    }

    private func paymentStep(_ payment: PaymentTransaction) -> HTML {
        let mood: Shown.Mood =
            switch payment.state {
            case .failed: .bad
            case .finished: payment.purchase == nil ? .bad : .good
            case .purchased, .restored: .good
            case .purchasing, .deferred: .warning
            }
        return li(.class(mood.rawValue)) {
            a(.href(.storePayment(payment.identifier))) {
                "Payment"
                plain(" \(payment.identifier)")
            }
            plain(": ")
            if let effect { StoreWords.sentence(effect) } else { StoreWords.word(payment.state).title }
            if let error = payment.error { also(code { plain(error.name) }) }
        }
    }

    private func redeemed(_ owner: KnownPurchase, _ sold: String) -> HTML {
        let known = owner.transactions.first { $0.transactionIdentifier.hasSameBytes(as: sold) }
        return li(.class(known?.revocationDate == nil ? "good" : "bad")) {
            known == nil ? "An earlier transaction of the purchase was redeemed by" : "Redeemed by"
            also(owner.owner.map(Shown.link) ?? HTML { "an erased customer" })
            if let known { also(Shown.moment(known.redeemedAt), by: ", ") }
            if !owner.items.isEmpty {
                also(data(owner.items.map(\.description).joined(separator: ", ")), by: ": ")
            }
            if known?.revocationDate != nil { also(Shown.badge("Taken back", .bad)) }
        }
    }

    /// The form that plays the app, if the store has sold anything.
    @HTMLBuilder var form: HTML {
        if let sold {
            context.form(to: .storeTransaction(sold, "redeem"), .class("card narrow")) {
                LocalStoreRoutes.user
                button(.class("primary")) { "Redeem" }
            }
        }
    }
}
