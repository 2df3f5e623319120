import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

extension CustomersRoutes {
    func search(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let page = try RequestedPage(request)
        let text = (try request.query("search") ?? "").trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return try await list(request).page(names) }
        // The script searches at every key. Only a person who sends the form waits for the App Store.
        let isTyping = HTTPField.Name.secFetchDest.flatMap { request.headers[$0] } == "empty"
        var search = CustomerSearch(text: text, isTyping: isTyping, names: names)
        try await search.find(in: services, page, context)
        if search.products.count == 1, let product = search.products.first, search.hasOnlyProducts {
            search.productCustomers = try await CustomerList(
                .product, product: product.productIdentifier, page, of: services)
        }
        return search.page(context)
    }

    /// The list that the parameters `list`, `product`, `currency` and `cursor` select.
    private func list(_ request: Request) async throws -> CustomerList {
        let (name, product) = (try request.query("list"), try request.query("product"))
        return try await CustomerList(
            product == nil ? name.flatMap { CustomerSelection(rawValue: $0) } ?? .all : .product,
            currency: try request.query("currency"), product: product, try RequestedPage(request), of: services)
    }

    /// The shown page of a list as a file.
    func exportedList(_ request: Request) async throws -> Response {
        .text(try await list(request).rows.csv, type: "text/csv", file: "customers.csv")
    }

    /// The field that searches for customers, and its results, which follow the typing.
    @HTMLBuilder static func search(_ text: String, @HTMLBuilder results: () -> HTML) -> HTML {
        form(
            .class("card"), .role("search"), .ariaLabel("Find a customer"), .method("get"),
            .action(ConsolePath("customers")),
            HTMLAttribute("data-live", "results")
        ) {
            labelled(
                "customer-search",
                "User name, e-mail address, phone number, account token, transaction, order or product"
            ) {
                input(
                    .type("search"), .id("customer-search"), .name("search"), .value(text),
                    HTMLAttribute("maxlength", "512"), HTMLAttribute("autocomplete", "off"))
            }
            button(.class("primary")) { "Search" }
        }
        div(.id("results"), HTMLAttribute("aria-live", "polite")) { results() }
    }
}

/// The search for customers: by a part of a name, an account token, a transaction, an original transaction, an order or a
/// product. Its values are the findings for a text.
struct CustomerSearch {
    /// The answer of the App Store about an order of this number.
    enum Order: Sendable {
        /// The text is no number of an order.
        case notAsked
        /// The person has not sent the form.
        case waiting
        /// No client of an App Store has a key.
        case keyMissing
        case unknown
        case known
        /// The App Store did not answer.
        case failed
    }

    /// The lengths of order numbers, in bytes. Other texts are not sent to the App Store.
    private static let orderLengths = 8...64
    /// The largest number of unclaimed purchases shown.
    private static let maximumUnclaimed = 20

    let text: String
    /// True if the script searches while a person types.
    let isTyping: Bool
    let names: CatalogNames
    /// The customers of this name first, then the newest with the text in their name.
    var customers: [ListedCustomer] = []
    var purchases: [KnownPurchase] = []
    var unclaimed: [UnclaimedPurchase] = []
    /// The transactions of the order that the App Store knows; nil if it was not asked.
    var orderTransactions: [String]?
    /// The products whose name or identifier contains the text.
    var products: [Product] = []
    /// The customers of the only product that was found, if nothing else was.
    var productCustomers: CustomerList?
    var order = Order.notAsked
    /// The cursor of the next customers; nil for none.
    var next: String?
    /// The charge that the text describes; nil for another text.
    var charge: DescribedCharge?
    /// The names of API keys by their identifiers.
    var keys: [String: String] = [:]

    /// The only customer that the text identifies; nil if there is none or if there are several.
    private var exact: User? {
        var owners = Set(purchases.compactMap(\.owner))
        let (name, token) = (FoldedText(text), UUID(uuidString: text))
        owners.formUnion(
            customers.map(\.known).filter { $0.appAccountToken == token || FoldedText(nameOf: $0.user) == name }
                .map(\.user))
        return owners.count == 1 ? owners.first : nil
    }

