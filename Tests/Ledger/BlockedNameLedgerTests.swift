import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Users whose names stand for no user, in either database.
@Suite struct BlockedNameLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    init() throws {
        fixture = try LedgerFixture()
    }

    /// A use case that writes for a user.
    private typealias Write = (name: String, body: @Sendable (LedgerTransaction, User) throws -> Void)

    /// Every use case that makes a user known.
    private func writes() throws -> [Write] {
        let (claim, now, alice) = (claim(), Self.now, alice)
        let anonymous = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "a", count: 32))).user
        let attribute = try Attribute(name: "level", value: "1", statedAt: now)
        let grant = Grant(
            sequence: 0, identifier: "g", item: Self.sprout1, reason: "a gift", grantedBy: "K", grantedAt: now,
            endsAt: nil)
        return [
            ("redeem", { _ = try $0.redeem([claim], for: $1, at: now) }),
            ("log in", { _ = try $0.logIn(anonymous, as: $1, by: .user, at: now) }),
            ("switch", { _ = try $0.logIn(alice, as: $1, by: .user, at: now) }),
            ("make a token", { _ = try $0.makeAppAccountToken(of: $1, at: now) }),
            ("set a token", { _ = try $0.setAppAccountToken(UUID(), of: $1, at: now) }),
            ("grant", { _ = try $0.add(grant, for: $1) }),
            ("state attributes", { try $0.state([attribute], of: $1, at: now) }),
            ("wish", { try $0.addWish(for: "p", of: $1, at: now) }),
            ("import", { _ = try $0.add(imported: $1, by: "K", at: now) }),
            ("import an alias", { _ = try $0.add(imported: alice, aliases: [$1], by: "K", at: now) }),
            ("refuse", { try $0.recordRefusal("code", of: [claim], in: claim.app, for: $1, by: .user, at: now) }),
        ]
    }

    private func blocked() throws -> [User] {
        try [
            User(name: "null"), User(issuer: "https://issuer.example.com", name: "Guest"), User(name: "0000"),
            CustomerIdentifier("[object Object]")?.user, CustomerIdentifier(" undefined\n")?.user,
            CustomerIdentifier("00000000-0000-0000-0000-000000000000")?.user, User(name: "(null)"),
            User(name: "\u{201C}null\u{201D}"), CustomerIdentifier("\u{200B}")?.user, User(name: "ｎｕｌｌ"),
            CustomerIdentifier("URN:UUID:{00000000\u{2013}0000-0000-0000-000000000000}")?.user,
            CustomerIdentifier("Optional(\"null\")")?.user, User(name: "nil;"),
        ].map { try #require($0) }
    }

    @Test func `no use case writes for a blocked name`() async throws {
        for user in try blocked() {
            for write in try writes() {
                await #expect(throws: LedgerError.self, "\(write.name) for \(user)") {
                    try await ledger.write { try write.body($0, user) }
                }
                #expect(try await ledger.read { try $0.users.known(user) } == nil, "\(write.name) for \(user)")
            }
        }
        #expect(try fixture.problems() == [])
    }

    @Test func `nor does it for a user of that name whom the ledger knows from before`() async throws {
        let users = try blocked()
        _ = try await ledger.write { try $0.users.insert(users, at: Self.now) }
        for user in users {
            for write in try writes() {
                await #expect(throws: LedgerError.self, "\(write.name) for \(user)") {
                    try await ledger.write { try write.body($0, user) }
                }
            }
            #expect(try await ledger.read { try $0.items(of: user, at: Self.now) } == [])
        }
    }

    @Test func `known users with blocked names are listed, and no others`() async throws {
        let others = try [
            User(name: "alice"), User(name: "guest1"), User(issuer: User.accountIssuer, name: "guest"),
            CustomerIdentifier("null\u{200B}")?.user, CustomerIdentifier("..")?.user, CustomerIdentifier("%")?.user,
            User(name: "10"), User(name: "()a"), User(name: "홍길동"), User(name: "null-island"), User(name: "0x0"),
        ].map { try #require($0) }
        let users = try blocked()
        _ = try await ledger.write { try $0.users.insert(users + others, at: Self.now) }
        #expect(Set(try await ledger.read { try $0.blockedUsers(limit: 99) }) == Set(users))
        #expect(try await ledger.read { try $0.blockedUsers(limit: 2) }.count == 2)
        let wider = ledger.blocking(BlockedNames(adding: ["Guest1"]))
        #expect(Set(try await wider.read { try $0.blockedUsers(limit: 99) }) == Set(users + [others[1]]))
    }

    @Test func `a name of the setting is blocked, too`() async throws {
        let gast = try #require(User(name: "GAST"))
        let wider = ledger.blocking(BlockedNames(adding: ["gast"]))
        await #expect(throws: LedgerError.userBlocked) {
            try await wider.write { try $0.makeAppAccountToken(of: gast, at: Self.now) }
        }
        _ = try await ledger.write { try $0.makeAppAccountToken(of: gast, at: Self.now) }
    }

    @Test func `a placeholder as an account token names nobody, even if a user has it`() async throws {
        #expect(try await ledger.write { try $0.setAppAccountToken(Self.zero, of: alice, at: Self.now) } == .set)
        #expect(try await redeem(claim("1", appAccountToken: Self.zero), for: bob) == [.granted])
        #expect(try await notify("a", claim("2", appAccountToken: Self.zero)) == .parked)
        #expect(try await redeem(claim("2"), for: bob) == [.granted])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [])
        #expect(try fixture.problems() == [])
    }
}
