import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The parts that several pages of the local stores have.
enum StoreRows {
    static let inspectorIdentifier = "inspector"

    /// A link that opens the inspector of a row. On a phone, it leads below the list.
    static func link(_ path: ConsolePath, isOpen: Bool, @HTMLBuilder content: () -> HTML) -> HTML {
        a(
            HTMLAttribute("href", path.text + "#" + inspectorIdentifier), HTMLAttribute("data-swap"),
            isOpen ? HTMLAttribute("aria-current", "true") : nil, content: content)
    }

    /// The part of a page about the row of its list that a person has chosen.
    static func inspector(_ attributes: HTMLAttribute?..., @HTMLBuilder content: () -> HTML) -> HTML {
        section(
            [.class("card inspector"), .id(inspectorIdentifier), .ariaLabel("Inspector")]
                + attributes.compactMap(\.self),
            content: content)
    }

    /// A list whose rows open the inspector.
    static func transactions(
        _ transactions: [ListedTransaction], _ selection: StoreSelection, _ names: CatalogNames, empty: Phrase,
        next: ConsolePath?
    ) -> HTML {
        Listing.table("Transactions, newest first", of: transactions, empty: empty, next: next) {
            column("Product") { listed in
                selection.link(.transaction, listed.transaction.transactionIdentifier) {
                    product(listed.transaction.productIdentifier, quantity: listed.transaction.quantity, names)
                }
                br()
                small { Shown.moment(listed.transaction.purchaseDate) }
            }
            column("Account") { listed in
                account(listed.transaction.account)
                br()
                small { Shown.identifier(listed.transaction.transactionIdentifier) }
            }
            column("Price") { Shown.money($0.transaction.price) }
            column("State") { listed in
                StoreWords.badge(listed)
                if let subscription = listed.subscription {
                    br()
                    small { StoreWords.state(subscription) }
                }
            }
        }
    }

    static func payments(
        _ caption: Phrase, _ payments: [QueuedTransaction], _ selection: StoreSelection, _ names: CatalogNames,
        _ context: ConsoleContext, next: ConsolePath? = nil
    ) -> HTML {
        Listing.table(caption, of: payments, empty: "The queue is empty.", next: next) {
            column("Payment") { queued in
                let (number, payment) = (String(queued.transaction.identifier), queued.transaction.payment)
                selection.link(.payment, number) {
                    product(payment.productIdentifier, quantity: payment.quantity, names)
                    plain(" (\(number))")
                }
            }
            column("Account") { account($0.account) }
            column("State") { StoreWords.badge($0) }
            column("Next step") { buttons($0, selection, context) }
        }
    }

    /// The name of a product, with the quantity if it is more than one.
    @HTMLBuilder static func product(_ identifier: String, quantity: Int, _ names: CatalogNames) -> HTML {
        bdi { names.product(identifier) }
        if quantity > 1 { plain(" × \(quantity)") }
    }

    static func buttons(
        _ queued: QueuedTransaction, _ selection: StoreSelection, _ context: ConsoleContext
    ) -> HTML {
        let number = String(queued.transaction.identifier)
        return div(.class("actions")) {
            for action in queued.actions {
                context.form(to: selection.receiver("queue", number, action.rawValue)) {
                    button(action == .approve || action == .resolve ? .class("primary") : nil) {
                        action.words.title
                        span(.class("hidden")) { plain(" \(number)") }
                    }
                }
            }
        }
    }

    static func account(_ name: String) -> HTML { a(.href(StoreSelection(account: name).path())) { data(name) } }

    static func transaction(_ identifier: String) -> HTML {
        StoreSelection().link(.transaction, identifier) { Shown.identifier(identifier) }
    }

    /// A signed text with a button that copies it.
    ///
    /// - Parameter identifier: The identifier of the text on the page.
    static func signed(_ title: Phrase, _ identifier: String, _ text: String) -> HTML {
        details(.class("action")) {
            summary { title }
            Shown.copyButton(for: identifier)
            pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
        }
    }