    private var hasPurchases: Bool { !purchases.isEmpty || !unclaimed.isEmpty }
    var hasOnlyProducts: Bool { customers.isEmpty && !hasPurchases && !products.isEmpty }

    /// The order of the App Store that the text spells; nil for another text.
    private var appStoreOrder: String? {
        guard let order = OrderNumber(text), order.store == .appStore, Self.orderLengths.contains(order.text.utf8.count)
        else { return nil }
        return order.text
    }

    /// Finds what the text names.
    mutating func find(
        in services: any ConsoleServices, _ page: RequestedPage, _ context: ConsoleContext
    ) async throws {
        let (ledger, environment) = (services.ledger, services.standardEnvironment)
        let last = try page.position { RecordPosition($0) }
        // Addresses and charges of customers are for those who may help them.
        let isHelping = context.may(.support)
        if isHelping {
            charge = DescribedCharge(
                text, in: services.entitlements.catalogs, at: services.entitlements.clock.now())
        }
        let found =
            try await isHelping
            ? services.entitlements.users(searchedBy: text, after: last, limit: page.size)
            : services.entitlements.names.users(named: text, after: last, limit: page.size)
        customers = try await ledger.read { try $0.listed(found.users, in: environment) }
        next = found.next.map { RequestedPage.cursor(after: $0.description) }
        guard page.last == nil else { return }
        products = services.entitlements.catalogs.products(matching: text)
        let identifier = try await services.entitlements.identifier(searchedBy: text)
        try await add([identifier], named: [identifier], of: services)
        if purchases.contains(where: { $0.erasure != nil }) { keys = try await ledger.apiKeyNames() }
        guard customers.isEmpty, !hasPurchases, let number = appStoreOrder else { return }
        guard let orders = services.orders else {
            order = .keyMissing
            return
        }
        guard !isTyping else {
            order = .waiting
            return
        }
        do {
            let transactions = try await orders(number)
            order = transactions.isEmpty ? .unknown : .known
            orderTransactions = transactions.map(\.transaction)
            try await add(transactions.map(\.original), named: transactions.map(\.transaction), of: services)
        } catch is ReconciliationError {
            order = .failed
        }
    }

    private mutating func add(
        _ transactions: [String], named charges: [String], of services: any ConsoleServices
    ) async throws {
        for transaction in transactions {
            // Two transactions of an order may be of one purchase.
            purchases += try await services.entitlements.purchases(ofTransaction: transaction).filter {
                !purchases.contains($0)
            }
            unclaimed += try await services.entitlements.unclaimedPurchases(
                ofTransaction: transaction, after: nil, limit: Self.maximumUnclaimed)
        }
        unclaimed = unclaimed.purchases(named: charges)
    }

    func page(_ context: ConsoleContext) -> Page {
        Page("Customers", section: .customers) {
            CustomersRoutes.search(text) {
                if let exact {
                    p {
                        a(.class("button primary"), .href(.customer(exact))) {
                            spaced(Phrase("Open customer"), data(exact.name))
                        }
                    }
                }
                if hasPurchases { purchaseTable }
                if context.may(.support) {
                    for purchase in purchases where purchase.owner == nil { move(purchase, context) }
                }
                if !products.isEmpty { productList }
                if let productCustomers { productCustomers.shown }
                if !customers.isEmpty || !hasPurchases && products.isEmpty { customerTable }
            }
        }
    }

    /// True if a customer is found by what an account or an attribute states.
    private var isFoundByStatement: Bool {
        let (part, token) = (FoldedText(text), UUID(uuidString: text))
        return customers.map(\.known).contains {
            $0.appAccountToken != token && !FoldedText(nameOf: $0.user).contains(part)
        }
    }

    @HTMLBuilder private var customerTable: HTML {
        if let charge {
            h2 { "Customers" }
            note(
                "Customers who bought this on \(charge.day.description), the day before or the day after (UTC). At most \(DescribedCharge.maximumCustomers) are found."
            )
        } else if isFoundByStatement {
            h2 { "Customers" }
            note("An account or an app has stated this address, number or name. Nobody may have verified it.")
        } else {
            h2 { "Customers with this in their name" }
        }
        CustomerList.table(
            "Customers", of: customers, empty: empty,
            next: next.map { ConsolePath("customers", query: ["search": text, "cursor": $0]) })
    }

