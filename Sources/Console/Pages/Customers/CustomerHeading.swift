import Entitlements
import Features
import Proofs
import Vocabulary

/// The header of a customer's page, which stays while the page scrolls: the person in a few facts, warnings, and what the team can do.
struct CustomerHeading {
    /// The number of the newest transactions that the sums are about.
    static let summed = 1000

    let view: CustomerView
    /// The customer's newest transactions, newest first.
    let transactions: [RedeemedTransaction]
    let subscriptions: [PurchaseStatus]
    /// The number of anonymous customers that became this one.
    let mergedCount: Int

    var html: HTML {
        header(.class("person")) {
            div(.class("row")) {
                h1 { data(view.user.name) }
                warnings
                actions
            }
            Facts.list(facts, "line")
        }
    }

    @FactsBuilder private var facts: [Fact] {
        fact("Total spent") {
            let spent = transactions.spent(inSandbox: view.services.standardEnvironment == .sandbox)
            if spent.isEmpty { Shown.nothing }
            Phrase.joined(spent.map(\.phrase), separator: " · ")
            if transactions.count == Self.summed { plain(" +") }
        }
        fact("Last storefront") {
            transactions.lazy.compactMap(\.storefrontName).first
        }
        fact("Customer since") { Shown.day(view.known.firstSeenAt) }
        fact("Last purchase") { Shown.day(transactions.map(\.purchaseDate).max()) }
        fact("Subscription") {
            for status in subscriptions { div { view.line(of: status) } }
        }
    }

    @HTMLBuilder private var warnings: HTML {
        let refundCount = transactions.charges.count { $0.paidBack != nil }
        if view.entitlements.accepted.sandboxUsers.contains(view.user) { Shown.badge("Sandbox tester", .warning) }
        if let failed = subscriptions.first(where: { [.billingRetry, .gracePeriod].contains($0.state) }) {
            Shown.badge("\(failed.origin.store.company) retries the charge", .warning)
        }
        for item in doublyOwned { Shown.badge("Subscribed twice: \(view.names.item(item))", .warning) }
        if refundCount > 0 { Shown.badge("Refunds: \(refundCount)", .bad) }
        if mergedCount > 0 { Shown.badge("Merged accounts: \(mergedCount)") }
    }
}

extension CustomerHeading {
    /// The items for which the customer pays with two live subscriptions, at one store or two. Another customer pays for a seat and for
    /// the share of a family, and nobody for a test.
    private var doublyOwned: [Item] {
        let paid = subscriptions.filter { $0.state.isOwned && ![.familyShared, .assigned].contains($0.ownership) }
        func doubled(inSandbox isSandbox: Bool) -> [Item] {
            let items = paid.filter { $0.origin.isSandbox == isSandbox }.compactMap { status in
                view.names.catalogs.all.lazy.compactMap { $0.benefit(of: status.productIdentifier)?.item }.first
            }
            return Dictionary(grouping: items) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        }
        return Set(doubled(inSandbox: false) + doubled(inSandbox: true)).sorted()
    }
}

/// The buttons of the header. Each opens a form below it, except the one for the page that explains.
extension CustomerHeading {
    private var context: ConsoleContext { view.context }
    private var user: User { view.user }

    private var actions: HTML {
        let isSupport = context.may(.support)
        return div(.class("actions"), isSupport ? .id("actions") : nil) {
            if isSupport {
                menu("Give") { view.gift }
                menu("Move a purchase") { move }
            }
            menu("Money back?") { moneyBack }
            a(.class("button"), .href(.customer(user, "explanation"))) { "Why?" }
            if isSupport { menu("More") { more } }
        }
    }

    /// A button that opens a part below it, and closes the other ones.
    private func menu(_ title: Phrase, @HTMLBuilder content: () -> HTML) -> HTML {
        details(.class("button"), HTMLAttribute("name", "action")) {
            summary { title }
            div(.class("panel")) { content() }
        }
    }

    private var move: HTML {
        context.form(to: .customer(user, "move")) {
            if movable.isEmpty {
                emptyNote("The customer has no purchase that can be moved.")
            } else {
                note(
                    "Renewals follow. A purchase with an account token stays, because the token names its owner, and so does what added to a balance."
                )
                Field.choice(
                    "move-purchase", "Purchase", movable.map { ($0.moveValue, title(of: $0)) },
                    moments: movable.map(\.purchaseDate))
                UnclaimedRoutes.user
                UnclaimedRoutes.issuer
                Field.reason("move-reason")
                button(.class("primary")) { "Move the purchase" }
            }
        }
    }

    /// The newest transaction of each purchase, except of consumables.
    private var movable: [RedeemedTransaction] {
        transactions.newestOfPurchases.filter {
            $0.productType(inCatalog: view.names.catalogs.type(of: $0.productIdentifier)) != .consumable
        }
    }

    private func title(of transaction: RedeemedTransaction) -> Phrase {
        let day = Phrase(same: "\(CalendarDay(transaction.purchaseDate))")
        return .joined(
            [view.names.product(transaction.productIdentifier), day, transaction.paidPrice?.phrase].compactMap(\.self),
            separator: " · ")
    }

    @HTMLBuilder private var moneyBack: HTML {
        let stores = transactions.isEmpty ? [.appStore] : Set(transactions.map(\.origin.store))
        for store in stores.sorted(by: { $0.rawValue < $1.rawValue }) { view.wayToMoney(at: store) }
        if !transactions.isEmpty {
            p { "What the team can do about a purchase:" }
            ul {
                for transaction in transactions.prefix(CustomerView.listed) {
                    li {
                        a(.href(transaction.path(of: user, "money-back"))) {
                            let name = bdi { view.names.product(transaction.productIdentifier) }
                            spaced(by: " · ", name, Shown.day(transaction.purchaseDate), transaction.paidPrice?.phrase)
                        }
                        if let sentence = transaction.takenBackSentence { also(Shown.sentence(sentence)) }
                    }
                }
            }
        }
    }

    @HTMLBuilder private var more: HTML {
        let balances = view.names.catalogs.balances
        if !balances.isEmpty {
            context.action(
                "Add to a balance", to: .customer(user, "balances"), submit: Phrase("Add", context: "balance")
            ) {
                FormSubmission.field(view.services.randomness)
                Field.choice("balance", "Balance", balances.map { ($0, Phrase(same: $0)) })
                CustomersRoutes.amount
                Field.reason("balance-reason")
            }
        }
        if view.services.webhooks != nil {
            context.action(
                "Send the webhook messages again", to: .customer(user, "webhooks"), submit: "Send again", .plain
            ) {
                p { "Sends the latest messages about this customer to every webhook again." }
            }
        }
        p { a(.class("button"), .href(.customer(user, "export"))) { "Export all data (JSON)" } }
        if context.may(.administer) {
            context.action("Erase the customer", to: .customer(user, "erasure"), submit: "Erase", .danger) {
                p {
                    "The name, the profile and the reasons are erased for good. The purchases stay redeemed, so that nobody can redeem them again."
                }
                Field.text(
                    "erase-name", "Type the customer's name to confirm",
                    maximumLength: User.maximumCustomerLength, isRequired: true)
            }
        }
    }
}

extension RedeemedTransaction {
    /// The country of the charge; nil if the store has not stated it.
    var storefrontName: Phrase? {
        facts.text(.storefront).map { Storefront(countryCode: $0)?.name ?? Phrase(same: $0) }
    }

    /// The value of the choice of purchases: its origin, its app and its identifier.
    var moveValue: String { "\(origin.rawValue) \(app ?? "") \(transactionIdentifier)" }
}
