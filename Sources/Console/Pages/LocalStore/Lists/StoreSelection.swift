import AppStore
import HTTPSupport
import Hummingbird
import Proofs

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
            let text = try request.query(each.rawValue, upTo: each == .account ? Store.maximumAccountLength : 1024)
            values[each] = text?.isEmpty == false ? text : nil
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

    /// A link that opens the inspector of a row. On a phone, it leads below the list.
    func link(_ parameter: Parameter, _ value: String, @HTMLBuilder content: () -> HTML) -> HTML {
        a(
            HTMLAttribute("href", with(parameter, value).path().text + "#inspector"), HTMLAttribute("data-swap"),
            self[parameter] == value ? HTMLAttribute("aria-current", "true") : nil, content: content)
    }
}
