import Foundation
import Proofs
import TestSupport
import Testing

/// A store of the table. A further one gets a case, its words (`TableStore`), and a suite that plays `CommonCases` and its own.
enum StoreName: String, CaseIterable, Sendable {
    case apple = "App Store"
    case google = "Google Play"
    case acme
}

/// A column of the table: a place where a back end, an app or a person reads about a purchase.
enum Surface: String, CaseIterable, Sendable {
    /// The items, with their state, end and renewal, and the balances.
    case items
    /// The subscriptions, with what comes next.
    case subscriptions
    /// The cause of each explanation, without the items that were never bought.
    case why
    /// The events of the story, the oldest first, without the notifications. A cancellation names who has canceled.
    case story
    /// The types of Till's webhooks, in the order of the history.
    case webhooks
    /// RevenueCat's webhooks: type, reason, product, period and price.
    case revenueCat
    /// RevenueCat's customer info.
    case customerInfo
    /// The sales figures that are not zero: sums of the year, levels of today.
    case figures
}

/// The products that every store of the table sells, with their prices in milliunits of USD.
enum Plan: String, Sendable {
    case basic = "garden.basic.monthly"
    case premium = "garden.premium.monthly"

    var price: Int64 {
        switch self {
        case .basic: 5000
        case .premium: 10000
        }
    }
}

enum OneTime: String, Sendable {
    case gate = "garden.gate"
    case seeds = "garden.seeds"
    case season = "garden.season"

    /// The price of one.
    var price: Int64 {
        switch self {
        case .gate: 20000
        case .seeds: 1000
        case .season: 6000
        }
    }
}

/// The terms of the first period.
enum Terms: Sendable {
    case full
    /// A week for nothing.
    case trial
    /// A month for 2 dollars.
    case introductory
}

/// The reasons of an end that every store knows.
enum EndReason: Sendable {
    case customer, billing, priceIncrease
}

/// A purchase of the table.
struct Sold: Hashable, Sendable {
    let number: Int
}

/// A store in its own words: each verb changes what the store states, and tells the service as the store does.
///
/// The clock stands at the moment of the change. Verbs that belong to the end of a period wait for it.
protocol TableStore: Sendable {
    var service: TableService { get }
    /// The product of a plan in RevenueCat's words.
    func revenueCatProduct(_ plan: Plan) -> String

    /// Sells a subscription, which the app redeems.
    func subscribe(_ user: String, to plan: Plan, _ terms: Terms) async throws -> Sold
    /// Renews at the end of the period.
    func renew(_ sold: Sold) async throws
    /// Renews hours before the end of the period.
    func renew(_ sold: Sold, hoursEarly: Int64) async throws
    /// The customer turns renewal off.
    func turnOff(_ sold: Sold) async throws
    func turnOn(_ sold: Sold) async throws
    /// Ends at the end of the period, or of the time in which the store retries.
    func expire(_ sold: Sold, _ reason: EndReason) async throws
    /// Declines the renewal at the end of the period.
    ///
    /// - Parameter days: The length of the grace period; nil if the store states none.
    func beginGrace(_ sold: Sold, days: Int64?) async throws
    /// Declines the renewal, and takes access while the store retries: at the end of the period, or of the grace period.
    func beginRetry(_ sold: Sold) async throws
    /// The retry succeeds now.
    func recover(_ sold: Sold) async throws
    /// Replaces the plan now, for the full price of a new month.
    func upgrade(_ sold: Sold, to plan: Plan) async throws
    /// Chooses another plan for the next renewal.
    func choose(_ plan: Plan, at sold: Sold) async throws
    /// Pays the last period back, whole or half of it, and takes the right.
    func refund(_ sold: Sold, half: Bool) async throws
    /// Pays back the period before the last one.
    func refundEarlier(_ sold: Sold) async throws
    /// The customer subscribes again after the end, outside the app.
    func resubscribe(_ sold: Sold) async throws

    /// Sells a product, which the app redeems.
    func buy(_ product: OneTime, for user: String, quantity: Int64) async throws -> Sold
    /// Pays a product back, and takes the right.
    func refundProduct(_ sold: Sold) async throws
    /// Another customer presents a purchase, as after a restore on the same device.
    func present(_ sold: Sold, by user: String) async throws
}

extension TableStore {
    func subscribe(_ user: String, to plan: Plan = .basic) async throws -> Sold {
        try await subscribe(user, to: plan, .full)
    }

    func buy(_ product: OneTime, for user: String = "alice") async throws -> Sold {
        try await buy(product, for: user, quantity: 1)
    }

    /// Waits until a moment, such as `04-01`, which is noon, or `04-01T13:00`.
    func wait(until moment: String) throws { try service.advance(to: moment) }
}

/// A row of the table: a history, the pages that say what follows from it, and the expected cells.
///
/// In a cell, `*` stands for any text, and `{A|B}` for one of several texts, of which one may be empty: the pages leave that open.
/// `<basic>` is the plan's product in RevenueCat's words.
struct TableRow: Sendable, CustomTestStringConvertible {
    typealias Cells = [Surface: String]

