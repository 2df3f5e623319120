import Entitlements
import Features
import Hummingbird
import Proofs
import Vocabulary

extension CustomerView {
    func page(_ request: Request) async throws -> Page {
        let items = try await entitlements.items(of: user)
        let subscriptions = try await entitlements.subscriptions(of: user)
        let expected = try await expectedPurchases()
        let balances = try await entitlements.balances(of: user)
        // One more than the page lists tells that there are further ones.
        let grants = try await entitlements.grants(of: user, before: nil, limit: Self.listed + 1)
        // The last charge comes first, however late it was redeemed.
        let transactions = try await entitlements.transactions(of: user, before: nil, limit: CustomerHeading.summed)
            .sorted { $1.isEarlier(than: $0) }
        let merged = try await entitlements.ledger.read { try $0.aliases(of: self.user) }.count
        let profile = try await profileFacts()
        let timeline = try await timeline(request)
        let heading = CustomerHeading(
            view: self, transactions: transactions, subscriptions: subscriptions, mergedCount: merged)
        return Page(Phrase(same: user.name), section: .customers, heading: heading.html) {
            part("Items") {
                table(of: items.filter { $0.source != .rule })
                p { a(.href(.customer(user, "explanation"))) { "Explain an item" } }
            }
            expected
            part("Timeline") { timeline }
            part("Transactions") {
                table(
                    of: Array(transactions.prefix(Self.listed)),
                    next: transactions.count > Self.listed ? .customer(user, "transactions") : nil)
            }
            part("Items given by the team") {
                table(
                    of: Array(grants.prefix(Self.listed)),
                    next: grants.count > Self.listed ? .customer(user, "grants") : nil)
            }
            div(.class("columns")) {
                Facts.card("About the customer") {
                    fact("Name") { data(user.name) }
                    fact("Issuer") { CustomerWords.issuer(user.issuer) }
                    fact("Account token") { Shown.identifier(known.appAccountToken.lowercasedString) }
                    fact("First seen") { Shown.moment(known.firstSeenAt) }
                    for each in profile { each }
                }
                card("Balances") {
                    if balances.isEmpty {
                        emptyNote("The catalog has no balances.")
                    } else {
                        Facts.list(
                            balances.map { Fact(name: data($0.balance), value: Shown.number($0.amount)) })
                    }
                }
            }
            let everybodys = items.filter { $0.source == .rule }.map { owned in
                a(.href(explanation(of: owned.item))) { bdi { names.item(owned.item) } }
            }
            if !everybodys.isEmpty {
                p(.class("note")) { spaced(by: ": ", Phrase("Everybody has it"), spaced(by: ", ", everybodys)) }
            }
        }
    }

    private func table(of items: [OwnedItem]) -> HTML {
        Listing.table("Items", of: items, empty: "The customer owns no items.") {
            column("Item") { owned in
                span(.class("pictured")) {
                    self.names.picture(owned.item)
                    bdi { self.names.item(owned.item) }
                }
            }
            column("State") { spaced(CustomerWords.badge($0.state), self.mark($0.purchase?.origin)) }
            column("Since") { Shown.day($0.since) }
            column("Until") { self.until($0) }
            column("Source") { self.source(of: $0) }
            column("Why?") { owned in a(.href(self.explanation(of: owned.item))) { "Explain" } }
        }
    }

    private func explanation(of item: Item) -> ConsolePath {
        .customer(user, "explanation", query: ["collection": item.collection, "number": String(item.number)])
    }

    @HTMLBuilder private func until(_ owned: OwnedItem) -> HTML {
        if case .grant = owned.source { Shown.lastDay(before: owned.until) } else { Shown.day(owned.until) }
        if owned.renews == true { also(Shown.badge("renews", .good)) }
    }

    @HTMLBuilder private func source(of owned: OwnedItem) -> HTML {
        switch owned.source {
        case .rule: "Everybody has it"
        case .grant: "Given by the team"
        case .purchase(let purchase):
            a(
                .href(
                    .customer(
                        user, "transactions", purchase.transactionIdentifier,
                        query: ["origin": purchase.origin.rawValue]))
            ) { names.product(purchase.productIdentifier) }
        }
    }

    /// A subscription in a sentence.
    @HTMLBuilder func line(of status: PurchaseStatus) -> HTML {
        spaced(Shown.sentence(sentence(of: status)), CustomerWords.badge(status.state), mark(status.origin))
        if status.ownership == .assigned { also(Shown.badge("seat paid by another customer")) }
        if status.nextPeriod?.needsConsent == true {
            also(Shown.badge("price increase without consent yet", .warning))
        }
    }

