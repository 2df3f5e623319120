import AppStore
import ArgumentParser
import HTTPSupport
import Proofs
import Vocabulary

struct Give: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "give", "Give a user an item without a purchase.",
        examples: """
            till give alice sprout 3 --reason "Sorry for the outage"
            till give alice sprout 3 --reason "Spring gift" --until 2027-01-01
            till give mint sprout 3 --issuer customer --reason "Sorry"
            """)

    @OptionGroup var subject: UserArgument

    @OptionGroup var named: ItemArguments

    @Option(help: .reason)
    var reason: String

    @Option(help: .end("of the grant: \(Moment.form); default: none"))
    var until: Moment?

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        struct Grant: Decodable, Sendable {
            let grantId: String
        }
        let request: Report = ["item": named.item, "reason": reason, "endsAt": until?.time.rfc3339]
        let grant: Answered<Grant> = try await post(userCall.path(of: user, "/grants"), request)
        try terminal.result("\(user) has \(named.item) now. Grant \(grant.grantId).", grant)
    }
}

struct ItemArguments: ParsableArguments {
    @Argument(help: "The collection of the item.")
    var collection: String

    @Argument(help: "The number of the item in its collection.")
    var number: Int

    var item: Item { Item(collection: collection, number: number) }
}

struct Move: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "move", "Move a purchase to another user, with its renewals.",
        """
        The service must know the other user. A purchase with an account token, or one that added to a balance, stays. An erased user \
        has no name any more: name any user, such as erased.
        """,
        examples: """
            till move alice 2000000000000001 bob --reason "Bought with the wrong account"
            till move alice 2000000000000001 mint --to-issuer customer --reason gift
            """)

    @OptionGroup var subject: UserArgument

    @Argument(help: "The transaction, as `till story` names it.")
    var transaction: String

    @Argument(help: "The other user, who owns the purchase then.")
    var other: User

    @Option(help: .reason)
    var reason: String

    @Option(help: "The issuer of the other user: customer for the ids of apps (default: the back end names the user).")
    var toIssuer: String?

    @OptionGroup var userCall: UserCallOptions

    func validate() throws {
        try UserCallOptions.validate(issuer: toIssuer, option: "--to-issuer")
    }

    func perform() async throws {
        let request: Report = ["user": other.name, "issuer": toIssuer, "reason": reason]
        let moved: Answered<ChangedTransaction> = try await put(
            userCall.path(of: transaction, of: user, "/owner"), request)
        try terminal.result("Moved \(moved.productId) from \(user) to \(other).", moved)
    }
}

/// The shown part of a transaction whose owner or revocation the team has changed.
private struct ChangedTransaction: Decodable, Sendable {
    let productId: String
    let origin: Origin
}

extension UserCallOptions {
    /// The path of a resource of a user's transaction, such as `/revocation`.
    fileprivate func path(of transaction: String, of user: User, _ resource: String) -> String {
        path(of: user, "/transactions/\(HTTPServiceConnection.segment(transaction))\(resource)")
    }
}

extension User: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}

extension PaymentOutcome: NamedArgument {}

extension AppStoreEnvironment: ExpressibleByArgument {}

struct Revoke: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "revoke", "Take a purchase back from a user. Only the store refunds.",
        """
        The customer asks Apple for the money: https://reportaproblem.apple.com. An order of Google Play is refunded with \
        `till actions`, or in the Play Console. Till takes the purchase back by itself when the store has refunded.
        """,
        examples: "till revoke alice 2000000000000001 --reason \"Chargeback\"")

    @OptionGroup var subject: UserArgument

    @Argument(help: "The transaction, as `till story` names it.")
    var transaction: String

    @Option(help: .reason)
    var reason: String

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let revoked: Answered<ChangedTransaction> = try await put(
            userCall.path(of: transaction, of: user, "/revocation"), ["reason": reason])
        terminal.line("Revoked \(revoked.productId) from \(user).")
        let store = revoked.origin.store
        guard let console = store.orderConsole else {
            let way = store.refundAddress.map { ": the customer asks at \($0)" } ?? ""
            return try terminal.result("Only \(store.company) refunds\(way).", revoked)
        }
        // Only the running service has the key of the store.
        try terminal.result(
            "\(store.company) returns no money by it. Refund the order with `till actions request refund \(transaction)`, or in \(console)"
                + (store.refundAddress.map { ", or send the customer to \($0)." } ?? "."), revoked)
    }
}

