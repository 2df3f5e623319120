import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The pages of the customers.
struct CustomersRoutes: Sendable {
    let services: ConsoleServices

    private var entitlements: EntitlementService { services.entitlements }
    private var names: CatalogNames { CatalogNames(catalogs: entitlements.catalogs) }

    func add(to pages: ConsolePages) {
        pages.get("customers") { request, _ in try await search(request) }
        pages.get("customers/:issuer/:user") { request, context in
            let user = try ConsolePath.customer(context.parameters)
            let facts = try await CustomerFacts(user, services)
            let timeline = try await TimelineReader(entitlements: entitlements).timeline(
                of: user, try HTTPSupport.Page(request))
            return CustomerPage(context: context, services: services, facts: facts, timeline: timeline).page
        }
        pages.get("customers/:issuer/:user/timeline") { request, context in
            let user = try await services.customer(context)
            let timeline = try await TimelineReader(entitlements: entitlements).timeline(
                of: user, try HTTPSupport.Page(request))
            return Page("Timeline", section: .customers) {
                Shown.wayBack(to: user)
                timeline.html
            }
        }
        pages.get("customers/:issuer/:user/explanation") { request, context in
            try await explanation(request, context)
        }
        addLists(to: pages)
        addRecords(to: pages)
        pages.get("customers/:issuer/:user/export", .support) { _, context in
            guard let json = try await services.export(try ConsolePath.customer(context.parameters)) else {
                throw Problem.userNotFound
            }
            let member = try context.requiredMember.name
            // An export changes nothing, so no audit record has it. Logs name no customers.
            context.logger.notice("customer exported", metadata: ["member": "\(member)"])
            return JSONAnswer.response(
                bytes: json,
                headers: [.cacheControl: "no-store", .contentDisposition: "attachment; filename=\"customer.json\""])
        }
        pages.get("item-pictures/:collection/:number") { request, context in
            guard let number = Int(try context.parameters.text("number")) else { throw Problem.pathUnknown }
            let item = Item(collection: try context.parameters.text("collection"), number: number)
            guard let picture = entitlements.catalogs.all.lazy.compactMap({ $0.pictures[item] }).first else {
                throw Problem.pathUnknown
            }
            return picture.response(to: request)
        }
        CustomerActionRoutes(services: services).add(to: pages)
    }

    private func addLists(to pages: ConsolePages) {
        pages.get("customers/:issuer/:user/transactions") { request, context in
            let user = try await services.customer(context)
            let page = try HTTPSupport.Page(request)
            let found = try await entitlements.transactions(of: user, before: try page.before(), limit: page.size + 1)
            let (shown, cursor) = page.part(of: found) { String($0.sequence) }
            return Page("Transactions", section: .customers) {
                Shown.wayBack(to: user)
                TransactionTable(
                    user: user, transactions: shown, names: names, now: entitlements.clock.now(),
                    next: cursor.map { .customer(user, "transactions", query: ["cursor": $0]) }
                ).html
            }
        }
        pages.get("customers/:issuer/:user/grants") { request, context in
            let user = try await services.customer(context)
            let page = try HTTPSupport.Page(request)
            let found = try await entitlements.grants(of: user, before: try page.before(), limit: page.size + 1)
            let (shown, cursor) = page.part(of: found) { String($0.sequence) }
            let keys = try await entitlements.ledger.apiKeyNames()
            return Page("Items given by the team", section: .customers) {
                Shown.wayBack(to: user)
                GrantTable(
                    context: context, user: user, grants: shown, keys: keys, names: names,
                    now: entitlements.clock.now(),
                    next: cursor.map { .customer(user, "grants", query: ["cursor": $0]) }
                ).html
            }
        }
    }

    private func addRecords(to pages: ConsolePages) {
        pages.get("customers/:issuer/:user/transactions/:transaction") { request, context in
            let user = try await services.customer(context)
            let (origin, app) = (try request.origin(), try request.query("app"))
            let found = try await entitlements.ledger.read {
                try $0.recordedTransactions(
                    try context.parameters.text("transaction"), of: user
                )
            }.first { recorded in
                (origin == nil || recorded.transaction.origin == origin)
                    && (app?.hasSameBytes(as: recorded.transaction.app ?? "") ?? true)
            }
            guard let found else { throw GrantError.transactionNotFound }
            return TransactionPage(
                context: context, user: user, recorded: found, keys: try await entitlements.ledger.apiKeyNames(),
                names: names
            ).page
        }
        pages.get("customers/:issuer/:user/events/:number") { _, context in
            let user = try await services.customer(context)
            guard let number = Int64(try context.parameters.text("number")),
                let event = try await entitlements.ledger.read(.snapshot, { try $0.recordedEvent(number, of: user) })
            else { throw Problem.pathUnknown }
            let entry = event.record.entry
            let transactions =
                entry.origin == nil
                ? []
                : try await entitlements.ledger.read { try $0.recordedTransactions(entry.reference, of: user) }.filter {
                    $0.transaction.origin == entry.origin
                }
            return EventPage(
                context: context, user: user, event: event, transactions: transactions,
                keys: try await entitlements.ledger.apiKeyNames(), names: names
            ).page
        }
        pages.get("customers/:issuer/:user/notifications/:notification") { request, context in
            let user = try await services.customer(context)
            let (identifier, origin) = (
                try context.parameters.text("notification"), try request.origin() ?? .appleProduction
            )
            let recorded = try await entitlements.ledger.read {
                try $0.recordedNotification(identifier, from: origin, of: user)
            }
            guard let recorded else { throw Problem.pathUnknown }
            return NotificationPage(user: user, recorded: recorded).page
        }
    }

    private func search(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        if let product = try request.query("product") {
            let position = try page.position { ProductCustomer.Position($0) }
            let found = try await entitlements.ledger.read {
                try $0.customers(ofProduct: product, after: position, limit: page.size)
            }
            return ProductCustomersPage(
                product: product, found: found, next: found.next.map { HTTPSupport.Page.cursor(after: $0.description) },
                names: names
            ).page
        }
        let text = (try request.query("search") ?? "").trimmingCharacters(in: .whitespaces)
        // The script searches at every key. Only a person who sends the form waits for the App Store.
        let isTyping = HTTPField.Name.secFetchDest.flatMap { request.headers[$0] } == "empty"
        let findings = try await CustomerSearch(services: services).findings(text, page, asksAppStore: !isTyping)
        return CustomersPage(text: text, findings: findings, names: names).page
    }

    private func explanation(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let user = try await services.customer(context)
        var item = try request.query("item").flatMap { Item(typed: $0) }
        if let collection = try request.query("collection"),
            let number = try request.query("number").flatMap({ Int($0) }),
            number >= 0
        {
            item = Item(collection: collection, number: number)
        }
        let owned = try await entitlements.ownItems(of: user)
        var explanation: ItemExplanation?
        if let item { explanation = try await entitlements.explanation(of: item, for: user) }
        return ExplanationPage(
            user: user, items: Set(names.items + owned + [item].compactMap(\.self)).sorted(), explanation: explanation,
            names: names
        ).page
    }
}
