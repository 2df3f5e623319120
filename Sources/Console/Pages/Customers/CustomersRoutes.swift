import Entitlements
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

struct CustomersRoutes: Sendable {
    static let customer = "customers/:issuer/:user"

    let services: any ConsoleServices

    var entitlements: EntitlementService { services.entitlements }
    var names: CatalogNames { services.names }

    func add(to pages: ConsolePages) {
        pages.get("customers") { request, context in try await search(request, context) }
        pages.get("customers/csv") { request, _ in try await exportedList(request) }
        func get(_ path: String, _ page: @Sendable @escaping (CustomerView, Request) async throws -> Page) {
            pages.get(RouterPath(Self.customer + path)) { request, context in
                try await page(try await CustomerView(context, services), request)
            }
        }
        get("") { try await $0.page($1) }
        get("/timeline") { try await $0.timelinePage($1) }
        get("/explanation") { try await $0.explanationPage($1) }
        get("/transactions") { try await $0.transactionsPage($1) }
        get("/grants") { try await $0.grantsPage($1) }
        get("/transactions/:transaction") { try await $0.transactionPage($1) }
        get("/transactions/:transaction/money-back") { try await $0.moneyBackPage($1) }
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
    let stores: [PurchaseStore]
    /// The names of API keys by their identifiers.
    let keys: [String: String]

    /// The customer of the path.
    ///
    /// - Throws: `Problem`, `userNotFound`, if the ledger does not know the user.
    init(_ context: ConsoleContext, _ services: any ConsoleServices) async throws {
        self.context = context
        self.services = services
        let known = try await services.knownCustomer(context)
        self.known = known
        stores = try await services.ledger.read { try $0.stores(of: known.user) }.sorted { $0.rawValue < $1.rawValue }
        keys = try await services.ledger.apiKeyNames()
    }

    var user: User { known.user }
    var entitlements: EntitlementService { services.entitlements }
    var names: CatalogNames { services.names }
    var now: Timestamp { entitlements.clock.now() }

    /// The badges of a purchase of the customer.
    func mark(_ origin: Origin?) -> HTML? { OriginWords.mark(origin, isAmongBoth: stores.count > 1) }
}

extension ConsolePath {
    static func customers(_ text: String) -> ConsolePath { ConsolePath("customers", query: ["search": text]) }

    /// The address of a customer's page, or of a page below it: `/console/customers/ISSUER/NAME`.
    ///
    /// The issuer of the team's own back end is empty, and its segment is `-`.
    static func customer(
        _ user: User, _ segments: String..., query: KeyValuePairs<String, String?> = [:], done notice: Notice? = nil
    ) -> ConsolePath {
        ConsolePath(
            ["customers", segment(user.issuer), segment(user.name)] + segments, query: query.map { ($0, $1) },
            done: notice)
    }

    /// The user of the path's parameters `issuer` and `user`.
    ///
    /// - Throws: `Problem`, `userNotFound`.
    static func customer(_ parameters: Parameters) throws -> User {
        guard
            let user = User(
                issuer: text(ofSegment: try parameters.text("issuer")),
                name: text(ofSegment: try parameters.text("user", upTo: User.maximumCustomerLength + 1))),
            user.issuer != User.erasedIssuer
        else { throw Problem.userNotFound }
        return user
    }

    /// An empty segment would vanish, and browsers resolve `.` and `..`. Such a text gets a hyphen, and so does one that looks
    /// like the result.
    private static func segment(_ text: String) -> String { needsHyphen(text) ? "-" + text : text }

    private static func text(ofSegment segment: String) -> String {
        segment.hasPrefix("-") && needsHyphen(segment) ? String(segment.dropFirst()) : segment
    }

    private static func needsHyphen(_ text: String) -> Bool { ["", ".", ".."].contains(text.drop { $0 == "-" }) }
}

extension ConsoleServices {
    /// The user of the path, whom the ledger knows.
    ///
    /// - Throws: `Problem`, `userNotFound`.
    func knownCustomer(_ context: ConsoleContext) async throws -> KnownUser {
        let user = try ConsolePath.customer(context.parameters)
        guard let known = try await ledger.read(.snapshot, { try $0.customer(user) }) else {
            throw Problem.userNotFound
        }
        return known
    }

    /// The user whom a person names by the name or the account token. The console creates no user from a misspelled name.
    ///
    /// - Parameter issuer: The issuer of the name; empty if it does not matter.
    /// - Throws: `Problem`, `userNotFound`, `userAmbiguous`.
    func user(named text: String, issuer: String = "") async throws -> User {
        let found = try await ledger.read { try $0.users(identifiedBy: text) }.values
            .filter { issuer.isEmpty || $0.user.issuer.hasSameBytes(as: issuer) }
        guard let user = found.first?.user else { throw Problem.userNotFound }
        guard found.count == 1 else {
            throw Problem(
                status: .conflict, code: "userAmbiguous",
                detail: "Several issuers have a user of this name. Fill in the issuer, or use the account token.")
        }
        return user
    }

    func customer(_ context: ConsoleContext) async throws -> User { try await knownCustomer(context).user }
}
