import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct LedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `a second redemption grants nothing`() async throws {
        #expect(try await redeem(claim(), for: alice) == [.granted])
        #expect(try await redeem(claim(), for: alice) == [.alreadyRedeemed])
        #expect(try await redeem(claim(), claim(), for: alice) == [.alreadyRedeemed, .alreadyRedeemed])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
    }

    @Test func `another user's transaction is refused`() async throws {
        #expect(try await redeem(claim(), for: alice) == [.granted])
        #expect(try await redeem(claim(), claim("2"), for: bob) == [.ownedByAnotherUser, .granted])
        #expect(try await redeem(claim("2"), for: alice) == [.ownedByAnotherUser])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
    }

    @Test func `a free repeated purchase has no second owner`() async throws {
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        #expect(try await redeem(claim("2", original: "1"), for: bob) == [.ownedByAnotherUser])
        #expect(try await redeem(claim("2", original: "1"), for: alice) == [.granted])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
    }

    @Test func `the same identifier of another origin is another transaction`() async throws {
        #expect(try await redeem(claim(), for: alice) == [.granted])
        #expect(try await redeem(claim(origin: .appleProduction), for: bob) == [.granted])
    }

    @Test func `a revocation takes the item, and an older proof does not undo it`() async throws {
        await #expect(
            try redeem(claim("1"), claim("2", item: Item(collection: "sprout", number: 2)), for: alice) == [
                .granted, .granted,
            ])
        #expect(try await redeem(claim("1", revoked: Self.now), for: alice) == [.revoked])
        #expect(
            try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Item(collection: "sprout", number: 2)])
        // The older proof, from before the refund, does not grant it again.
        #expect(try await redeem(claim("1"), for: alice) == [.revoked])
        #expect(try await redeem(claim("3", revoked: Self.now), for: alice) == [.revoked])
        #expect(try await redeem(claim("3"), for: alice) == [.revoked])
        #expect(
            try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Item(collection: "sprout", number: 2)])
    }

    @Test func `an item is owned while one of its transactions is valid`() async throws {
        #expect(try await redeem(claim("1"), claim("2"), for: alice) == [.granted, .granted])
        #expect(try await redeem(claim("1", revoked: Self.now), for: alice) == [.revoked])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
    }

    @Test func `a transaction with another original transaction keeps its owner`() async throws {
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        let strange = claim("1", original: "9", revoked: Self.now, signedAt: Self.later(1))
        #expect(try await redeem(strange, for: bob) == [.ownedByAnotherUser])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await notify("1", strange) == .revoked)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [])
    }

    @Test func `two Unicode forms of a name are one user`() async throws {
        let composed = try #require(User(name: "caf\u{e9}"))
        let decomposed = try #require(User(name: "cafe\u{301}"))
        #expect(try await redeem(claim(), for: composed) == [.granted])
        #expect(try await redeem(claim(), claim("2", original: "1"), for: decomposed) == [.alreadyRedeemed, .granted])
        #expect(try await ledger.read { try $0.items(of: decomposed, at: Self.now) } == [Self.sprout1])
    }

    @Test func `records are small enough to be returned`() {
        #expect(MemoryLayout<Grant>.size <= 128)
        #expect(MemoryLayout<RedeemedTransaction>.size <= 128)
    }

    @Test func `the same name from two issuers is two users`() async throws {
        let stranger = try #require(User(issuer: "https://issuer.example", name: "alice"))
        #expect(try await redeem(claim(), for: alice) == [.granted])
        #expect(try await redeem(claim(), for: stranger) == [.ownedByAnotherUser])
        #expect(try await ledger.read { try $0.items(of: stranger, at: Self.now) } == [])
    }

    @Test func `an account token is generated once, and cannot be set afterwards`() async throws {
        let token = UUID()
        #expect(try await ledger.write { try $0.setAppAccountToken(token, of: alice, at: Self.now) } == .set)
        #expect(try await ledger.write { try $0.setAppAccountToken(token, of: alice, at: Self.now) } == .set)
        #expect(try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) } == token)
        #expect(
            try await ledger.write { try $0.setAppAccountToken(UUID(), of: alice, at: Self.now) } == .hasAnother(token))
        #expect(try await ledger.write { try $0.setAppAccountToken(token, of: bob, at: Self.now) } == .ofAnotherUser)
        let made = try await ledger.write { try $0.makeAppAccountToken(of: bob, at: Self.now) }
        #expect(try await ledger.write { try $0.makeAppAccountToken(of: bob, at: Self.now) } == made)
        #expect(made.uuid.6 & 0xF0 == 0x40)
    }

    @Test func `another user's account token is refused`() async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        #expect(try await redeem(claim(appAccountToken: token), for: bob) == [.appAccountTokenMismatch])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [])
        #expect(try await redeem(claim(appAccountToken: token), for: alice) == [.granted])
        // A token that no user has does not determine the owner.
        #expect(try await redeem(claim("2", appAccountToken: UUID()), for: bob) == [.granted])
    }

    @Test func `new transactions do not shift the pages`() async throws {
        for number in 1...5 { _ = try await redeem(claim("\(number)"), for: alice) }
        let first = try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 2) }
        #expect(first.map(\.transactionIdentifier) == ["5", "4"])
        _ = try await redeem(claim("6"), for: alice)
        let second = try await ledger.read { try $0.transactions(of: alice, before: first.last?.sequence, limit: 2) }
        #expect(second.map(\.transactionIdentifier) == ["3", "2"])
        #expect(try await ledger.read { try $0.transactions(of: bob, before: nil, limit: 2) }.isEmpty)
    }

    @Test func `API keys are stored and revoked`() async throws {
        let key = APIKeyRecord(
            identifier: "a", name: "back end", scopes: ["read", "redeem"],
            key: "k", createdAt: Self.now)
        try await ledger.write { try $0.add(key) }
        #expect(try await ledger.read { try $0.apiKeys() } == [key])
        #expect(try await ledger.read { try $0.apiKey("b") } == nil)
        #expect(try await ledger.write { try $0.revokeAPIKey("b", at: Self.now) } == false)
        let later = Timestamp(secondsSince1970: 1_790_000_100)
        #expect(try await ledger.write { try $0.revokeAPIKey("a", at: Self.now) })
        #expect(try await ledger.write { try $0.revokeAPIKey("a", at: later) })
        #expect(try await ledger.read { try $0.apiKey("a") }?.revokedAt == Self.now)
    }

    @Test func `the last use of a key only moves forward`() async throws {
        let key = APIKeyRecord(
            identifier: "a", name: "back end", scopes: ["read"], key: "k",
            createdAt: Self.now, expiresAt: Self.later(90))
        try await ledger.write { try $0.add(key) }
        #expect(try await ledger.read { try $0.apiKey("a") } == key)
        for (moment, recorded) in [(5, 5), (4, 5), (6, 6)] {
            try await ledger.write { try $0.recordUse(ofAPIKey: "a", at: Self.later(Int64(moment))) }
            #expect(try await ledger.read { try $0.apiKey("a") }?.lastUsedAt == Self.later(Int64(recorded)))
        }
        #expect(try await ledger.read { try $0.apiKeyNames() } == ["a": "back end"])
    }

    @Test func `the first answer under an idempotency key is kept`() async throws {
        let key = IdempotencyKey(caller: "a", key: "k")
        let answer = { @Sendable (number: UInt8) in
            key.answer([number], to: [UInt8](repeating: number, count: 32))
        }
        // No answer is kept about an unknown account, which may have been erased meanwhile.
        let gone = try #require(User(issuer: User.accountIssuer, name: "gone"))
        #expect(
            try await ledger.write {
                try $0.keep(answer(9), about: gone, at: Self.now, deletingBefore: Self.later(-10))
            }
                == answer(9))
        #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == nil)
        _ = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        #expect(
            try await ledger.write {
                try $0.keep(answer(1), about: alice, at: Self.now, deletingBefore: Self.later(-10))
            }
                == answer(1))
        #expect(
            try await ledger.write {
                try $0.keep(answer(2), about: alice, at: Self.later(1), deletingBefore: Self.later(-9))
            }
                == answer(1))
        #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == answer(1))
        #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.later(1)) } == nil)
        #expect(
            try await ledger.read { try $0.answers.answer(for: IdempotencyKey(caller: "b", key: "k"), since: Self.now) }
                == nil)
        // After the deletion of the first answer, the next one is kept.
        #expect(
            try await ledger.write {
                try $0.keep(answer(3), about: alice, at: Self.later(9), deletingBefore: Self.later(1))
            }
                == answer(3))
        for (moment, kept) in [(9, answer(3)), (10, nil)] as [(Int64, KeptAnswer?)] {
            let deleted = try await ledger.write { try $0.answers.delete(before: Self.later(moment), limit: 9) }
            #expect(deleted == (kept == nil ? 1 : 0))
            #expect(try await ledger.read { try $0.answers.answer(for: key, since: Self.now) } == kept)
        }
    }

    @Test func `a refund revokes an item, and its reversal grants it again`() async throws {
        _ = try await redeem(claim(), for: alice)
        let refunded = claim(revoked: Self.now, signedAt: Self.later(10))
        #expect(try await notify("1", refunded) == .revoked)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [])
        #expect(try await notify("1", refunded) == .duplicate)
        #expect(try await notify("2", refunded) == .recorded)
        // An older statement changes nothing, whether the app or the store sends it.
        #expect(try await redeem(claim(), for: alice) == [.revoked])
        #expect(try await notify("3", claim(signedAt: Self.later(5))) == .recorded)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [])
        #expect(try await notify("4", claim(signedAt: Self.later(20))) == .granted)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await notify("5", nil) == .recorded)
    }

    @Test func `a notification reaches the user of its account token`() async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        #expect(try await notify("1", claim(appAccountToken: token)) == .granted)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await redeem(claim(), for: alice) == [.alreadyRedeemed])
        #expect(try await redeem(claim(), for: bob) == [.appAccountTokenMismatch])
        // The token determines the owner, even if another user redeemed first.
        _ = try await redeem(claim("2"), for: bob)
        #expect(
            try await notify("2", claim("2", revoked: Self.now, signedAt: Self.later(1), appAccountToken: token))
                == .revoked)
        #expect(try await ledger.read { try $0.transactions(of: bob, before: nil, limit: 9) } == [])
        #expect(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) }.count == 2)
    }

    @Test func `an unclaimed transaction is parked`() async throws {
        #expect(try await notify("1", claim(revoked: Self.now, signedAt: Self.later(10))) == .parked)
        #expect(try await notify("2", claim(signedAt: Self.later(5))) == .parked)
        #expect(try await redeem(claim(), for: alice) == [.revoked])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [])
        #expect(try await notify("3", claim(signedAt: Self.later(20))) == .granted)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        // A product that the catalog lacks cannot be granted, but its refund is kept.
        let token = try await ledger.write { try $0.makeAppAccountToken(of: bob, at: Self.now) }
        #expect(
            try await notify(
                "4", claim("2", revoked: Self.now, signedAt: Self.later(1), appAccountToken: token, item: nil))
                == .parked)
        #expect(try await redeem(claim("2"), for: bob) == [.revoked])
    }

    /// A purchase, its refund and the refund's reversal, posted by the app and notified by the store.
    @Test func `the order of statements does not matter`() async throws {
        let statements = [claim(), claim(revoked: Self.now, signedAt: Self.later(10)), claim(signedAt: Self.later(20))]
        let last = [[0], [0, 1], [0, 1, 2]]
        for known in last {
            var expected: [Item]?
            for order in Self.permutations(known + known) {
                let ledger = try fixture.another()
                for (index, number) in order.enumerated() {
                    // Every second statement comes from the store.
                    if index.isMultiple(of: 2) {
                        _ = try await ledger.write { try $0.redeem([statements[number]], for: alice, at: Self.now) }
                    } else {
                        _ = try await notify("\(number)", statements[number], to: ledger)
                    }
                }
                let items = try await ledger.read { try $0.items(of: alice, at: Self.now) }
                #expect(items == expected ?? items, "\(order)")
                expected = items
            }
            #expect(expected == (known.count == 2 ? [] : [Self.sprout1]))
        }
    }

    /// The permutations of the elements, each once.
    private static func permutations(_ elements: [Int]) -> Set<[Int]> {
        guard let first = elements.first else { return [[]] }
        return Set(
            permutations(Array(elements.dropFirst())).flatMap { rest in
                (0...rest.count).map { Array(rest.prefix($0)) + [first] + rest.dropFirst($0) }
            })
    }

    /// The work of a redemption must not grow with the redemptions and notifications of others.
    @Test func `a redemption takes no longer in a large ledger`() async throws {
        func redeem(_ numbers: Range<Int>) throws {
            try ledger.allTogether(
                numbers.map { number in
                    { transaction in
                        guard let user = User(name: "user\(number)") else { return }
                        _ = try transaction.redeem([claim(String(number))], for: user, at: Self.now)
                        let parked = claim("parked\(number)", original: "parked\(number)")
                        let notification = NotificationRecord(
                            app: "com.example.app", origin: .localSandbox, notificationUUID: String(number),
                            type: "REFUND", subtype: nil,
                            signedAt: Self.now, proofDigest: [UInt8](repeating: 7, count: 32))
                        _ = try transaction.record(notification, stating: parked, at: Self.now)
                    }
                })
        }
        /// The shortest time of five groups of a hundred.
        func time(from start: Int) async throws -> (redeeming: Duration, asking: Duration) {
            var best = (redeeming: Duration.seconds(3600), asking: Duration.seconds(3600))
            for first in stride(from: start, to: start + 500, by: 100) {
                let clock = ContinuousClock()
                best.redeeming = min(best.redeeming, try clock.measure { try redeem(first..<first + 100) })
                let asking = try await clock.measure {
                    for _ in 0..<20 {
                        _ = try await ledger.read {
                            try $0.openConsumptionRequests(at: Self.now, of: [.localSandbox], limit: 100)
                        }
                        #expect(
                            try await ledger.read { try $0.customers(after: 0, of: [.localSandbox], limit: 10) }.count
                                == 10)
                    }
                }
                best.asking = min(best.asking, asking)
            }
            return best
        }
        try redeem(0..<100)
        let few = try await time(from: 100)
        // It takes longer to fill the database of a server.
        let count = LedgerFixture.isFile ? 20_000 : 4000
        for first in stride(from: 1000, to: count, by: 500) { try redeem(first..<first + 500) }
        let many = try await time(from: count)
        #expect(many.redeeming < few.redeeming * 4, "\(few) for a hundred at first, \(many) with \(count) there")
        #expect(many.asking < few.asking * 4, "\(few) at first, \(many) with \(count) there")
        let last = try #require(User(name: "user\(count - 1)"))
        #expect(try await ledger.read { try $0.transactions(of: last, before: nil, limit: 9) }.count == 1)
    }

    /// Checkpoints move commits out of the write-ahead log, which would fill the disk otherwise.
    @Test(.enabled(if: LedgerFixture.isFile)) func `the write-ahead log stays small`() async throws {
        for group in 0..<60 {
            try ledger.allTogether(
                (0..<100).map { number in
                    { transaction in
                        guard let user = User(name: "user\(group)-\(number)") else { return }
                        _ = try transaction.redeem([claim("\(group) \(number)")], for: user, at: Self.now)
                    }
                })
        }
        let size =
            try FileManager.default.attributesOfItem(atPath: folder.file("ledger.sqlite-wal").path)[.size] as? Int
        #expect(try #require(size) < 16 << 20, "\(size ?? 0)")
    }
}
