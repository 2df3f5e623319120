import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// The purchases that nobody has redeemed.
struct UnclaimedRoutes: Sendable {
    /// The largest count of expected purchases that the list states.
    private static let maximumExpected = 10_000
    static let user = Field.text(
        "user", "User's name or account token", upTo: User.maximumCustomerLength, isRequired: true)
    static let issuer = Field.text(
        "issuer", "Issuer of the name", upTo: User.maximumIssuerLength, note: "Only if several users have the name.")
    private static let reason = Field.reason()

    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("unclaimed") { request, _ in try await list(request) }
        pages.get("unclaimed/:transaction") { request, context in
            let purchase = try await purchase(
                context.parameters.text("transaction"), origin: try request.query("origin"),
                in: try request.query("app"))
            let actions = try await StoreActionRoutes.actions(
                about: purchase.transactionIdentifier, of: purchase.originalTransactionIdentifier, purchase.origin,
                in: purchase.app, to: purchase.path("store-actions"), services, context)
            return Self.page(of: purchase, services.names, actions, context)
        }
        pages.post("unclaimed/:transaction/assignment", .support) { _, context in
            guard let origin = Origin(rawValue: try context.form.text("origin")) else {
                throw ConsoleForm.invalid("origin", "the origin of the purchase")
            }
            let user = try await services.user(
                named: try context.form[Self.user], issuer: try context.form[Self.issuer])
            _ = try await services.door.assign(
                unclaimed: try context.parameters.text("transaction"), origin: origin,
                in: try context.form.requiredText("app"), to: user, reason: try context.form[Self.reason],
                by: try context.caller)
            return ConsolePath.customer(user, done: .assigned)
        }
    }

    private func list(_ request: Request) async throws -> Page {
        let filter = try UnclaimedFilter(request)
        let (found, next) = try await purchases(filter, try RequestedPage(request))
        // A page has one row for a purchase and its renewals: the charge that was searched for, or else the last one.
        let shown = found.purchases(named: [filter.transaction].compactMap(\.self))
        let expectedCount = try await services.ledger.read {
            try $0.expectedPurchaseCount(upTo: Self.maximumExpected)
        }
        let (apps, names) = (services.appNames, services.names)
        return Page("Unclaimed purchases", section: .unclaimed) {
            note(
                "Purchases that a store has stated, and that no user has redeemed: their account token is unknown or absent."
            )
            if expectedCount > 0 {
                let count = Shown.digits(expectedCount) + (expectedCount >= Self.maximumExpected ? "+" : "")
                note(
                    "Imports also expect \(count) \(expectedCount == 1 ? "purchase" : "purchases") of known customers, without a proof so far. To count those that have arrived, import the file again with --dry-run."
                )
            }
            filters(ConsolePath("unclaimed"), submit: "Search") {
                Field.text("transaction", "Transaction or original transaction", value: filter.transaction ?? "")
                Field.choice(
                    "product", "Product", empty: "(all products)", names.products(with: filter.product),
                    chosen: filter.product)
                Field.date("day", "Day of the last statement", value: filter.day?.description ?? "")
                Field.app(apps, empty: "All apps", chosen: filter.app)
            }
            Listing.table(
                "Unclaimed purchases, the newest first", of: shown,
                empty: next == nil ? "No unclaimed purchases." : "The next page goes on.",
                next: next.map { filter.path(cursor: $0) }
            ) {
                column("Product") { purchase in
                    Shown.lines(
                        a(.href(purchase.path), bdi { names.product(purchase.productIdentifier) }),
                        Shown.identifier(purchase.productIdentifier))
                }
                column("Transaction") {
                    Shown.lines(Shown.identifier($0.transactionIdentifier), Shown.origin($0.origin))
                }
                column("Purchased") { Shown.moment($0.purchaseDate) }
                column("Price") { purchase in
                    let charge = purchase.stated
                    Shown.lines(Shown.money(charge.paidPrice), charge.storefrontName.map { name in HTML { name } })
                }
                column("Last statement") { Shown.moment($0.statedAt) }
                column("Account token") { Shown.identifier($0.appAccountToken?.lowercasedString) }
                column("State") { $0.state }
                if apps.count > 1 { column("App") { Shown.identifier($0.app) } }
            }
        }
    }

    /// The purchases of a page, and the cursor of the next one.
    private func purchases(
        _ filter: UnclaimedFilter, _ page: RequestedPage
    ) async throws -> ([UnclaimedPurchase], String?) {
        if let text = filter.transaction {
            let transaction = try await services.entitlements.identifier(searchedBy: text)
            return try await page.list(at: \.position) {
                try await services.entitlements.unclaimedPurchases(
                    ofTransaction: transaction, in: filter.app, after: $0, limit: $1)
            }
        }
        let last = try page.position { UnclaimedPurchase.TimePosition($0) }
        let found = try await services.ledger.read {
            try $0.newestUnclaimed(
                ofProduct: filter.product, in: filter.app, statedOn: filter.day, before: last, limit: page.size)
        }
        return (found.purchases, found.next.map { RequestedPage.cursor(after: $0.description) })
    }

    private func purchase(_ identifier: String, origin: String?, in app: String?) async throws -> UnclaimedPurchase {
        let found = try await services.entitlements.unclaimedPurchases(
            ofTransaction: identifier, in: app, after: nil, limit: 100
        ).filter { purchase in
            ByteKey(purchase.transactionIdentifier) == ByteKey(identifier)
                && (origin == nil || purchase.origin.rawValue == origin)
        }
        guard let purchase = found.first else { throw AssignmentError.purchaseNotFound }
        guard found.count == 1 else { throw AssignmentError.purchaseAmbiguous }
        return purchase
    }

    /// - Parameter actions: The actions at the store.
    private static func page(
        of purchase: UnclaimedPurchase, _ names: CatalogNames, _ actions: HTML, _ context: ConsoleContext
    ) -> Page {
        let charge = purchase.stated
        return Page("Unclaimed purchase \(purchase.transactionIdentifier)", section: .unclaimed) {
            Facts.card {
                fact("State") { purchase.state }
                fact("Product") { names.lines(purchase.productIdentifier) }
                fact("Item") { purchase.item.map { item in bdi { names.item(item) } } }
                fact("Purchased") { Shown.moment(purchase.purchaseDate) }
                fact("Price") { Shown.money(charge.paidPrice) }
                fact("Storefront") { charge.storefrontName }
                if let order = charge.facts.text(.orderId) { fact("Order") { Shown.identifier(order) } }
                fact("Last statement") { Shown.moment(purchase.statedAt) }
                fact("Revoked") { Shown.moment(purchase.revocationDate) }
                fact("Original transaction") { Shown.identifier(purchase.originalTransactionIdentifier) }
                fact("Origin") { Shown.origin(purchase.origin) }
                fact("App") { Shown.identifier(purchase.app) }
                fact("Account token") { Shown.identifier(purchase.appAccountToken?.lowercasedString) }
            }
            if context.may(.support) {
                context.action(
                    "Assign the purchase to a user",
                    to: ConsolePath("unclaimed", purchase.transactionIdentifier, "assignment"),
                    submit: "Assign"
                ) {
                    note(
                        "The user gets what the purchase grants, as if the app had redeemed it. The usual checks may refuse it."
                    )
                    note("Check first that it is theirs, such as by the order number of the store. Renewals follow.")
                    hidden("origin", purchase.origin.rawValue)
                    hidden("app", purchase.app)
                    user
                    Self.issuer
                    reason
                }
            }
            actions
            p { a(.href(ConsoleSection.unclaimed.path)) { "All unclaimed purchases" } }
        }
    }
}

