import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing

/// The attributes of customers, in either database.
@Suite struct AttributeLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `of concurrent statements of two services, the newest about each attribute counts`() async throws {
        let other = try fixture.again()
        try await withThrowingTaskGroup(of: Void.self) { [ledger, alice] group in
            for second in Int64(1)...20 {
                for name in ["color", "level"] {
                    let ledger = second % 2 == 0 ? ledger : other
                    group.addTask {
                        let attribute = try Attribute(name: name, value: "\(second)", statedAt: Self.later(second - 60))
                        try await ledger.write { try $0.state([attribute], of: alice, at: Self.now) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let stated = try await ledger.read { try $0.attributes(of: alice) }
        #expect(stated.map(\.name) == ["color", "level"])
        #expect(stated.map(\.value) == ["20", "20"])
        #expect(try fixture.problems() == [])
    }

    @Test func `the ledger remembers which attributes are of public callers, and of which app`() async throws {
        func state(_ value: String?, _ seconds: Int64, isPublic: Bool) async throws -> String? {
            let app = isPublic ? "com.example.app" : nil
            let attribute = try Attribute(
                name: "$email", value: value, statedAt: Self.later(seconds), isPublic: isPublic)
            try await ledger.write { [alice] in try $0.state([attribute], of: alice, from: app, at: Self.now) }
            return try await ledger.read { [alice] in try $0.attributes(of: alice) }.first?.value
        }
        #expect(try await state("stranger", -50, isPublic: true) == "stranger")
        #expect(try await state("team", -90, isPublic: false) == "team")
        #expect(try await state("stranger", -10, isPublic: true) == "team")
        #expect(try await state(nil, -10, isPublic: false) == nil)
        #expect(try await state("stranger", -5, isPublic: true) == "stranger")
        let seen = try await ledger.read { [alice] in try $0.attributes(of: alice, seenBy: "com.example.other") }
        #expect(seen == [])
        #expect(try fixture.problems() == [])
    }
}
