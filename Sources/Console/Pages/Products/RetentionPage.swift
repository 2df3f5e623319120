import Catalog
import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension ProductsRoutes {
    private static let locale = "en-US"

    /// The page about the message that the retention rules choose for a customer who may cancel a subscription. Nothing is sent.
    func retention(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let address = try ProductAddress(request, context, of: apps)
        guard address.product?.subscription != nil else { throw Problem.pathUnknown }
        let (transaction, locale) = (try request.chosen("transaction"), try request.chosen("locale") ?? Self.locale)
        let (catalog, now) = (address.app.catalog, services.entitlements.clock.now())
        let ownership = try await services.ledger.read { ledger in
            try transaction.map {
                try ledger.retentionOwnership(ofTransaction: $0, in: catalog.bundleIdentifier, at: now)
            } ?? RetentionFacts.Ownership(isRedeemed: false)
        }
        let facts = RetentionFacts(product: address.productIdentifier, locale: locale, ownership: ownership)
        let decision = catalog.retentionRules?.decision(about: facts, in: catalog) ?? .unmatched
        return Page("Retention message", section: .products) {
            p(.class("actions")) { a(.class("button"), .href(address.path())) { "The product" } }
            note(
                "Shows what the rules choose for a customer who may cancel the subscription. Nothing is sent. Without a transaction, it is a customer of whom the ledger knows nothing."
            )
            filters(ConsolePath("products", address.productIdentifier, "retention")) {
                hidden("app", address.appParameter)
                Field.text("transaction", "Original transaction", value: transaction ?? "")
                Field.text("locale", "Locale of the customer", value: locale)
            }
            card("Facts about the customer") { Facts.list(self.facts(ownership, of: address, transaction)) }
            card("Answer") {
                Facts.list(chosen(decision, at: address))
                if let rules = catalog.retentionRules {
                    if rules.isDryRun {
                        note(
                            "The rules are only tried (dryRun): customers see the App Store's default message, whatever the rules choose."
                        )
                    } else if decision.choice.needsKey {
                        note(
                            "The service signs it with app-store-key. Without this key, customers see the App Store's default message."
                        )
                    }
                } else {
                    note("The app has no RetentionRules.json, so customers see the App Store's default message.")
                }
            }
        }
    }

    @FactsBuilder private func facts(
        _ ownership: RetentionFacts.Ownership, of address: ProductAddress, _ transaction: String?
    ) -> [Fact] {
        fact("Product") { services.names.lines(address.productIdentifier) }
        fact(Phrase("Redeemed", context: "question")) { Self.word(ownership.isRedeemed) }
        // The App Store asks about this product, which differs from that of the page after an upgrade.
        fact("Product of the present period") {
            ownership.productIdentifier.map { link(to: $0, beside: address, asking: transaction) }
        }
        fact("Storefront") { ownership.storefront.map { data($0) } }
        fact("Days since the first purchase") { ownership.age.map { Shown.number($0 / 86_400) } }
        fact("Free trial") { ownership.isTrial.map(Self.word) }
        fact("Family Sharing") { ownership.isFamilyShared.map(Self.word) }
    }

    @FactsBuilder private func chosen(_ decision: RetentionDecision, at address: ProductAddress) -> [Fact] {
        fact("The customer sees") { decision.choice.title }
        fact("Rule") { decision.rule.map { data($0) } ?? HTML { "No rule matches." } }
        if let message = decision.choice.message {
            fact("Message") { Shown.identifier(message.uuidString.lowercased()) }
        }
        if case .alternateProduct(_, let product, let plan) = decision.choice {
            fact("Other product") { link(to: product, beside: address) }
            fact("Billing plan") { Shown.identifier(plan?.rawValue) }
        }
        if case .promotionalOffer(_, let offer, let product) = decision.choice {
            fact("Offer") { Shown.identifier(offer) }
            fact("Other product") { product.map { link(to: $0, beside: address) } }
        }
    }

    private static func word(_ isTrue: Bool) -> Phrase { isTrue ? "Yes" : "No" }

    /// A link to another product of the app.
    ///
    /// - Parameter transaction: The original transaction for the page of the product's retention message; nil for the product's page.
    private func link(
        to product: String, beside address: ProductAddress, asking transaction: String? = nil
    ) -> HTML {
        let other = ProductAddress(product, in: address.app, of: apps)
        return a(.href(transaction.flatMap { other.retention(of: $0) } ?? other.path())) {
            bdi { services.names.product(product) }
        }
    }
}

extension ProductAddress {
    /// The page about the retention message to a customer; nil for a product that is no subscription.
    ///
    /// - Parameter transaction: The original transaction of the customer's subscription; nil for none.
    func retention(of transaction: String? = nil) -> ConsolePath? {
        guard product?.subscription != nil else { return nil }
        return ConsolePath(
            ["products", productIdentifier, "retention"], query: [("app", appParameter), ("transaction", transaction)])
    }
}

extension CustomerView {
    /// The page about the retention message to the customer; nil for a transaction of another store, and for one of no subscription.
    func retentionPath(of transaction: RedeemedTransaction) -> ConsolePath? {
        guard transaction.origin.store == .appStore, let name = transaction.app, let app = entitlements.apps[name]
        else { return nil }
        return ProductAddress(transaction.productIdentifier, in: app, of: entitlements.apps)
            .retention(of: transaction.originalTransactionIdentifier)
    }
}

extension RetentionAnswer {
    fileprivate var title: Phrase {
        switch self {
        case .message: "A message"
        case .alternateProduct: "A message with another product of the group"
        case .promotionalOffer: "A message with an offer"
        case .advancedCommerceInfo: "A message with a change of described items"
        case .defaultMessage: "The App Store's default message"
        }
    }
}