/// The unclaimed purchases that a list shows.
private struct UnclaimedFilter {
    /// The only transaction or original transaction. The other parameters, except the app, then have no effect.
    let transaction: String?
    let app: String?
    let product: String?
    /// The day of the last statement.
    let day: CalendarDay?

    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request) throws(Problem) {
        func parameter(_ name: String) throws(Problem) -> String? {
            let text = try request.query(name)?.trimmingCharacters(in: .whitespaces)
            return text?.isEmpty == true ? nil : text
        }
        transaction = try parameter("transaction")
        (app, product) = (try parameter("app"), try parameter("product"))
        let text = try parameter("day")
        day = text.flatMap { CalendarDay($0) }
        guard text == nil || day != nil else { throw .parameter("day", "a date such as 2026-10-31") }
    }

    /// The address of a page of the list.
    func path(cursor: String) -> ConsolePath {
        ConsolePath(
            "unclaimed",
            query: [
                "transaction": transaction, "app": app, "product": product, "day": day?.description,
                "cursor": cursor,
            ])
    }
}

extension UnclaimedPurchase {
    var path: ConsolePath { path() }

    /// - Parameter segments: The segments after the transaction.
    fileprivate func path(_ segments: String...) -> ConsolePath {
        ConsolePath(
            ["unclaimed", transactionIdentifier] + segments, query: [("origin", origin.rawValue), ("app", app)])
    }

    fileprivate var state: HTML {
        revocationDate == nil
            ? Shown.badge("Unclaimed", .warning) : Shown.badge(Phrase("Revoked", context: "purchase"), .bad)
    }
}
