import ArgumentParser
import Foundation
import PlayStore
import Proofs

struct PlaySubscribe: Command {
    static let configuration = CommandConfiguration(
        "subscribe", "Buy a subscription for a customer, and print the signed purchase.",
        "The app or the server has to acknowledge it within three days of the Play's clock, or it is revoked and refunded.",
        examples: """
            till play subscribe garden.basic.monthly --account alice
            till play subscribe premium --account alice --offer trial
            till play subscribe gold --account alice --replace 3 --mode DEFERRED
            till play subscribe premium --account alice --pending
            """)

    @Argument(help: ArgumentHelp("The subscription's identifier.", valueName: "product"))
    var productIdentifier: String

    @Option(help: ArgumentHelp("The base plan (default: the first active one).", valueName: "identifier"))
    var basePlan: String?

    @Option(help: ArgumentHelp("An offer of the base plan (default: none).", valueName: "identifier"))
    var offer: String?

    @Option(
        help: ArgumentHelp(
            "The subscription that this one replaces: an upgrade or a downgrade (default: the one of the same product).",
            valueName: "number"))
    var replace: Int64?

    @Option(
        help: ArgumentHelp(
            "\(ReplacementMode.allCases.map(\.rawValue).joined(separator: ", ")) (default: Google's).",
            valueName: "mode"))
    var mode: ReplacementMode?

    @Flag(
        help:
            "Pay later: `till play subscription NUMBER complete` or `cancel` ends the payment. For prepaid plans only.")
    var pending = false

    @OptionGroup var customer: PlayCustomerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let resource = try common.dataDirectory.play().perform { books in
            var order = try customer.order(of: productIdentifier, in: books)
            (order.purchaseOptionId, order.isPending) = (basePlan, pending)
            (order.replacedNumber, order.replacementMode) = (replace, mode)
            return try books.resource(try books.subscribe(order, offerId: offer))
        }
        terminal.signed(resource.signedPurchase, resource.lines)
        try terminal.json(resource)
    }
}

struct PlaySubscriptions: Command {
    static let configuration = CommandConfiguration(
        "subscriptions", "List the subscriptions, newest first.", examples: "till play subscriptions --account alice")

    @Option(help: "List only the subscriptions of this customer.")
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let subscriptions = try common.existingPlay.perform { books in
            try books.subscriptions(of: account).map { try books.resource($0) }
        }
        terminal.table(
            ["ID", "ACCOUNT", "PRODUCT", "STATE", "EXPIRES", "ORDER"],
            subscriptions.map {
                [String($0.number), TextTable.shortened($0.account), $0.productId, $0.state, $0.expiryTime, $0.orderId]
            }, orElse: "No subscriptions.")
        try terminal.json(["subscriptions": subscriptions])
    }
}

extension SubscriptionPeriod: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ReplacementMode: ExpressibleByArgument {}

extension SubscriptionAction: ExpressibleByArgument {}

struct PlaySubscriptionCommand: Command {
    static let configuration = CommandConfiguration(
        "subscription", "Act on a subscription as its customer or as Google.",
        """
        A payment that declines leads to the grace period and the hold of the plan; acceptPayments pays what is owed. An expired \
        subscription is renewed in the Play itself with resubscribe.
        """,
        examples: """
            till play subscription 3 cancel
            till play subscription 3 restore
            till play subscription 3 declinePayments
            till play subscription 3 acceptPayments
            till play subscription 3 pause --length P2M
            till play subscription 3 acceptPrice
            till play subscription 3 resubscribe
            till play subscription 3 chargeback
            """)

    @Argument(help: "The subscription's number; `till play subscriptions` lists them.")
    var number: Int64

    @Argument(
        help:
            "complete, cancel, restore, acceptPrice, resubscribe, declinePayments, acceptPayments, pause, resume, refund or chargeback."
    )
    var action: SubscriptionAction

    @Option(
        help: ArgumentHelp(
            "The length of a pause: P1W to P4W for a weekly plan, P1M to P3M for a longer one (default: the shortest).",
            valueName: "period"))
    var length: SubscriptionPeriod?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let resource = try common.existingPlay.perform { books in
            try books.resource(try books.perform(action, on: number, pauseLength: length))
        }
        resource.lines.forEach(terminal.line)
        try terminal.json(resource)
    }
}

extension PlaySubscriptionResource {
    /// The subscription in one line, and its deadline.
    fileprivate var lines: [String] {
        let details = [productId, orderId, purchaseToken].compactMap(\.self)
        return ["\(state)  #\(number)  until \(expiryTime)  " + details.joined(separator: "  ")]
            + (acknowledgementDeadline.map { ["To be acknowledged until \($0)."] } ?? [])
    }
}
