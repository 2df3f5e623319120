import AppStore
import ArgumentParser
import Features
import HTTPSupport
import Proofs
import Service

struct Customers: ServiceCaller {
    static let configuration = CommandConfiguration(
        "customers", "Find users by a part of their name, in any case and script, or by their account token.",
        examples: "till customers lic")

    @Argument(help: "A part of a name, or an account token.")
    var text: String

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    func validate() throws {
        try require(!text.isEmpty, "Name a part of a name, or an account token.")
    }

    /// The shown part of a user.
    private struct Customer: Decodable, Listed, Sendable {
        static let listName = "users"

        let user: UserName
        let appAccountToken: String
        let firstSeenAt: String
    }

    func perform() async throws {
        let (text, limit) = (text, list.limit)
        let customers = try await withClient { client in
            try await ServiceClient.elements(upTo: limit) { size, cursor -> List<Answered<Customer>> in
                try await client.get(
                    ServiceClient.path(
                        "/v1/users", [("search", text), ("pageSize", String(size)), ("cursor", cursor)]))
            }
        }
        terminal.table(
            ["CUSTOMER", "ISSUER", "ACCOUNT TOKEN", "SINCE"],
            customers.map { customer in
                [
                    customer.user.name, customer.user.issuer.isEmpty ? nil : customer.user.issuer,
                    customer.appAccountToken, customer.firstSeenAt,
                ]
            }, orElse: "No customers found.")
        try terminal.json(List(customers))
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
        examples: """
            till unclaimed
            till unclaimed --search 2000000000000001
            """)

    @Option(help: ArgumentHelp("Only this transaction, or original transaction.", valueName: "transaction"))
    var search: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    /// The shown part of a purchase.
    private struct Purchase: Decodable, Listed, Sendable {
        static let listName = "purchases"

        let transactionId: String
        let productId: String
        let purchaseDate: String
        let origin: Origin
        let appAccountToken: String?
    }

    func perform() async throws {
        let (search, limit) = (search, list.limit)
        let purchases = try await withClient { client in
            try await ServiceClient.elements(upTo: limit) { size, cursor -> List<Answered<Purchase>> in
                try await client.get(
                    ServiceClient.path(
                        "/v1/unclaimed", [("search", search), ("pageSize", String(size)), ("cursor", cursor)]))
            }
        }
        terminal.table(
            ["TRANSACTION", "PRODUCT", "PURCHASED", "ORIGIN", "ACCOUNT TOKEN"],
            purchases.map { purchase in
                [
                    purchase.transactionId, purchase.productId, purchase.purchaseDate, purchase.origin.rawValue,
                    purchase.appAccountToken,
                ]
            }, orElse: "No unclaimed purchases.")
        try terminal.json(List(purchases))
    }
}

struct UnclaimedAssign: ServiceCaller {
    static let configuration = CommandConfiguration(
        "assign", "Assign an unclaimed purchase to a user, as if the user had redeemed it.",
        examples: "till unclaimed assign 2000000000000001 alice --reason \"Invoice 7\"")

    @Argument(help: "The transaction, as `till unclaimed` lists it.")
    var transaction: String

    @Argument(help: "The user.")
    var user: User

    @Option(help: "The reason, in your own words. The audit log keeps it.")
    var reason: String

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let path = "/v1/unclaimed/\(HTTPServiceConnection.segment(transaction))/assignment"
        let request: Report = ["user": user.name, "issuer": issued.issuer, "reason": reason]
        let assignment: JSONContent = try await withClient {
            try await $0.post(path, request)
        }
        terminal.line("Assigned \(transaction) to \(user).")
        try terminal.json(assignment)
    }
}
