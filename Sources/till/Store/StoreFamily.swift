import AppStore
import ArgumentParser

struct StoreFamily: Command {
    static let configuration = CommandConfiguration(
        "family", "Print a customer's family, or let customers join and leave it.",
        """
        Each member shares with the others the non-consumables and active subscriptions that the products' familyShareable allows: present \
        ones at once, later ones when they are bought. A member who leaves loses what the others share, and they lose what the member \
        shares. When the organizer leaves, the family ends. --share and --stop-sharing are about one purchase alone.
        """,
        examples: """
            till store family alice --add bob       # alice becomes the organizer
            till store family alice
            till store family bob --leave
            till store family bob --share 2000000123456789
            till store family bob --stop-sharing 2000000123456789
            """)

    @Argument(help: "The customer.")
    var account: String

    @Option(help: ArgumentHelp("The customer who joins the family.", valueName: "account"))
    var add: String?

    @Flag(help: "Let the customer leave the family.")
    var leave = false

    @Option(help: ArgumentHelp("The purchaser's transaction that the customer gets.", valueName: "transaction"))
    var share: String?

    @Option(
        help: ArgumentHelp("The customer's own transaction whose sharing ends.", valueName: "transaction"))
    var stopSharing: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let actions = [add != nil, leave, share != nil, stopSharing != nil]
        try require(
            actions.count { $0 } <= 1, "Name one of --add, --leave, --share and --stop-sharing, or none of them.")
    }

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        if let add { try store.write { try $0.join(add, familyOf: account) } }
        if leave { try store.write { try $0.leaveFamily(account) } }
        if let share {
            var values = TransactionAction.Parameters()
            values.member = account
            try store.perform(.share, values, on: share)
        }
        if let stopSharing {
            guard try store.read({ try $0.sale(stopSharing) }).account == account else {
                throw StoreError.invalidAction(
                    "Transaction \(stopSharing) is not one of \"\(account)\". List them with `till store sales \(account)`."
                )
            }
            try store.perform(.revokeFamilySharing, on: stopSharing)
        }
        let family = try store.read { try $0.family(of: account) }
        terminal.table(
            ["ACCOUNT", ""],
            family.map { family in
                [[TextTable.shortened(family.organizer), "organizer"]]
                    + family.members.map { [TextTable.shortened($0), ""] }
            } ?? [], orElse: "\"\(account)\" is in no family.")
        try terminal.json(FamilyResource(family))
    }
}
