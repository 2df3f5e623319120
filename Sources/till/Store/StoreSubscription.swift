import AppStore
import ArgumentParser
import HTTPSupport
import Proofs

struct StoreSubscription: Command {
    struct Event: ExpressibleByArgument {
        private static let actions: KeyValuePairs<String, TransactionAction> = [
            "renew": .forceRenewal, "fail": .failRenewal, "expire": .expire, "cancel": .turnAutoRenewOff,
            "resume": .turnAutoRenewOn, "resolve-billing": .resolveBillingIssue, "seats": .changeSeats,
            "join": .acceptInvitation, "leave": .revokeSeat, "raise-price": .requestPriceIncrease,
            "consent": .consentToPriceIncrease, "refuse": .declinePriceIncrease, "move": .moveSubscription,
        ]

        static var allValueStrings: [String] { actions.map(\.key) }
        static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

        let action: TransactionAction

        init?(argument: String) {
            guard let action = Self.actions.first(where: { $0.key == argument })?.value else { return nil }
            self.action = action
        }
    }

    static let configuration = CommandConfiguration(
        "subscription", "Apply an event to a subscription.",
        """
        renew, fail and expire take effect at once; after fail, the customer could not be charged. cancel and resume are decisions of \
        the customer. resolve-billing ends a billing issue. raise-price announces a higher price; consent and refuse are the customer's \
        answers. seats changes the number of seats: more are charged at once, and fewer renew. join is the answer of a member whom \
        Apple invites to a seat, and prints the member's own transaction; leave ends the seat, by that transaction. move lets the \
        subscription go on under another original transaction, which it prints, as in a bundle or alone again.
        """,
        examples: """
            till store subscription cancel 2000000123456789
            till store subscription fail 2000000123456789 --grace-period
            till store subscription raise-price 2000000123456789 --price 5990
            till store subscription seats 2000000123456789 --quantity 8
            till store subscription join 2000000123456789 --account bob
            till store subscription move 2000000123456789
            """)

    @Argument(
        help: """
            renew, fail, expire, cancel, resume, resolve-billing, seats, join, leave, raise-price, consent, refuse or move.
            """)
    var event: Event

    @Argument(help: .value("transaction", "The identifier of any transaction of the subscription."))
    var transactionIdentifier: String

    @Option(help: .value("milliunits", "The higher price, in thousandths of the currency."))
    var price: Int64?

    @Option(help: "The quantity (of seats after the change).")
    var quantity: Int?

    @Option(help: .account("of the member who joins"))
    var account: String?

    @Flag(help: "Customers keep a subscription in a grace period after a failed charge.")
    var gracePeriod = false

    @Flag(help: "The higher price needs no consent.")
    var withoutConsent = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require(
            (price != nil) == (event.action == .requestPriceIncrease),
            "raise-price needs --price. Leave --price out for other events.")
        try require(
            (quantity != nil) == (event.action == .changeSeats),
            "seats needs --quantity. Leave --quantity out for other events.")
        try require(
            (account != nil) == (event.action == .acceptInvitation),
            "join needs --account. Leave --account out for other events.")
        try require(
            !gracePeriod || event.action == .failRenewal,
            "Only fail takes --grace-period. Leave it out for other events.")
        try require(price.map({ $0 >= 0 }) ?? true, "--price must be 0 or more.")
    }

    func perform() async throws {
        let store = try common.existingStore
        var values = TransactionAction.Parameters()
        (values.price, values.needsConsent) = (price ?? 0, !withoutConsent)
        (values.seats, values.member, values.hasGracePeriod) = (quantity ?? 1, account ?? "", gracePeriod)
        try store.perform(event.action, values, on: transactionIdentifier)
        let sale = try store.read { try $0.sale(transactionIdentifier) }
        // The latest transaction of all is the one that a member has just got, or a subscription that has moved.
        let isLatest = account != nil || event.action == .moveSubscription
        let latest = try store.read { try $0.transactions.transactions(of: account ?? sale.account) }.last {
            isLatest || $0.originalTransactionIdentifier == sale.originalTransactionIdentifier
        }
        try terminal.result(
            "\((latest ?? sale).originalTransactionIdentifier)  \((latest ?? sale).productIdentifier) until "
                + (latest?.expiresDate?.rfc3339 ?? "-"), JSONContent(answer: (latest ?? sale).json()))
    }
}