    let name: String
    let pages: [StoreName: String]
    var users = ["alice"]
    let play: @Sendable (any TableStore) async throws -> Void
    let cells: Cells
    /// The cells that differ between the stores.
    var own: [StoreName: Cells] = [:]

    var testDescription: String { name }

    /// Plays the row, and reports each cell that differs.
    func check(_ name: StoreName, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await TableService.run(name) { store in
            do {
                try await play(store)
                try await store.service.settle()
            } catch {
                report("(the history)", expected: "no error", got: "\(error)", at: name, sourceLocation)
                return
            }
            let expected = cells.merging(own[name] ?? [:]) { $1 }
            for surface in Surface.allCases {
                guard let cell = expected[surface] else { continue }
                let texts = try await users.asyncMap { user in
                    let read = try await store.service.read(surface, of: user)
                    return users.count == 1 ? read : "\(user): \(read)"
                }
                let got = texts.joined(separator: "; ")
                var wanted = cell
                for plan in [Plan.basic, .premium] {
                    wanted = wanted.replacing(
                        plan == .basic ? "<basic>" : "<premium>", with: store.revenueCatProduct(plan))
                }
                if !CellPattern(wanted).matches(got) {
                    report(surface.rawValue, expected: wanted, got: got, at: name, sourceLocation)
                }
            }
        }
    }

    private func report(
        _ surface: String, expected: String, got: String, at store: StoreName, _ sourceLocation: SourceLocation
    ) {
        Issue.record(
            """
            CELL \(store.rawValue) | \(name) | \(surface)
              expected: \(expected)
              got:      \(got)
              page:     \(pages[store] ?? "none")
            """, sourceLocation: sourceLocation)
    }
}

/// The form of a cell.
struct CellPattern {
    private let expression: String

    init(_ cell: String) {
        var expression = ""
        for character in cell {
            switch character {
            case "*": expression += ".*"
            case "{": expression += "(?:"
            case "}": expression += ")"
            case "|": expression += "|"
            default: expression += NSRegularExpression.escapedPattern(for: String(character))
            }
        }
        self.expression = "^\(expression)$"
    }

    func matches(_ text: String) -> Bool { text.range(of: expression, options: .regularExpression) != nil }
}

extension Sequence where Self: Sendable {
    func asyncMap<Value: Sendable>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

/// Dates of the table, all in 2027 and at noon.
enum Day {
    struct Invalid: Error { let text: String }

    /// - Parameter text: `03-01`, or with a time `03-01T13:30`.
    static func moment(_ text: String) throws -> Timestamp {
        let time = text.contains("T") ? "\(text):00Z" : "\(text)T12:00:00Z"
        guard let moment = Timestamp(rfc3339: "2027-\(time)") else { throw Invalid(text: text) }
        return moment
    }

    /// The month and the day of a date in an answer.
    static func text(_ rfc3339: String) -> String { String(rfc3339.dropFirst(5).prefix(5)) }

    /// The moment a calendar month later. The table's periods begin on days that each month has.
    static func month(after moment: Timestamp) throws -> Timestamp {
        let (year, month) = (moment.rfc3339.prefix(4), moment.rfc3339.dropFirst(5).prefix(2))
        guard year == "2027", let number = Int(month), number < 12 else { throw Invalid(text: moment.rfc3339) }
        let next = number + 1 < 10 ? "0\(number + 1)" : "\(number + 1)"
        guard let later = Timestamp(rfc3339: "2027-\(next)\(moment.rfc3339.dropFirst(7))") else {
            throw Invalid(text: moment.rfc3339)
        }
        return later
    }
}

/// JSON without members that have no value.
func json(_ members: (String, JSONValue?)...) -> JSONValue {
    var object = JSONObject()
    for case (let key, let value?) in members { _ = object.add(key, value) }
    return .object(object)
}

extension JSONValue {
    static func date(_ moment: Timestamp) -> JSONValue { .string(moment.rfc3339) }
    static func milliseconds(_ moment: Timestamp) -> JSONValue { .integer(moment.millisecondsSince1970) }

    subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number.int64 } else { nil } }
    var amount: Double? { if case .number(let number) = self { number.double } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var members: [(key: String, value: JSONValue)] {
        if case .object(let object) = self { object.members.map { ($0.key, $0.value) } } else { [] }
    }

    /// The object with other members; null removes one.
    func changing(_ changes: (String, JSONValue)...) -> JSONValue {
        var object = JSONObject()
        for member in members {
            if let change = changes.first(where: { $0.0 == member.key }) {
                if change.1 != .null { _ = object.add(member.key, change.1) }
            } else {
                _ = object.add(member.key, member.value)
            }
        }
        for change in changes where change.1 != .null && self[change.0] == nil { _ = object.add(change.0, change.1) }
        return .object(object)
    }
}
