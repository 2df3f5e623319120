import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// Everything that the service tells, read over the connection.
extension Year {
    private static let items = ["bed/0", "bed/1", "gate/1", "plus/1", "plus/2", "plus/3"]
    private static let breakdowns = [
        ("active-subscriptions", "product"), ("revenue", "product"), ("units", "storefront"), ("units", "origin"),
    ]

    func record() async throws -> YearRecord {
        var record = monthly
        try names.add(store, of: YearScript.customers + [YearScript.stranger])
        names.add(String(fixture.key.split(separator: "_")[1]), as: "tests")
        for customer in YearScript.customers {
            let story = try await story(of: customer)
            record.stories[customer] = try story.map(storyLine).joined(separator: "\n")
            record.notifications[customer] = story.compactMap(\.notification).map {
                names.shortened(
                    [$0.signedAt, $0.type, $0.subtype ?? "", $0.transactionId ?? ""].joined(separator: " "))
            }
            let path = "/v1/users/\(customer)"
            record.items[customer] = try await lines(of: "\(path)/items", in: "items")
            record.subscriptions[customer] = try await lines(of: "\(path)/subscriptions", in: "subscriptions")
            record.balances[customer] = try await lines(of: "\(path)/balances", in: "balances")
            var explanations: [String] = []
            for item in Self.items {
                let answer = try await send(.get, "\(path)/items/\(item)/explanation")
                explanations.append(names.shortened(Self.line(try answer.decoded())))
            }
            record.explanations[customer] = explanations.joined(separator: "\n")
        }
        record.unclaimed = [try await lines(of: "/v1/unclaimed", in: "purchases")]
        for figure in Figure.allCases { record.figures += try await figureLines(figure.rawValue) }
        for (figure, group) in Self.breakdowns {
            record.breakdowns += try await figureLines(figure, query: "&group=\(group)")
        }
        record.sent = Set(
            try store.notifications().filter { !$0.sendAttempts.isEmpty }.map {
                [$0.type.rawValue, $0.subtype?.rawValue].compactMap(\.self).joined(separator: " ")
            })
        return record
    }

    /// The states of the subscriptions, and the items that are not everybody's, of each customer who has any.
    func month() async throws -> String {
        var parts: [String] = []
        for customer in YearScript.customers {
            let path = "/v1/users/\(customer)"
            let subscriptions = try await send(.get, "\(path)/subscriptions").decoded(
                List<UserSubscriptionResource>.self)
            let items = try await send(.get, "\(path)/items").decoded(List<OwnedItemResource>.self)
            let words =
                subscriptions.elements.map(\.state)
                + items.elements.map(\.item).filter { $0.number > 0 }.map(\.description)
            if !words.isEmpty { parts.append("\(customer) \(words.joined(separator: " "))") }
        }
        return "\(date): \(parts.joined(separator: ", "))"
    }

    func recordCauses() async throws {
        for customer in YearScript.customers {
            for item in Self.items {
                let answer = try await send(.get, "/v1/users/\(customer)/items/\(item)/explanation")
                monthly.causes["\(customer) \(item)", default: []].append(
                    try answer.decoded(ExplanationResource.self).cause)
            }
        }
    }

    /// A line for each object of a list, with all its members.
    private func lines(of path: String, in list: String) async throws -> String {
        let answer = try await send(.get, path).decoded(JSONContent.self)
        guard case .array(let objects) = answer[list] else { return "no \(list)" }
        return names.shortened(objects.map(Self.line).joined(separator: "\n"))
    }

    /// A JSON value in a line, with all its members in the order of their names.
    static func line(_ content: JSONContent) -> String {
        switch content {
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { key, value in
                if case .object = value { return "\(key) (\(line(value)))" }
                return "\(key) \(line(value))"
            }.joined(separator: ", ")
        case .array(let elements): elements.map(line).joined(separator: " ")
        case .string(let text): text
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .bool(let isTrue): "\(isTrue)"
        case .null: "null"
        }
    }

    /// A line for each series of a figure: its values for each month, then the denominators or the parts.
    ///
    /// A sum of money that is 0 in each month has no line: a refund that was taken back leaves one, if both were stated.
    func figureLines(_ figure: String, query: String = "") async throws -> [String] {
        let time = "by=month&from=2027-01-01&to=2027-12-31&environment=sandbox"
        let answer = try await send(.get, "/v1/figures/\(figure)?\(time)\(query)").decoded(FigureAnswerResource.self)
        #expect(answer.figure == figure && answer.environment == "sandbox")
        return try Self.lines(answer).map(names.shortened)
    }

    /// A line for each series of the months of 2027.
    static func lines(_ answer: FigureAnswerResource) throws -> [String] {
        #expect(answer.by == "month")
        #expect(answer.pendingUsers == 0 && answer.isBackfilled && answer.periods.allSatisfy(\.isComplete))
        #expect(answer.periods.map(\.from) == (1...12).map { String(format: "2027-%02d-01", $0) })
        func joined(_ values: [Int64]) -> String { values.map(String.init).joined(separator: " ") }
        return answer.series.compactMap { series in
            guard series.currency == nil || !series.values.allSatisfy({ $0 == 0 }) else { return nil }
            let parts = (series.parts ?? [:]).sorted { $0.key < $1.key }.map { "; \($0.key) \(joined($0.value))" }
            let name = [answer.figure, series.group, series.currency].compactMap(\.self).joined(separator: " ")
            return "\(name): \(joined(series.values))" + (series.denominators.map { " of \(joined($0))" } ?? "")
                + parts.joined()
        }
    }
}
