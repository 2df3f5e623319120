import AppStore
import ArgumentParser
import Catalog
import Foundation
import HTTPSupport
import Proofs

struct StoreBuy: Command {
    static let configuration = CommandConfiguration(
        "buy", "Buy for a customer; the app or the service redeems the purchase later.",
        """
        Prints the number in the queue, the price that was charged and the transaction. If a payment charges nothing, the \
        command prints its effect instead: already subscribed, or a change at the next renewal. A customer gets an \
        introductory offer automatically. Name other offers with --offer.
        """,
        examples: """
            till store buy garden.seeds --account alice --quantity 3
            till store buy garden.basic.monthly --account alice --offer spring \\
              --offer-type promotional
            till store buy garden.basic.yearly --account alice \\
              --billing-plan monthly
            """)

    @Argument(help: .value("product", "The product's identifier."))
    var productIdentifier: String

    @Option(help: .account())
    var account: String

    @Option(help: "The quantity.")
    var quantity = 1

    @Option(help: .value("uuid", "The account token that the app puts into the purchase."))
    var appAccountToken: String?

    @Option(help: .value("identifier", "The identifier of an offer (of an offer code, its reference name)."))
    var offer: String?

    @Option(help: "promotional, offerCode or winBack.")
    var offerType = SubscriptionOffer.Kind.promotional

    @Option(help: .value("plan", BillingPlanType.optionHelp))
    var billingPlan: BillingPlanType?

    @Option(help: .value("outcome", "The outcome (of the payment, as for till buy)."))
    var outcome = PaymentOutcome.purchased

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require(appAccountToken.map({ UUID(uuidString: $0) != nil }) ?? true, "An account token must be a UUID.")
    }

    func perform() async throws {
        let data = common.dataDirectory
        try data.prepare()
        let store = try data.store()
        let payment = Payment(
            productIdentifier: productIdentifier, quantity: quantity,
            appAccountToken: appAccountToken.flatMap(UUID.init(uuidString:)), billingPlanType: billingPlan,
            offer: offer.map { Payment.OfferChoice(kind: offerType, identifier: $0) })
        let added = try store.add(payment, account: account, outcome: outcome)
        _ = try store.process(account: account)
        let (queued, effect) = try store.read { try ($0.queued(added.identifier), $0.effect(of: added.identifier)) }
        let transaction = queued.transaction
        let details = [
            transaction.payment.productIdentifier, effect?.words, transaction.purchase?.transactionIdentifier,
            transaction.error?.name,
        ]
        terminal.line(
            "\(transaction.state.rawValue)  #\(transaction.identifier)  "
                + details.compactMap(\.self).joined(separator: "  "))
        if transaction.state == .deferred {
            terminal.line(
                "It " + AppStoreQueue(store: store, account: account).waitingWords(transaction, common: common))
        }
        try terminal.json(transaction.report(user: account, effect: effect))
        guard let error = transaction.error else { return }
        try terminal.end(
            Terminal.failure(error, of: transaction, isInterrupted: queued.isInterrupted, common: common))
    }
}

struct StoreResolve: Command {
    static let configuration = CommandConfiguration(
        "resolve", "Complete an interrupted purchase.", examples: "till store resolve 3")

    @Argument(help: .value("id", "The transaction's number; `till store queue` lists them."))
    var number: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let queued = try common.existingStore.perform(.resolve, on: number)
        try terminal.result(
            "\(queued.transaction.state.rawValue)  #\(queued.transaction.identifier)  "
                + queued.transaction.payment.productIdentifier, queued.transaction.report(user: queued.account))
    }
}

extension Terminal {
    /// The reason why a payment failed.
    static func failure(
        _ error: SKErrorCode, of transaction: PaymentTransaction, isInterrupted: Bool, common: CommonOptions
    ) -> String {
        isInterrupted
            ? "The purchase was interrupted, and nothing was charged. Complete it: "
                + common.hint("store", "resolve", String(transaction.identifier))
            : "The payment failed with \(error.name); nothing was charged."
    }
}

extension SubscriptionOffer.Kind: NamedArgument {
    /// The offers that have a name to buy with.
    public static var allValueStrings: [String] { allCases.filter { $0 != .introductory }.map(\.name) }
}

extension BillingPlanType: NamedArgument {
    static let optionHelp = "upFront, or monthly for a subscription of a year with a commitment of twelve months."
}

extension PurchaseEffect {
    /// `USD 4.99`, `free trial`, `already subscribed until …`, or `changes to … on …`.
    var words: String {
        switch self {
        case .charged(_, isTrial: true): "free trial"
        case .charged(let price, _): price.formatted
        case .alreadySubscribed(let date): "already subscribed until \(date.rfc3339), nothing charged"
        case .changes(let product, let date): "changes to \(product) on \(date.rfc3339), nothing charged"
        }
    }
}

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

    @Option(help: .value("account", "The customer who joins the family."))
    var add: String?

    @Flag(help: "Let the customer leave the family.")
    var leave = false

    @Option(help: .value("transaction", "The purchaser's transaction that the customer gets."))
    var share: String?

    @Option(help: .value("transaction", "The customer's own transaction whose sharing ends."))
    var stopSharing: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        let actions = [add != nil, leave, share != nil, stopSharing != nil]
        try require(
            actions.count { $0 } <= 1, "Name one of --add, --leave, --share and --stop-sharing, or none of them.")
    }

    func perform() async throws {
        let store = try common.existingStore
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
