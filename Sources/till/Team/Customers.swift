import AppStore
import ArgumentParser
import Features
import HTTPSupport
import Proofs
import Vocabulary

struct CustomersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "Find users by a part of their name, their account token or their e-mail address, and list them.",
        subcommands: [Customers.self, CustomersList.self],
        defaultSubcommand: Customers.self)
}

struct Customers: ServiceCaller {
    static let configuration = CommandConfiguration(
        "find",
        "Find users by a part of their name, in any case and script, or by their account token, e-mail address, phone number or display name.",
        examples: """
            till customers lic
            till customers mina@example.com
            till customers "12 March, 4.99"
            """)

    @Argument(
        help:
            "A part of a name, or a whole account token, e-mail address, phone number or display name, or a day with a product or an amount."
    )
    var text: String

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    var need: ConfigurationNeed { .none }

    func validate() throws {
        try require(!text.isEmpty, "Name a part of a name, an account token or an e-mail address.")
    }

    private struct Customer: Decodable, Listed, Sendable {
        static let listName = "users"

        let user: UserName
        let appAccountToken: String
        let firstSeenAt: String
    }

    func perform() async throws {
        let customers: [Answered<Customer>] = try await elements(of: "/v1/users", [("search", text)], upTo: list)
        try terminal.list(
            ["CUSTOMER", "ISSUER", "ACCOUNT TOKEN", "SINCE"], customers, orElse: "No customers found."
        ) { customer in
            [
                customer.user.name, customer.user.issuer.isEmpty ? nil : customer.user.issuer,
                customer.appAccountToken, customer.firstSeenAt,
            ]
        }
    }
}

struct FindTransaction: ServiceCaller {
    static let configuration = CommandConfiguration(
        "transaction", "Find the owner of a transaction, an original transaction or an order, and all its purchases.",
        "A running service with a key of App Store Connect also asks the App Store about an order. --json prints all statements.",
        examples: "till transaction 2000000000000001")

    @Argument(help: "The transaction, the original transaction, or the order number of a receipt, in any spelling.")
    var identifier: String

    @OptionGroup var call: CallOptions

    /// The shown parts of the purchases.
    private struct Found: Decodable, Sendable {
        struct Purchase: Decodable, Sendable {
            let owner: UserName?
            let productId: String
            let originalTransactionId: String
            let origin: Origin
            let state: String?
            let since: String?
            let until: String?
            let transactionId: String?
            let purchaseDate: String?
            let facts: Facts?
            let transactions: [Transaction]?

            /// The charge among some transactions, of a redeemed purchase or of one that waits; nil for none.
            func charge(among charges: [String]) -> Transaction? {
                let waiting = transactionId.flatMap { identifier in
                    purchaseDate.flatMap { date in
                        facts.map { Transaction(transactionId: identifier, purchaseDate: date, facts: $0) }
                    }
                }
                return (transactions ?? waiting.map { [$0] } ?? []).first { each in
                    charges.contains { $0.hasSameBytes(as: each.transactionId) }
                }
            }
        }

        struct Transaction: Decodable, Sendable {
            let transactionId: String
            let purchaseDate: String
            let facts: Facts
        }

        struct Facts: Decodable, Sendable {
            let price: Int64?
            let currency: String?
            let storefront: String?
        }

        let purchases: [Purchase]
        let unclaimed: [Purchase]
        /// The transactions that the identifier names.
        let charges: [String]
        /// Those that only the App Store knows; nil if it was not asked.
        let unrecorded: [Purchase]?
    }

    func perform() async throws {
        let found: Answered<Found> = try await get("/v1/transactions/\(HTTPServiceConnection.segment(identifier))")
        let purchases =
            found.purchases.map { ($0, $0.state) } + found.unclaimed.map { ($0, "unclaimed") }
            + (found.unrecorded ?? []).map { ($0, "not redeemed") }
        terminal.table(
            [
                "CUSTOMER", "PRODUCT", "STATE", "BOUGHT", "PRICE", "STOREFRONT", "SINCE", "UNTIL",
                "ORIGINAL TRANSACTION", "ORIGIN",
            ],
            purchases.map { purchase, state in
                let charge = purchase.charge(among: found.charges)
                let facts = charge?.facts
                // A transaction that the App Store alone knows has no facts here, and is the charge itself.
                let bought = charge?.purchaseDate ?? (purchase.facts == nil ? purchase.purchaseDate : nil)
                let price = facts?.price.flatMap { price in
                    facts?.currency.map { Price(milliunits: price, currency: $0).formatted }
                }
                return [
                    purchase.owner?.name, purchase.productId, state, bought, price, facts?.storefront,
                    purchase.since, purchase.until, purchase.originalTransactionId,
                    purchase.origin.rawValue,
                ]
            })
        if !found.unclaimed.isEmpty {
            terminal.line("Nobody has redeemed an unclaimed purchase. `till unclaimed assign` gives it to a user.")
        }
        try terminal.json(found)
    }
}

struct UnclaimedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unclaimed",
        abstract: "List the purchases that nobody has redeemed, and assign one to a user.",
        subcommands: [UnclaimedList.self, UnclaimedAssign.self],
        defaultSubcommand: UnclaimedList.self)
}

struct UnclaimedList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "list", "List the purchases that nobody has redeemed, in the order of their transactions.",
        "With --product or --day, the newest statement comes first.",
        examples: """
            till unclaimed
            till unclaimed --search 2000000000000001
            till unclaimed --day 2027-03-01
            """)

    @Option(
        help: .value(
            "transaction", "Only this transaction, original transaction, or order of a subscription at Google Play."))
    var search: String?

    @Option(help: .product("default: all products"))
    var product: String?

    @Option(help: "Only purchases that a store has last stated on this day in UTC, such as 2027-03-01.")
    var day: CalendarDay?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    private struct Purchase: Decodable, Listed, Sendable {
        static let listName = "purchases"

        let transactionId: String
        let productId: String
        let purchaseDate: String
        let origin: Origin
        let appAccountToken: String?
    }

    func perform() async throws {
        let purchases: [Answered<Purchase>] = try await elements(
            of: "/v1/unclaimed", [("search", search), ("product", product), ("day", day?.description)], upTo: list)
        try terminal.list(
            ["TRANSACTION", "PRODUCT", "PURCHASED", "ORIGIN", "ACCOUNT TOKEN"], purchases,
            orElse: "No unclaimed purchases."
        ) { purchase in
            [
                purchase.transactionId, purchase.productId, purchase.purchaseDate, purchase.origin.rawValue,
                purchase.appAccountToken,
            ]
        }
    }
}

struct UnclaimedAssign: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "assign", "Assign an unclaimed purchase to a user, as if the user had redeemed it.",
        examples: "till unclaimed assign 2000000000000001 alice --reason \"Invoice 7\"")

    @Argument(help: "The transaction, as `till unclaimed` lists it.")
    var transaction: String

    @OptionGroup var subject: UserArgument

    @Option(help: .reason)
    var reason: String

    @OptionGroup var userCall: UserCallOptions

    static var positions: [String: ArgumentPosition] { ["--user": .last] }

    func perform() async throws {
        let path = "/v1/unclaimed/\(HTTPServiceConnection.segment(transaction))/assignment"
        let request: Report = ["user": user.name, "issuer": userCall.issuer, "reason": reason]
        let assignment: JSONContent = try await post(path, request)
        try terminal.result("Assigned \(transaction) to \(user).", assignment)
    }
}
