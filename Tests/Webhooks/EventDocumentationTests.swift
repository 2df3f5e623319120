import Features
import Ledger
import TestSupport
import Testing

/// The tables of events in `Documentation/API.md`, against the rules of the events.
@Suite struct EventDocumentationTests {
    /// The rows below a heading of a table.
    private static func rows(below heading: String) throws -> [String] {
        let lines = try Project.text("Documentation/API.md").split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix(heading) })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(String.init)
    }

    private static func fields(of object: EventRule.Object) -> String {
        switch object {
        case .transaction: "`transactionId`, `productId`"
        case .purchase: "`originalTransactionId`, `productId`"
        case .grant: "`grantId`, `item`"
        case .user: "the user"
        case .other(let reference, let subject): "\(reference), \(subject)"
        }
    }

    private static func text(of reason: EventRule.Reason?) -> String {
        switch reason {
        case .words(let text), .end(let text), .plan(let text): text
        case .refusal: "the code of the refusal"
        case .canceler: "[who has canceled](#what-comes-next), if it is stated"
        case .expiration: "the store's, if it states one"
        case nil: "–"
        }
    }

    /// A failure shows the row that the document needs.
    @Test(arguments: AuditEntry.Event.allCases)
    func `the document has the row of each event`(_ event: AuditEntry.Event) throws {
        let rule = event.rule
        let cells = [
            "`\(event.rawValue)`" + (rule.isToldToApps ? "" : ", not to apps"),
            rule.messages.isEmpty ? "–" : rule.messages.map { "`\($0.rawValue)`" }.joined(separator: ", "),
            rule.meaning, Self.fields(of: rule.object), Self.text(of: rule.reason),
        ]
        let row = "| \(cells.joined(separator: " | ")) |"
        #expect(try Self.rows(below: "| event | to webhooks |").contains(row), "write \(row)")
    }

    @Test func `the document has no other event`() throws {
        #expect(try Self.rows(below: "| event | to webhooks |").count == AuditEntry.Event.allCases.count)
    }

    @Test func `the table of RevenueCat's messages has the events with one`() throws {
        let named = try Self.rows(below: "| event | messages |").filter { !$0.hasSuffix("| none |") }.compactMap {
            $0.firstMatch(of: /^\| `([A-Za-z]+)`/).map { String($0.1) }
        }
        let told = AuditEntry.Event.allCases.filter { $0.rule.revenueCat != nil }.map(\.rawValue)
        #expect(Set(named) == Set(told))
    }

    @Test func `each type of a message has an event, and a row in the table of types`() throws {
        let types = AuditEntry.Event.allCases.flatMap(\.rule.messages)
        #expect(Set(types) == Set(MessageType.allCases))
        let rows = try Self.rows(below: "| type | what happened |")
        #expect(rows.count == MessageType.allCases.count)
        for type in MessageType.allCases {
            #expect(rows.contains { $0.hasPrefix("| `\(type.rawValue)` |") }, "\(type.rawValue)")
        }
    }

    @Test func `the document has the row of each format`() throws {
        let rows = try Self.rows(below: "| format | media type |")
        #expect(rows.count == WebhookFormat.allCases.count)
        for format in WebhookFormat.allCases {
            let start = "| `\(format.rawValue)` | `\(format.mediaType)` |"
            #expect(rows.contains { $0.hasPrefix(start) }, "write \(start)")
        }
    }
}