struct Reinstate: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "reinstate", "Give a purchase back that the team has revoked.",
        "A refund by the store stays in effect.",
        examples: "till reinstate alice 2000000000000001 --reason \"Our mistake\"")

    @OptionGroup var subject: UserArgument

    @Argument(help: "The transaction, as `till story` names it.")
    var transaction: String

    @Option(help: .reason)
    var reason: String

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let reinstated: Answered<ChangedTransaction> = try await put(
            userCall.path(of: transaction, of: user, "/reinstatement"), ["reason": reason])
        try terminal.result("Reinstated \(reinstated.productId) of \(user).", reinstated)
    }
}

struct Add: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "add", "Add to a user's balance without a purchase.",
        examples: """
            till add alice seeds 100 --reason "Sorry for the outage"
            """)

    @OptionGroup var subject: UserArgument

    @Argument(help: "The balance, as the catalog names it.")
    var balance: String

    @Argument(help: "The amount.")
    var amount: Int

    @Option(help: .reason)
    var reason: String

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let path = userCall.path(of: user, "/balances/\(HTTPServiceConnection.segment(balance))/additions")
        let request: Report = ["amount": amount, "reason": reason]
        let addition: JSONContent = try await post(path, request)
        try terminal.result("Added \(amount) to the balance \(balance) of \(user).", addition)
    }
}

struct GrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "List the items that the team has given to a user, and revoke one.",
        subcommands: [GrantsList.self, GrantsRevoke.self])
}

/// The shown part of an item that the team has given.
private struct GivenItem: Decodable, Listed, Sendable {
    struct Revocation: Decodable, Sendable {
        let revokedAt: String
    }

    static let listName = "grants"

    let grantId: String
    let item: Item
    let reason: String
    let grantedBy: String
    let grantedByName: String?
    let grantedAt: String
    let endsAt: String?
    let revocation: Revocation?
}

struct GrantsList: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "list", "List the items that the team has given to a user, newest first.",
        examples: "till grants list alice")

    @OptionGroup var subject: UserArgument

    @OptionGroup var list: ListLimit

    @OptionGroup var userCall: UserCallOptions

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        let grants: [Answered<GivenItem>] = try await elements(
            of: HTTPServiceConnection.path(of: user) + "/grants", [("issuer", userCall.issuer)], upTo: list,
            about: userCall.named(user))
        try terminal.list(
            ["GRANT", "ITEM", "GIVEN", "BY", "UNTIL", "REVOKED", "REASON"], grants,
            orElse: "The team has given user \"\(user)\" nothing."
        ) { grant in
            [
                grant.grantId, grant.item.description, grant.grantedAt, grant.grantedByName ?? grant.grantedBy,
                grant.endsAt, grant.revocation?.revokedAt, grant.reason,
            ]
        }
    }
}

struct GrantsRevoke: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "revoke", "Revoke an item that the team has given.",
        examples: "till grants revoke alice 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10 --reason Typo")

    @OptionGroup var subject: UserArgument

    @Argument(help: "The grant, as `till grants list` names it.")
    var grant: String

    @Option(help: .reason)
    var reason: String

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let path = userCall.path(of: user, "/grants/\(HTTPServiceConnection.segment(grant))/revocation")
        let revoked: Answered<GivenItem> = try await put(path, ["reason": reason])
        try terminal.result("Revoked \(revoked.item) of \(user).", revoked)
    }
}
