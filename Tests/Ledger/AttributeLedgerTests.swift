import Catalog
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

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

    @Test func `a customer is found by the whole address, number or name that stands, in any case`() async throws {
        let service = try EntitlementService.ofGarden(over: ledger, clock: ManualClock(Self.now))
        func state(_ name: String, _ value: String?, of user: User, from app: String? = nil, _ second: Int64)
            async throws
        {
            let attribute = try Attribute(
                name: name, value: value, statedAt: Self.later(second), isPublic: app != nil)
            try await ledger.write { try $0.state([attribute], of: user, from: app, at: Self.now) }
        }
        func found(_ text: String) async throws -> Set<String> {
            Set(try await service.users(searchedBy: text, limit: 9).users.map(\.user.name))
        }
        try await state("$email", "Mint@Example.com", of: alice, -90)
        try await state("$displayName", "김민지", of: alice, -90)
        try await state("$phoneNumber", "+82 10 1234 5678", of: alice, -90)
        try await state("color", "green", of: alice, -90)
        // The address that the team states counts, so a stranger's claim to it finds nobody else.
        try await state("$email", "mint@example.com", of: bob, from: "com.example.app", -80)
        try await state("$email", "bob@example.com", of: bob, -80)
        for text in ["mint@example.com", "MINT@EXAMPLE.COM", "김민지", "+82 10 1234 5678"] {
            #expect(try await found(text) == ["alice"], "\(text)")
        }
        #expect(try await found("Bob@example.com") == ["bob"])
        // Neither a part nor another attribute tells who somebody is.
        for text in ["mint@example", "민지", "green", "%", "", String(repeating: "m", count: 2000)] {
            #expect(try await found(text).isEmpty, "\(text.prefix(20))")
        }
        try await state("$email", nil, of: alice, -10)
        #expect(try await found("mint@example.com").isEmpty)
        let long = String(repeating: "가", count: 600)
        try await state("$email", long, of: alice, -5)
        #expect(try fixture.problems() == [])
    }
}
