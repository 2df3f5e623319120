import Features
import HTTPSupport
import Proofs

/// The page of one customer.
struct CustomerPage {
    let context: ConsoleContext
    let services: ConsoleServices
    let facts: CustomerFacts
    let timeline: Timeline

    private var user: User { facts.known.user }
    private var names: CatalogNames { CatalogNames(catalogs: services.entitlements.catalogs) }

    var page: Page {
        Page(Phrase(same: user.name), section: .customers) {
            if facts.isTester { p { Shown.badge("Sandbox tester", .warning) } }
            part("Items") {
                items
                p { a(.href(.customer(user, "explanation"))) { "Why does the customer (not) have an item?" } }
            }
            if !facts.subscriptions.isEmpty {
                part("Subscriptions") { subscriptions }
            }
            if !facts.expectedPurchases.isEmpty {
                section { ExpectedPurchaseTable(purchases: facts.expectedPurchases, names: names).html }
            }
            div(.class("columns")) {
                card("About the customer") { Facts.list(about) }
                card("Balances") { balances }
            }
            part("Timeline") { timeline.html }
            part("Transactions") {
                TransactionTable(
                    user: user, transactions: Array(facts.transactions.prefix(CustomerFacts.listed)), names: names,
                    now: services.entitlements.clock.now(),
                    next: facts.transactions.count > CustomerFacts.listed ? .customer(user, "transactions") : nil
                ).html
            }
            part("Items given by the team") {
                GrantTable(
                    context: context, user: user, grants: Array(facts.grants.prefix(CustomerFacts.listed)),
                    keys: facts.keys, names: names, now: services.entitlements.clock.now(),
                    next: facts.grants.count > CustomerFacts.listed ? .customer(user, "grants") : nil
                ).html
            }
            if context.may(.support) {
                CustomerActions(context: context, services: services, user: user, names: names).html
            }
        }
    }

    private var items: HTML {
        Listing.table("Items", of: facts.items, empty: "The customer owns no items.") {
            column("Item") { owned in
                spaced(names.picture(owned.item), bdi { names.item(owned.item) })
            }
            column("State") { spaced(CustomerWords.badge($0.state), OriginWords.mark($0.transaction?.origin)) }
            column("Since") { Shown.day($0.since) }
            column("Until") { until($0) }
            column("Source") { source(of: $0) }
            column("Why?") { owned in
                a(.href(explanation(of: owned.item))) { "Explain" }
            }
        }
    }

    @HTMLBuilder private func until(_ owned: OwnedItem) -> HTML {
        Shown.day(owned.until)
        if owned.renews == true {
            plain(" ")
            Shown.badge("renews", .good)
        }
    }

    @HTMLBuilder private func source(of owned: OwnedItem) -> HTML {
        switch owned.source {
        case .rule: "Everybody has it"
        case .grant: "Given by the team"
        case .purchase(let transaction):
            a(.href(transaction.path(of: user))) { names.product(transaction.productIdentifier) }
        }
    }

    private func explanation(of item: Item) -> ConsolePath {
        .customer(user, "explanation", query: ["collection": item.collection, "number": String(item.number)])
    }

    private var subscriptions: HTML {
        ul {
            for status in facts.subscriptions {
                let words = SubscriptionWords(
                    status: status, renewal: facts.renewal(of: status)?.renewal.facts, names: names)
                li {
                    spaced(words.sentence, CustomerWords.badge(status.state), OriginWords.mark(status.origin))
                    if words.awaitsConsent {
                        plain(" ")
                        Shown.badge("price increase without consent yet", .warning)
                    }
                }
            }
        }
    }

