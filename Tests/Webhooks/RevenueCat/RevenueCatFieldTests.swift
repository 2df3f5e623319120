import Features
import Proofs
import TestSupport
import Testing

/// The table of fields in `Documentation/API.md`, against the members that messages in RevenueCat's format have.
@Suite struct RevenueCatFieldTests {
    /// A row of the table.
    private struct Field {
        let name: String
        /// The events that have the field: `each`, `each but`, `some`, `never`, or their types.
        let events: String

        /// Nil if some events of the type have it.
        func isIn(_ type: String) -> Bool? {
            switch events {
            case "some": nil
            case "never": false
            case "each": true
            case "each but `TRANSFER`": type != "TRANSFER"
            default: events.contains("`\(type)`")
            }
        }
    }

    /// The rows of the table whose first column is `field`.
    private static func fields() throws -> [Field] {
        let lines = try Project.text("Documentation/API.md").split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| field | in |") })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.flatMap { line -> [Field] in
            let cells = line.split(separator: "|").map { $0.trimmingSpaces }
            return cells[0].split(separator: ",").map {
                Field(name: $0.trimmingSpaces.filter { $0 != "`" }, events: cells[1])
            }
        }
    }

    private static let events =
        (RevenueCatEventTests.purchases + RevenueCatEventTests.endings).map(\.fixture) + [
            RevenueCatFixture(.transferredOut, "1", actor: .user).having("1", from: 1, to: 8)
                .with { $0.owner = ["bob"] },
            RevenueCatFixture(.itemGiven, "g", "plus 2", actor: .apiKey("K"), origin: nil)
                .with { $0.grant = RevenueCatFixture.grant() },
        ]

    @Test func `the documents have each member of a message, and no other`() throws {
        let fields = try Self.fields()
        #expect(fields.map(\.name) == fields.map(\.name).sorted())
        var used: Set<String> = []
        for fixture in Self.events {
            let event = try #require(fixture.event)
            let type = event.kind.rawValue
            guard case .object(let message) = try JSONParser.parse(Array(event.text.utf8)),
                case .object(let members)? = message["event"]
            else {
                Issue.record("\(event.text) has no event")
                continue
            }
            used.formUnion(members.keys)
            let undocumented = members.keys.filter { name in !fields.contains { $0.name == name } }
            #expect(undocumented.isEmpty, "of \(type)")
            for field in fields {
                guard let isExpected = field.isIn(type) else { continue }
                #expect((members[field.name] != nil) == isExpected, "\(field.name) in \(type)")
            }
        }
        let unused = fields.filter { !["never", "some"].contains($0.events) && !used.contains($0.name) }
        #expect(unused.map(\.name).isEmpty)
        let types = Set(Self.events.compactMap { $0.event?.kind })
        #expect(types == Set(RevenueCatEvent.Kind.allCases))
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
