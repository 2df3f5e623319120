import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The search for parts of names, in either database.
@Suite struct NameIndexTests: LedgerSuite {
    let fixture: LedgerFixture
    private let clock = ManualClock(now)
    private let index: NameIndex

    init() throws {
        fixture = try LedgerFixture()
        index = NameIndex(ledger: fixture.ledger, clock: clock)
    }

    private func add(_ names: [String], at moment: Timestamp = now) async throws {
        let users = try names.map { try #require(User(issuer: "", name: $0)) }
        _ = try await ledger.write { try $0.users.insert(users, at: moment) }
    }

    private func names(containing text: String, limit: Int = 9) async throws -> [String] {
        try await index.users(named: text, limit: limit).users.map(\.user.name)
    }

    @Test(
        arguments: [
            ("una1", "yuna16"), ("YUNA16", "yuna16"), ("ｕｎａ", "yuna16"), ("민지", "김민지"),
            ("민지".decomposedStringWithCanonicalMapping, "김민지"), ("hauptstrasse", "Hauptstraße3"),
            ("ΟΔΟΣ", "οδος"), ("É", "renée"),
        ])
    func `a part of a name finds it in any case and form`(text: String, name: String) async throws {
        try await add(["yuna16", "김민지", "Hauptstraße3", "οδος", "renée", "other"])
        #expect(try await names(containing: text) == [name.precomposedStringWithCanonicalMapping])
    }

    @Test func `a text finds no name that it is no part of`() async throws {
        try await add(["ab", "cd"])
        for text in ["bc", "abc", "b\u{0}c", ""] {
            #expect(try await names(containing: text) == [], "\(text)")
        }
    }

    @Test func `the newest names come first, also those of many users`() async throws {
        let names = (1...12_000).map { "user-\($0)" }
        try await add(Array(names.prefix(5000)))
        try await add(Array(names.dropFirst(5000)), at: Self.later(60))
        try await add(["the-last-user"], at: Self.later(120))
        #expect(try await self.names(containing: "USER", limit: 1) == ["the-last-user"])
        #expect(try await self.names(containing: "ser-4711") == ["user-4711"])
        let found = try await self.names(containing: "user-77", limit: 500)
        #expect(Set(found) == Set(names.filter { $0.hasPrefix("user-77") }))
    }

    @Test func `users who come, change their name or leave are found as they are`() async throws {
        #expect(try await names(containing: "mint") == [])
        try await add(["Peppermint"])
        #expect(try await names(containing: "mint") == ["Peppermint"])
        clock.advance(milliseconds: 1_000_000)
        try await add(["mint-tea"], at: clock.now())
        #expect(try await names(containing: "mint") == ["mint-tea", "Peppermint"])

        let ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "1", count: 32))).user
        let known = try #require(CustomerIdentifier("Mint Sprout")).user
        try await ledger.write { _ = try $0.users.insert([ghost], at: clock.now()) }
        #expect(try await names(containing: "sprout") == [])
        _ = try await ledger.write { try $0.logIn(ghost, as: known, by: .user, at: clock.now()) }
        for text in ["sprout", "mint sprout"] { #expect(try await names(containing: text) == [known.name]) }
        #expect(try await names(containing: "anonymousid:1") == [ghost.name])

        let tea = try #require(User(issuer: "", name: "mint-tea"))
        #expect(try await ledger.write { try $0.erase(tea, by: .user, at: clock.now()) })
        #expect(try await names(containing: "mint") == [known.name, "Peppermint"])
        try await index.rebuild()
        #expect(try await names(containing: "tea") == [])
    }

    @Test func `users of the very name come first, then the newest, each once on all pages`() async throws {
        let ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "a", count: 32))).user
        for (seconds, name) in ["mint", "Mint2", ghost.name, "spearmint"].enumerated() {
            let issuer = name == ghost.name ? ghost.issuer : ""
            let user = try #require(User(issuer: issuer, name: name))
            _ = try await ledger.write { try $0.users.insert([user], at: Self.later(Int64(seconds))) }
        }
        let known = try #require(CustomerIdentifier("a mint")).user
        _ = try await ledger.write { try $0.logIn(ghost, as: known, by: .user, at: Self.later(9)) }
        for limit in [1, 2, 9] {
            var (found, last, isLast): ([String], RecordPosition?, Bool) = ([], nil, false)
            while !isLast {
                let page = try await index.users(named: "mint", after: last, limit: limit)
                #expect(page.users.count <= limit)
                found += page.users.map(\.user.name)
                (last, isLast) = (page.next, page.next == nil)
            }
            #expect(found == ["mint", known.name, "spearmint", "Mint2"], "\(limit)")
        }
        #expect(try await names(containing: "a mint") == [known.name])
        let mint = try #require(User(name: "mint"))
        let token = try await ledger.read { try $0.customer(mint) }.map(\.appAccountToken.uuidString)
        #expect(try await names(containing: #require(token)) == ["mint"])
    }

    @Test func `a user whose commit comes late is found`() async throws {
        try await add(["first"], at: Self.now)
        #expect(try await names(containing: "lil") == [])
        try await add(["lily"], at: Self.later(-250))
        #expect(try await names(containing: "lil") == ["lily"])
        clock.advance(milliseconds: 10_000)
        try await add(["lilac"], at: Self.later(-200))
        #expect(try await names(containing: "lil") == ["lilac", "lily"])
    }

    @Test func `of very many newcomers the newest are found at once, and the others soon`() async throws {
        #expect(try await names(containing: "early-1") == [])
        let count = NameIndex.namesOfSearch
        try await add((1...2 * count).map { "early-\($0)" }, at: Self.later(1))
        try await add((1...count / 2).map { "late-\($0)" }, at: Self.later(2))
        #expect(try await Set(names(containing: "late-\(count / 2)")) == ["late-\(count / 2)"])
        #expect(try await names(containing: "late-", limit: count).count == count / 2)
        try await expectEventually { try await names(containing: "early-", limit: 3 * count).count == 2 * count }
        try await add(["early-bird"], at: Self.later(3))
        #expect(try await names(containing: "early-", limit: 3 * count).count == 2 * count + 1)
        let bird = try #require(User(name: "early-bird"))
        _ = try await ledger.write { try $0.erase(bird, by: .user, at: Self.later(4)) }
        #expect(try await names(containing: "bird") == [])
    }

    @Test func `a clock that goes back hides nobody`() async throws {
        clock.advance(milliseconds: 100_000_000)
        #expect(try await names(containing: "yuna") == [])
        clock.advance(milliseconds: -100_000_000)
        try await add(["yuna16"])
        #expect(try await names(containing: "yuna") == ["yuna16"])
    }
}
