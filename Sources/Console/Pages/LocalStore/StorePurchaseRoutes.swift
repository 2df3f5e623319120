import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

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

    /// The offer of a product, as `KIND IDENTIFIER`. An introductory offer needs no request.
    private var offer: Field<Payment.OfferChoice?> {
        var choices: [(value: String, title: Phrase)] = [("", "None, or the introductory offer for a new customer")]
        for product in store.configuration.products {
            let name = CustomerWords.isolated(names.product(product.productIdentifier))
            for offer in product.subscription?.offers ?? [] {
                guard let identifier = offer.identifier else { continue }
                choices.append(("\(offer.kind.name) \(identifier)", "\(offer.kind.title) \(identifier) (\(name))"))
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

    /// The products by name, with price and length, in the groups of their kinds.
    private func productField(chosen: String?) -> HTML {
        let groups = Dictionary(grouping: store.configuration.products, by: \.type)
        return labelled("product", "Product") {
            select(.id("product"), .name("product")) {
                for type in ProductType.allCases where groups[type] != nil {
                    optgroup(HTMLAttribute("label", type.title)) {
                        for product in groups[type] ?? [] {
                            let identifier = product.productIdentifier
                            option(.value(identifier), identifier == chosen ? .selected : nil) {
                                CustomerWords.isolated(names.product(identifier))
                                also(product.price.phrase, by: " · ")
                                if let period = product.subscription?.period { also(period.words(), by: " · ") }
                            }
                        }
                    }
                }
            }
        }
    }

    func addPurchases(to pages: ConsolePages) {
        pages.get("store/buy", .store) { request, context in try await purchaseForm(request, context) }
        pages.post("store/buy", .store) { _, context in try await buy(context) }
        for action in PaymentAction.allCases {
            pages.postStore(RouterPath("store/queue/:payment/\(action.rawValue)")) { request, context in
                // A resolved payment continues as another transaction of the queue.
                let changed = try store.perform(action, on: try context.parameter("payment") { Int64($0) })
                let number = String(changed.transaction.identifier)
                return try StoreSelection(request).with(.payment, number).path(done: action.words.notice)
            }
        }
    }

    /// The form that buys a product as any customer. The account decides the user that redeems.
    private func purchaseForm(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let accounts = try await BlockingWork.run { try store.read { try $0.transactions.recentAccounts() } }
        let given = try request.query("account", upTo: Store.maximumAccountLength)
        let account = given ?? accounts.first ?? Self.firstAccount
        let user = try await redeemer(of: account)
        let product = try request.query("product")
        return LocalStoreTab.page("Buy as a customer", LocalStoreTab.buy) {
            context.form(to: LocalStoreTab.buy.path) {
                div(.class("columns")) {
                    card("At the App Store") {
                        div(HTMLAttribute("data-live", "redeemer")) {
                            Field.text(
                                "account", "Account of the customer", upTo: Store.maximumAccountLength, value: account,
                                isRequired: true, HTMLAttribute("list", "accounts"))
                            datalist(.id("accounts")) {
                                for account in accounts { Console.option(.value(account)) }
                            }
                        }
                        productField(chosen: product)
                        Self.quantity
                        offer
                        Self.billingPlan
                        Self.outcome
                    }
                    card("In the app") {
                        p {
                            "An app hands the proof of a purchase to the service. The service verifies it and grants the items, and the app then finishes the transaction."
                        }
                        div(.id("redeemer")) {
                            Field.text(
                                "user", "Redeem for the user", value: user?.name ?? "",
                                maximumLength: User.maximumLength,
                                note:
                                    "The user with the latest purchase of the account, or else of its name. A user that the service does not know is added."
                            )
                        }
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

    /// The user who redeems the purchases of an account: the owner of the latest one, or else the user of the account's name.
    func redeemer(of account: String) async throws -> User? {
        let latest = try await BlockingWork.run {
            try store.read { try $0.listedTransactions(of: account, limit: 3) }.map(\.transaction.transactionIdentifier)
        }
        for identifier in latest {
            for purchase in try await owners(of: identifier) {
                if let owner = purchase.owner, owner.issuer.isEmpty { return owner }
            }
        }
        return User(name: account)
    }

    /// Buys, and redeems the purchase for a user if the form names one.
    private func buy(_ context: ConsoleContext) async throws -> ConsolePath {
        let (actor, form) = (try context.requiredMember.actor, context.form)
        let account = try form.requiredText("account", upTo: Store.maximumAccountLength)
        let outcome = try form[Self.outcome]
        let user = try form.text(Self.redeeming.name) == Self.redeeming.value ? form[Self.user] : nil
        var token = try form[Self.token]
        let (product, quantity) = (try form.requiredText("product"), try form[Self.quantity] ?? 1)
        let offer = try form[offer]
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
        return StoreSelection().with(.payment, String(payment.identifier))
            .path(refused: refusal, done: payment.purchase == nil ? nil : .bought)
    }

    /// The purchases at the service that have a transaction, each with its owner.
    func owners(of transactionIdentifier: String?) async throws -> [KnownPurchase] {
        guard let transactionIdentifier else { return [] }
        return try await entitlements.purchases(ofTransaction: transactionIdentifier)
    }
}
