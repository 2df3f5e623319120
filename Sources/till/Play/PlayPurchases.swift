import ArgumentParser
import PlayStore
import Proofs

struct PlayBuy: Command {
    static let configuration = CommandConfiguration(
        "buy", "Buy a one-time product for a customer, and print the signed purchase.",
        """
        The app or the server has to acknowledge or consume the purchase within three days of the Play's clock, or it is refunded. \
        A purchase option to rent sells until the end of its rental period, and an offer to pre-order stays pending until its release. \
        Several products of one order are paid, acknowledged, consumed and refunded together. \
        Standard output has the purchase and its signature as a JSON object, which `till receipt redeem` and the service take.
        """,
        examples: """
            till play buy com.memolease.sesac1.sprout1 --account alice > purchase.json
            till play buy garden.seeds --account alice --quantity 3 --pending
            till play buy garden.gate --account alice --purchase-option two-days
            till play buy garden.gate --account alice --offer early
            till play buy garden.seeds --account alice --with garden.gate
            till play buy garden.gate --account alice --one-time-code
            """)

    @Argument(help: .value("product", "The product's identifier."))
    var productIdentifier: String

    @Option(help: "The quantity.")
    var quantity = 1

    @Option(help: .value("identifier", "The purchase option (default: the one for older apps)."))
    var purchaseOption: String?

    @Option(help: .value("identifier", "The identifier of an offer (of the purchase option; default: none)."))
    var offer: String?

    @Option(help: .value("token", "The token with which the app chooses the offer."))
    var offerToken: String?

    @Option(help: .value("product", "Another product of the same order (repeatable)."))
    var with: [String] = []

    @Flag(help: "Use a promotion code of this customer alone (the product is free, and has no order).")
    var oneTimeCode = false

    @Flag(help: "Pay later, as with cash (`till play complete` or `till play cancel` decides).")
    var pending = false

    @OptionGroup var customer: PlayCustomerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let resource = try common.dataDirectory.play().perform { books in
            var order = try customer.order(of: productIdentifier, in: books)
            (order.offerToken, order.usesOneTimeCode) = (offerToken, oneTimeCode)
            order.products = with.map { PlayProductOrder(productId: $0) }
            (order.quantity, order.purchaseOptionId, order.isPending) = (quantity, purchaseOption, pending)
            return try books.resource(try books.buy(order, offerId: offer))
        }
        try terminal.show(signed: resource)
    }
}

/// The customer of a sale, as `till play buy` and `till play subscribe` take it.
struct PlayCustomerOptions: ParsableArguments {
    @Option(help: .account())
    var account: String

    @Option(help: .value("code", "The customer's country, such as US (default: the product's first)."))
    var region: String?

    @Option(help: .value("identifier", "The obfuscated account identifier that the app sets."))
    var obfuscatedAccount: String?

    @Option(help: .value("identifier", "The obfuscated profile identifier that the app sets."))
    var obfuscatedProfile: String?

    @Option(
        help: .value(
            "channel", "\(Order.SalesChannel.allCases.map(\.rawValue).joined(separator: ", ")) (default: IN_APP).")
    )
    var salesChannel: Order.SalesChannel?

    @Flag(help: "Buy as a license tester, who pays nothing, and whose periods last minutes.")
    var tester = false

    @OptionGroup var app: PlayAppOptions

    /// The order of a product.
    ///
    /// - Throws: `CommandError` if the Play has several apps, and none is named.
    func order(of productIdentifier: String, in books: PlayBooks) throws -> PlayPurchaseOrder {
        var order = PlayPurchaseOrder(
            packageName: try app.packageName(in: books), productId: productIdentifier, account: account)
        (order.regionCode, order.isTest, order.salesChannel) = (region, tester, salesChannel)
        (order.obfuscatedAccountId, order.obfuscatedProfileId) = (obfuscatedAccount, obfuscatedProfile)
        return order
    }
}