    @FactsBuilder static func facts(of subscription: SubscriptionSummary) -> [Fact] {
        fact("State") { StoreWords.state(subscription) }
        fact("Product") { Shown.identifier(subscription.productIdentifier) }
        fact("Automatic renewal") { subscription.isAutoRenewing ? "On" : "Off" }
        fact("Subscribed since") { Shown.moment(subscription.startDate) }
        fact("Paid until") { Shown.moment(subscription.expiresDate) }
        if subscription.quantity > 1 || subscription.renewalQuantity > 1 {
            fact("Seats") { plain(String(subscription.quantity)) }
            fact("Seats after the renewal") { plain(String(subscription.renewalQuantity)) }
        }
        if let commitment = subscription.commitment {
            fact("End of the commitment") { Shown.moment(commitment.expiresDate) }
        }
        if subscription.autoRenewProductIdentifier != subscription.productIdentifier {
            fact("Product after the renewal") { Shown.identifier(subscription.autoRenewProductIdentifier) }
        }
        if let price = subscription.renewalPrice {
            fact("Next charge") {
                Shown.money(price)
                if let offer = subscription.renewalOffer { also(offer.title, by: ", ") }
            }
        }
        if let increase = subscription.priceIncrease {
            fact("Announced price") {
                spaced(
                    Shown.money(increase.price),
                    increase.isAccepted
                        ? Shown.badge(Phrase("Accepted", context: "price"), .good)
                        : Shown.badge("Waits for consent", .warning))
            }
        }
        if let intent = subscription.expirationIntent { fact("Reason of the end") { StoreWords.title(intent) } }
        fact("First transaction") { transaction(subscription.originalTransactionIdentifier) }
    }
}

/// The parameters of the store's page: the filters of its list, and the row that the inspector shows.
///
/// Links and forms carry them, so that an action changes neither the list nor the row.
struct StoreSelection: Sendable {
    enum Parameter: String, CaseIterable {
        case account
        case product
        /// A state of transactions, or `queue` for the payments instead of them.
        case state
        /// The original transaction, for only the transactions of one purchase.
        case purchase
        case cursor
        case transaction
        /// The number of a payment in the queue.
        case payment
    }

    /// The state that stands for the payment queue.
    static let queue = "queue"
    private var values: [Parameter: String] = [:]

    init(account: String? = nil) { values[.account] = account }

    /// - Throws: `Problem`, `parameterInvalid`. A field that the form sends empty is no filter.
    init(_ request: Request) throws(Problem) {
        for each in Parameter.allCases {
            values[each] = try request.chosen(
                each.rawValue, upTo: each == .account ? Store.maximumAccountLength : 1024)
        }
        if let state = self[.state], state != Self.queue, ListedState(rawValue: state) == nil {
            throw .parameter("state", "a state of the list")
        }
    }

    subscript(parameter: Parameter) -> String? { values[parameter] }

    /// True if a filter besides the account leaves something out.
    var isFiltered: Bool { self[.product] != nil || self[.state] != nil || self[.purchase] != nil }

    var hasRow: Bool { self[.transaction] != nil || self[.payment] != nil }

    /// The same page with another value of a parameter. A new list begins without a chosen row, and a row replaces the other.
    func with(_ parameter: Parameter, _ value: String?) -> StoreSelection {
        var changed = self
        (changed.values[.transaction], changed.values[.payment]) = (nil, nil)
        changed.values[parameter] = value
        return changed
    }

    /// The page.
    ///
    /// - Parameter code: The code with which the service has refused the proof of the chosen payment.
    func path(refused code: String? = nil, done notice: Notice? = nil) -> ConsolePath {
        ConsolePath(
            ["store"], query: Parameter.allCases.map { ($0.rawValue, self[$0]) } + [("refused", code)], done: notice)
    }

    /// The receiver of a form about a row. It leads back to the page with the same filters.
    func receiver(_ segments: String...) -> ConsolePath {
        let filters = Parameter.allCases.filter { $0 != .transaction && $0 != .payment }
        return ConsolePath(["store"] + segments, query: filters.map { ($0.rawValue, self[$0]) })
    }

    /// A link that opens the inspector of a row.
    func link(_ parameter: Parameter, _ value: String, @HTMLBuilder content: () -> HTML) -> HTML {
        StoreRows.link(with(parameter, value).path(), isOpen: self[parameter] == value, content: content)
    }
}