    /// The purchases that imports expect, newest first; nil if there are none.
    private func expectedPurchases() async throws -> HTML? {
        let purchases = try await entitlements.ledger.read { try $0.expectedPurchases(of: self.user) }
            .sorted {
                ($1.purchaseDate, ByteKey($0.originalTransactionIdentifier))
                    < ($0.purchaseDate, ByteKey($1.originalTransactionIdentifier))
            }
        guard !purchases.isEmpty else { return nil }
        let title = Phrase("Expected purchases")
        return part(title) {
            note(
                "Recorded by the former server. Each grants nothing before its proof arrives: by a restore in the app, a notification or the reconciliation."
            )
            Listing.table(title, of: Array(purchases.prefix(Self.listed)), empty: "No expected purchases.") {
                column("Product") { self.names.product($0.productIdentifier) }
                column("Original transaction") { Shown.identifier($0.originalTransactionIdentifier) }
                column("Purchased") { Shown.day($0.purchaseDate) }
                column("Until") { Shown.day($0.expiresAt) }
                column("Origin") { OriginWords.html($0.origin) }
            }
            if purchases.count > Self.listed { p { plain("+ \(purchases.count - Self.listed)") } }
        }
    }

    /// The facts of the profile; none if profiles are off.
    private func profileFacts() async throws -> [Fact] {
        guard let profiles = services.profiles else { return [] }
        let profile = try await profiles.profile(of: user)
        let state = try await profiles.productState(of: user)
        let products = Set(entitlements.catalogs.all.flatMap(\.products).map { ByteKey($0.productIdentifier) })
        // The products on the wish list, newest first.
        let wishes = products.compactMap { product in state.wishedAt(product.text).map { (product.text, $0) } }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        return [
            fact("Nickname") { profile.nickname.map { data($0) } },
            fact("Chosen items") {
                for item in profile.chosen { div { names.item(item) } }
            },
            fact("Wishes") {
                for (product, wishedAt) in wishes.prefix(Self.listed) {
                    div { spaced(by: " · ", bdi { names.product(product) }, Shown.day(wishedAt)) }
                }
                if wishes.count > Self.listed { div { plain("+ \(wishes.count - Self.listed)") } }
            },
        ]
    }

    /// "Premium, monthly, active, renews on 22 December 2026 at KRW 4,900."
    private func sentence(of status: PurchaseStatus) -> Phrase {
        let period = names.catalogs.product(status.productIdentifier)?.subscription.map {
            CustomerWords.period($0.period)
        }
        var parts = [CustomerWords.isolated(names.product(status.productIdentifier)), period]
        parts += [CustomerWords.word(status.state).title, Self.end(of: status)]
        // The product of the next period, if it is another one.
        if let next = status.nextProductIdentifier, !next.hasSameBytes(as: status.productIdentifier) {
            let name = names.product(next)
            parts.append("then \(CustomerWords.isolated(name))")
        }
        return "\(Phrase.joined(parts.compactMap(\.self), separator: ", "))."
    }

    private static func end(of status: PurchaseStatus) -> Phrase? {
        guard let until = status.until else { return nil }
        let day = until.rfc3339
        switch status.state {
        case .billingRetry:
            return "not owned since \(day), \(status.origin.store.company) retries the charge"
        case .gracePeriod:
            return "the renewal could not be charged, owned until \(day)"
        case .paused:
            return status.pausedUntil.map { "resumes on \($0.rfc3339)" }
        case .expired:
            let reason = status.expirationReason.map { Phrase(stated: $0.sentence) }
            return reason.map { "ended on \(day) (\($0))" } ?? "ended on \(day)"
        case .trial, .introductory, .active, .willNotRenew, .familyShared, .owned:
            // The App Store may state a grace period before the paid time ends.
            let day = (status.paidUntil ?? until).rfc3339
            guard status.renews == true else {
                // The periods of a commitment follow, also if the customer lets it end.
                guard !status.mayRenew else { return "paid until \(day)" }
                if status.next == .prepaid { return "prepaid until \(day)" }
                let reason = status.ending.map { Phrase(stated: $0.cancellation(at: status.origin.store)) }
                return reason.map { "ends on \(day) (\($0))" } ?? "ends on \(day)"
            }
            let cost = status.nextPeriod?.price?.phrase
            return cost.map { "renews on \(day) at \($0)" } ?? "renews on \(day)"
        case .revoked, .upgraded, .refunded, .consumed, .unclaimed: return nil
        }
    }
}