struct PlayPurchases: Command {
    static let configuration = CommandConfiguration(
        "purchases", "List the purchases, newest first.", examples: "till play purchases --account alice")

    @Option(help: .account("default: every customer's"))
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let purchases = try common.existingPlay.perform { books in
            try books.purchases(of: account).map { try books.resource($0) }
        }
        try terminal.list(
            ["ID", "ACCOUNT", "PRODUCT", "STATE", "ACKNOWLEDGED", "ORDER"], purchases, orElse: "No purchases."
        ) {
            [
                String($0.number), TextTable.shortened($0.account), $0.products, $0.state,
                $0.isConsumed ? "consumed" : $0.isAcknowledged ? "yes" : "no", $0.orderId,
            ]
        }
    }
}

struct PlayComplete: Command {
    static let configuration = CommandConfiguration(
        "complete", "Complete the payment of a pending purchase, and print the signed purchase.",
        examples: "till play complete 3")

    @Argument(help: .value("id", "The purchase, as `till play purchases` lists it."))
    var number: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let resource = try common.existingPlay.perform { try $0.resource(try $0.complete(number)) }
        try terminal.show(signed: resource)
    }
}

struct PlayCancel: Command {
    static let configuration = CommandConfiguration(
        "cancel", "Cancel a pending purchase, whose payment was not made in time.", examples: "till play cancel 3")

    @Argument(help: .value("id", "The purchase, as `till play purchases` lists it."))
    var number: Int64

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try terminal.show(common.existingPlay.perform { try $0.resource(try $0.cancel(number)) })
    }
}

struct PlayRefund: Command {
    static let configuration = CommandConfiguration(
        "refund", "Refund a purchase, and list it as voided.",
        examples: """
            till play refund 3
            till play refund 3 --quantity 2
            till play refund 3 --reason chargeback
            till play refund 3 --keep
            """)

    @Argument(help: .value("id", "The purchase, as `till play purchases` lists it."))
    var number: Int64

    @Option(help: "The quantity (of refunded units; default: all).")
    var quantity: Int?

    @Option(
        help:
            "The reason (other, remorse, notReceived, defective, accidentalPurchase, fraud, friendlyFraud or chargeback; the bank's for a chargeback, else the customer's)."
    )
    var reason = VoidedPurchase.Reason.other

    @Flag(help: "Leave the goods with the customer. The refund is then not listed as voided.")
    var keep = false

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let source = reason == .chargeback ? VoidedPurchase.Source.google : .user
        try terminal.show(
            common.existingPlay.perform {
                try $0.resource(
                    try $0.refund(number, quantity: quantity, isRevoking: !keep, source: source, reason: reason))
            })
    }
}

extension VoidedPurchase.Reason: NamedArgument, NamedCase {
    /// All but the Play's own, by the names of their numbers.
    package static var allValueStrings: [String] { allCases.filter { $0 != .unacknowledgedPurchase }.map(\.name) }
}

/// A purchase or a subscription of the local Google Play, as its commands show it.
protocol SoldOnPlay: Encodable {
    var number: Int64 { get }
    /// The products in one text.
    var products: String { get }
    var state: String { get }
    /// Nil for a one-time purchase that is no rental.
    var end: String? { get }
    /// The moment at which a pre-order is charged; nil for another purchase.
    var releaseTime: String? { get }
    var orderId: String? { get }
    var purchaseToken: String { get }
    var acknowledgementDeadline: String? { get }
    var signedPurchase: SignedPurchase { get }
}

extension SoldOnPlay {
    /// The purchase in one line, and its deadline.
    fileprivate var lines: [String] {
        let details = [end.map { "until \($0)" }, products, orderId, purchaseToken].compactMap(\.self)
        return ["\(state)  #\(number)  " + details.joined(separator: "  ")]
            + [
                releaseTime.map { "To be charged at its release, \($0)." },
                acknowledgementDeadline.map { "To be acknowledged until \($0)." },
            ].compactMap(\.self)
    }
}