struct StoreTime: Command {
    static let configuration = CommandConfiguration(
        "time", "Print the store's time, or advance it and perform all due events in order.",
        """
        With --account, the time is that of one account, and no other account's moves. From its first step on, the account
        has its own clock, which the store's no longer moves, until `till store reset`.
        While `till store` or `till serve --store` runs, the clock waits at each due
        event until the notifications are delivered, for ten minutes at most.
        """,
        examples: """
            till store time
            till store time --advance 1mo     # or 90s, 5min, 2h, 3d, 1w, 1y
            till store time --account alice --advance 1mo
            """)

    @Option(help: .account("whose time it is, instead of the store's"))
    var account: String?

    @Option(help: .value("time", "The time to advance: \(TimeStep.form)."))
    var advance: TimeStep?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.existingStore
        var now = try store.time(of: account)
        var (accounts, events): ([AccountTime]?, [DueEvent]?)
        if let advance {
            let start = now
            now = try await store.advance(advance, of: account, deliveringWithin: Store.longestDelivery)
            events = try store.read { [now] in try $0.dueEvents(after: start, until: now, of: account) }
        } else if account == nil {
            accounts = try store.read { try $0.accountTimes() }
        }
        terminal.line(now.rfc3339)
        terminal.list(accounts)
        terminal.list(events)
        try terminal.json(JSONContent(answer: ClockAnswer(now: now, accounts: accounts, events: events).json()))
    }
}

extension Terminal {
    /// Prints the accounts that have their own time, if there are any.
    func list(_ accounts: [AccountTime]?) {
        guard let accounts, !accounts.isEmpty else { return }
        table(["ACCOUNT", "TIME"], accounts.map { [TextTable.shortened($0.account), $0.now.rfc3339] })
    }

    /// Prints the events of an advance; nothing without one.
    func list(_ events: [DueEvent]?) {
        guard let events else { return }
        table(
            ["DATE", "EVENT", "PRODUCT", "ACCOUNT", "TRANSACTION"],
            events.map {
                [
                    $0.date.rfc3339, $0.kind.words, $0.productIdentifier, TextTable.shortened($0.account),
                    $0.transactionIdentifier,
                ]
            }, orElse: "Nothing was due.")
    }
}

extension TimeStep: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension DueEvent.Kind {
    var words: String {
        switch self {
        case .renewed: "renewed"
        case .renewalFailed: "renewal failed"
        case .gracePeriodEnded: "grace period ended"
        case .expired: "expired"
        }
    }
}

struct StoreRetention: Command {
    static let configuration = CommandConfiguration(
        "retention", "Ask your server for a retention message, as when a customer may cancel.",
        """
        Sends a signed realtime request to the address that your server has set with PUT /inApps/v1/messaging/realtime/url. Prints \
        the answer, and the message that the customer sees.
        """,
        examples: """
            till store retention 2000000123456789
            till store retention 2000000123456789 --locale ko-KR
            """)

    @Argument(help: .value("transaction", "The identifier of any transaction of the subscription."))
    var transactionIdentifier: String

    @Option(help: "The language, such as ko (of the customer; with a country, en-US; default: that of the settings).")
    var locale: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.existingStore
        let exchange = try await store.requestRetentionMessage(for: transactionIdentifier, locale: locale)
        let answer = exchange.status.map(String.init) ?? exchange.result
        terminal.line("\(exchange.url) answered \(answer) after \(exchange.milliseconds) ms.")
        if let refusal = exchange.refusal { terminal.line("The answer is not used. \(refusal)") }
        try terminal.result(
            "The customer sees \(exchange.shown)" + (exchange.messageIdentifier.map { " \($0)" } ?? "") + ".", exchange)
    }
}