    @FactsBuilder private var about: [Fact] {
        fact("Name") { data(user.name) }
        fact("Issuer") { CustomerWords.issuer(user.issuer) }
        fact("Account token") { Shown.identifier(facts.known.appAccountToken.lowercasedString) }
        fact("First seen") { Shown.moment(facts.known.firstSeenAt) }
        if let profile = facts.profile {
            fact("Nickname") { profile.nickname.map { data($0) } ?? Shown.nothing }
            fact("Chosen items") {
                profile.chosen.isEmpty
                    ? Shown.nothing : HTML { for item in profile.chosen { div { names.item(item) } } }
            }
            fact("Wishes") { wishes }
        }
    }

    private var wishes: HTML {
        guard !facts.wishes.isEmpty else { return Shown.nothing }
        return HTML {
            for wish in facts.wishes.prefix(CustomerFacts.listed) {
                div { spaced(by: " · ", bdi { names.product(wish.product) }, Shown.day(wish.wishedAt)) }
            }
            if facts.wishes.count > CustomerFacts.listed {
                div { plain("+ \(facts.wishes.count - CustomerFacts.listed)") }
            }
        }
    }

    private var balances: HTML {
        guard !facts.balances.isEmpty else {
            return emptyNote("The catalog has no balances.")
        }
        return dl(.class("facts")) {
            for credit in facts.balances {
                div {
                    dt { data(credit.balance) }
                    dd { Shown.number(Int64(credit.amount)) }
                }
            }
        }
    }
}

/// The facts that a customer's page shows.
struct CustomerFacts: Sendable {
    /// The number of grants and transactions on the page. Their own pages show all.
    static let listed = 10

    let known: KnownUser
    let items: [OwnedItem]
    let subscriptions: [PurchaseStatus]
    let renewals: [SubscribedPurchase]
    /// The purchases that imports expect, newest first.
    let expectedPurchases: [ImportedCustomer.ExpectedPurchase]
    let balances: [Credit]
    /// The latest grants, and one more if there are further ones.
    let grants: [Grant]
    /// The latest transactions, and one more if there are further ones.
    let transactions: [RedeemedTransaction]
    /// Nil if profiles are off.
    let profile: Profile?
    /// The products on the wish list, with the dates of the wishes, newest first.
    let wishes: [(product: String, wishedAt: Timestamp)]
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    /// True if the customer may use sandbox purchases that others may not.
    let isTester: Bool

    /// - Throws: `Problem`, `userNotFound`.
    init(_ user: User, _ services: ConsoleServices) async throws {
        let service = services.entitlements
        guard let known = try await service.ledger.read(.snapshot, { try $0.customer(user) }) else {
            throw Problem.userNotFound
        }
        self.known = known
        items = try await service.items(of: user)
        subscriptions = try await service.subscriptions(of: user)
        renewals = subscriptions.isEmpty ? [] : try await service.ledger.read { try $0.renewals(of: user) }
        expectedPurchases = try await service.ledger.read { try $0.expectedPurchases(of: user) }
            .sorted {
                ($1.purchaseDate, ByteKey($0.originalTransactionIdentifier))
                    < ($0.purchaseDate, ByteKey($1.originalTransactionIdentifier))
            }
        balances = try await service.balances(of: user)
        grants = try await service.grants(of: user, before: nil, limit: Self.listed + 1)
        transactions = try await service.transactions(of: user, before: nil, limit: Self.listed + 1)
        profile = try await services.profiles?.profile(of: user)
        if let state = try await services.profiles?.productState(of: user) {
            let products = service.catalogs.all.flatMap(\.products).map { ByteKey($0.productIdentifier) }
            wishes = Set(products).compactMap { product in state.wishedAt(product.text).map { (product.text, $0) } }
                .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        } else {
            wishes = []
        }
        keys = try await service.ledger.apiKeyNames()
        isTester = service.accepted.sandboxUsers.contains(user)
    }

    /// The last statement about the renewal of a subscription; nil without one.
    func renewal(of status: PurchaseStatus) -> SubscribedPurchase? {
        renewals.first {
            $0.origin == status.origin
                && $0.originalTransactionIdentifier.hasSameBytes(as: status.originalTransactionIdentifier)
        }
    }
}