extension PlayPurchaseResource: SoldOnPlay {
    var end: String? { rentalEnd }
    var products: String { productIds?.joined(separator: " + ") ?? productId }
}

extension PlaySubscriptionResource: SoldOnPlay {
    var releaseTime: String? { nil }
    var end: String? { expiryTime }

    /// The base item and the add-ons: `premium + sports, films (until its end)`.
    var products: String {
        guard let addOns else { return productId }
        let names = addOns.map { $0.isRemoved ? "\($0.productId) (until its end)" : $0.productId }
        return "\(productId) + \(names.joined(separator: ", "))"
    }
}

extension Terminal {
    /// Prints a signed purchase as a service takes it. Its state goes to standard error, so that the output is a file for a service.
    func show(signed resource: some SoldOnPlay) throws {
        if !isJSON { resource.lines.forEach(errorLine) }
        line(resource.signedPurchase.json.compactText)
        try json(resource)
    }

    func show(_ resource: some SoldOnPlay) throws {
        resource.lines.forEach(line)
        try json(resource)
    }
}

struct PlayDispute: Command {
    static let configuration = CommandConfiguration(
        "dispute", "Dispute the payment of an order as the customer's bank does, and list such disputes.",
        """
        The Play notifies the developer (pendingRefundReviewNotification), who answers with `orders.reviewrefund` within 24 hours of \
        the Play's clock. At their end the order is refunded as a chargeback, unless the first answer declines the refund.
        """,
        examples: """
            till play dispute
            till play dispute GPA.3312-4512-1100-55923
            """)

    @Argument(help: "The order. Without one, the disputes are listed.")
    var order: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let disputes = try common.existingPlay.perform { books in
            guard let order else { return try books.reviews().map { PlayDisputeResource($0) } }
            return [PlayDisputeResource(try books.dispute(order: order))]
        }
        try terminal.list(["ORDER", "STATE", "PREFERENCE", "DEADLINE"], disputes, orElse: "No disputes.") {
            [$0.orderId, $0.state, $0.refundPreference, $0.deadline]
        }
    }
}

struct PlaySubscribe: Command {
    static let configuration = CommandConfiguration(
        "subscribe", "Buy a subscription for a customer, and print the signed purchase.",
        "The app or the server has to acknowledge it within three days of the Play's clock, or it is revoked and refunded.",
        examples: """
            till play subscribe garden.basic.monthly --account alice
            till play subscribe premium --account alice --offer trial
            till play subscribe gold --account alice --replace 3 --mode DEFERRED
            till play subscribe premium --account alice --replace 3 --add-on sports \\
              --add-on films
            till play subscribe premium --account alice --replace 4 --mode KEEP_EXISTING
            till play subscribe premium --account alice --pending
            """)

    @Argument(help: .value("product", "The subscription's identifier."))
    var productIdentifier: String

    @Option(help: .value("identifier", "The base plan (default: the first active one)."))
    var basePlan: String?

    @Option(help: .value("identifier", "The identifier of an offer (of the base plan; default: none)."))
    var offer: String?

    @Option(
        help: .value(
            "number",
            "The subscription that this one replaces: an upgrade or a downgrade (default: the one of the same product)."
        ))
    var replace: Int64?

    @Option(
        help: .value("mode", "\(ReplacementMode.allCases.map(\.rawValue).joined(separator: ", ")) (default: Google's).")
    )
    var mode: ReplacementMode?

    @Option(
        help: .value(
            "product",
            "An add-on, once for each (also those that stay; the others of the replaced subscription leave at their ends)."
        ))
    var addOn: [String] = []

    @Option(help: .value("code", "A promotion code that many customers use (the first period is free)."))
    var promotionCode: String?

    @Flag(help: "Use a promotion code of this customer alone (the first period is free).")
    var oneTimeCode = false