    private var empty: Phrase {
        switch order {
        case .notAsked where text.allSatisfy(\.isNumber):
            return "Nothing found. Neither a store nor an app has stated a transaction of this number."
        case .notAsked:
            return
                "Nothing found. Search for a part of a customer's name, or for a whole e-mail address, phone number, account token, transaction or order number."
        case .waiting: return "Nothing found. Press Enter to ask the App Store for an order of this number."
        case .keyMissing:
            return
                "Nothing found. Proofs of purchase have no order numbers, and Till cannot ask the App Store for one without its key. Search for the transaction instead."
        case .unknown, .known:
            return "Nothing found. The App Store knows no order of this number."
        case .failed:
            return "Nothing found. The App Store did not answer about an order of this number; search again later."
        }
    }

    @HTMLBuilder private var purchaseTable: HTML {
        h2 { order == .known ? "Purchases of this order" : "Purchases" }
        Listing.table("Purchases", of: foundPurchases, empty: "No purchases.") {
            column("Customer") { $0.owner }
            column("Product") { names.product($0.product) }
            column("Bought") { row in
                let day = Shown.day(row.charge?.purchaseDate)
                if let path = row.path { a(.href(path)) { day } } else { day }
            }
            column("Price") { Shown.money($0.charge?.paidPrice) }
            column("Storefront") { $0.charge?.storefrontName }
            column("Original transaction") { Shown.identifier($0.original) }
            column("State") { spaced($0.state, OriginWords.mark($0.origin)) }
        }
    }

    /// The form that gives the purchase of an erased customer to another one.
    private func move(_ purchase: KnownPurchase, _ context: ConsoleContext) -> HTML {
        context.action(
            "Give the purchase of the erased customer to another customer", to: ConsolePath("customers", "move"),
            submit: "Move the purchase"
        ) {
            note("Check first that it is theirs, such as by the order number of the store. Renewals follow.")
            if let transaction = purchase.transactions.first { hidden("move-purchase", transaction.moveValue) }
            UnclaimedRoutes.user
            UnclaimedRoutes.issuer
            Field.reason("move-reason")
        }
    }

    /// A purchase with the charge that the text names.
    private typealias FoundPurchase = (
        owner: HTML, product: String, charge: RedeemedTransaction?, path: ConsolePath?, original: String, state: HTML,
        origin: Origin
    )

    private var foundPurchases: [FoundPurchase] {
        purchases.map { purchase -> FoundPurchase in
            let (status, owner) = (purchase.status, purchase.owner)
            let charge =
                if let orderTransactions {
                    purchase.charge(among: orderTransactions)
                } else {
                    purchase.charge(named: text)
                }
            return (
                owner.map { Shown.link(to: $0) } ?? erased(purchase.erasure), status.productIdentifier, charge,
                owner.flatMap { charge?.path(of: $0) }, status.originalTransactionIdentifier,
                CustomerWords.badge(status.state), status.origin
            )
        }
            + unclaimed.map { purchase -> FoundPurchase in
                let isCharge =
                    orderTransactions.map { purchase.isCharge(among: $0) } ?? purchase.isCharge(named: text)
                return (
                    a(.href(purchase.path)) { "Nobody yet" }, purchase.productIdentifier,
                    isCharge ? purchase.stated : nil, purchase.path, purchase.originalTransactionIdentifier,
                    CustomerWords.badge(.unclaimed),
                    purchase.origin
                )
            }
    }

    /// An erased customer, with the person who erased it and the day.
    private func erased(_ erasure: AuditEntry?) -> HTML {
        Shown.lines(
            HTML { "An erased customer" },
            erasure.map { spaced(by: " · ", ActorWords.html($0.actor, keys), Shown.day($0.happenedAt)) })
    }

    @HTMLBuilder private var productList: HTML {
        h2 { "Customers by product" }
        ul {
            for product in products {
                li {
                    a(.href(ConsolePath("customers", query: ["product": product.productIdentifier]))) {
                        bdi { names.product(product.productIdentifier) }
                    }
                    also(Shown.identifier(product.productIdentifier))
                }
            }
        }
    }
}
