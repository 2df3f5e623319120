import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The pages of the customers.
struct CustomersRoutes: Sendable {
    let services: any ConsoleServices

    var entitlements: EntitlementService { services.entitlements }
    var names: CatalogNames { CatalogNames(catalogs: entitlements.catalogs) }

    func add(to pages: ConsolePages) {
        pages.get("customers") { request, _ in try await search(request) }
        func get(_ path: String, _ page: @Sendable @escaping (CustomerView, Request) async throws -> Page) {
            pages.get(RouterPath("customers/:issuer/:user" + path)) { request, context in
                try await page(try await CustomerView(context, services), request)
            }
        }
        get("") { try await $0.page($1) }
        get("/timeline") { try await $0.timelinePage($1) }
        get("/explanation") { try await $0.explanationPage($1) }
        get("/transactions") { try await $0.transactionsPage($1) }
        get("/grants") { try await $0.grantsPage($1) }
        get("/transactions/:transaction") { try await $0.transactionPage($1) }
        get("/events/:number") { view, _ in try await view.eventPage() }
        get("/notifications/:notification") { try await $0.notificationPage($1) }
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
        addActions(to: pages)
    }
}

/// A customer at whom a member looks: what all pages about the customer need. Each page reads the rest itself.
final class CustomerView: Sendable {
    /// The number of grants and transactions on the first page. Their own pages show all.
    static let listed = 10

    let context: ConsoleContext
    let services: any ConsoleServices
    let known: KnownUser
    /// The names of API keys by their identifiers.
    let keys: [String: String]

    /// The customer of the path.
    ///
    /// - Throws: `Problem`, `userNotFound`, if the ledger does not know the user.
    init(_ context: ConsoleContext, _ services: any ConsoleServices) async throws {
        self.context = context
        self.services = services
        known = try await services.knownCustomer(context)
        keys = try await services.entitlements.ledger.apiKeyNames()
    }

    var user: User { known.user }
    var entitlements: EntitlementService { services.entitlements }
    var names: CatalogNames { CatalogNames(catalogs: entitlements.catalogs) }
    var now: Timestamp { entitlements.clock.now() }
}