    @Flag(help: "Consent to the price after the offer at once (in South Korea).")
    var consent = false

    @Flag(
        help:
            "Pay later, as with cash (for prepaid plans; `till play subscription complete NUMBER` or `cancel` decides)."
    )
    var pending = false

    @OptionGroup var customer: PlayCustomerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let resource = try common.dataDirectory.play().perform { books in
            var order = try customer.order(of: productIdentifier, in: books)
            (order.purchaseOptionId, order.isPending) = (basePlan, pending)
            (order.replacedNumber, order.replacementMode) = (replace, mode)
            (order.promotionCode, order.usesOneTimeCode) = (promotionCode, oneTimeCode)
            (order.addOns, order.consentsToStepUp) = (addOn.map { PlayAddOnOrder(productId: $0) }, consent)
            return try books.resource(try books.subscribe(order, offerId: offer))
        }
        try terminal.show(signed: resource)
    }
}

struct PlaySubscriptions: Command {
    static let configuration = CommandConfiguration(
        "subscriptions", "List the subscriptions, newest first.", examples: "till play subscriptions --account alice")

    @Option(help: .account("default: every customer's"))
    var account: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let subscriptions = try common.existingPlay.perform { books in
            try books.subscriptions(of: account).map { try books.resource($0) }
        }
        try terminal.list(
            ["ID", "ACCOUNT", "PRODUCT", "STATE", "EXPIRES", "ORDER"], subscriptions, orElse: "No subscriptions."
        ) {
            [
                String($0.number), TextTable.shortened($0.account), $0.products, $0.state, $0.expiryTime, $0.orderId,
            ]
        }
    }
}

extension SubscriptionPeriod: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ReplacementMode: ExpressibleByArgument {}

extension SubscriptionAction: ExpressibleByArgument {}

extension Order.SalesChannel: ExpressibleByArgument {}

extension SubscriptionPurchaseV2.CancelSurveyResult.Reason: ExpressibleByArgument {}

struct PlaySubscriptionCommand: Command {
    static let configuration = CommandConfiguration(
        "subscription", "Act on a subscription as its customer or as Google.",
        """
        A payment that declines leads to the grace period and the hold of the plan; acceptPayments pays what is owed. An expired \
        subscription is renewed in the Play itself with resubscribe.
        """,
        examples: """
            till play subscription cancel 3 --survey-reason CANCEL_SURVEY_REASON_OTHERS
            till play subscription restore 3
            till play subscription declinePayments 3
            till play subscription acceptPayments 3
            till play subscription pause 3 --length P2M
            till play subscription acceptPrice 3
            till play subscription acceptStepUp 3
            till play subscription resubscribe 3
            till play subscription chargeback 3
            """)

    @Argument(
        help:
            "complete, cancel, restore, acceptPrice, acceptStepUp, resubscribe, declinePayments, acceptPayments, pause, resume, refund or chargeback."
    )
    var action: SubscriptionAction

    @Argument(help: .value("id", "The subscription, as `till play subscriptions` lists it."))
    var number: Int64

    @Option(
        help: .value(
            "period",
            "The length of a pause: P1W to P4W for a weekly plan, P1M to P3M for a longer one (default: the shortest).")
    )
    var length: SubscriptionPeriod?

    @Option(
        help: .value(
            "reason",
            "The customer's reason for a cancellation: CANCEL_SURVEY_REASON_ and NOT_ENOUGH_USAGE, TECHNICAL_ISSUES, COST_RELATED, FOUND_BETTER_APP or OTHERS."
        ))
    var surveyReason: SubscriptionPurchaseV2.CancelSurveyResult.Reason?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let survey = surveyReason.map { SubscriptionPurchaseV2.CancelSurveyResult(reason: $0) }
        try terminal.show(
            common.existingPlay.perform { books in
                try books.resource(try books.perform(action, on: number, pauseLength: length, survey: survey))
            })
    }
}
