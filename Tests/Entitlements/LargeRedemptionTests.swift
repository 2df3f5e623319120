import Catalog
import Entitlements
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A request with more purchases than one commit redeems.
@Suite struct LargeRedemptionTests {
    private static let count = 2 * EntitlementService.claimsOfCommit + 500

    private let shop: TestShop
    private let service: EntitlementService
    private let alice: User
    private let bob: User

    init() throws {
        shop = try TestShop()
        service = EntitlementService(
            apps: Apps(App(shop.catalog)), verifier: try shop.verifier(),
            ledger: try Ledger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock)
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    /// A period of one of five subscriptions, or a purchase of its own.
    private func claim(_ number: Int) -> Claim {
        let original = number.isMultiple(of: 100) ? number % 500 : number
        let bought = shop.clock.now().adding(days: -Int64(number))
        return Claim(
            app: "com.example.app", origin: .localSandbox, transactionIdentifier: "\(number)",
            originalTransactionIdentifier: "\(original)", productIdentifier: "p\(original)", quantity: 1,
            purchaseDate: bought, revocationDate: nil, signedAt: shop.clock.now(),
            proofDigest: [UInt8](repeating: 7, count: 32), item: Item(collection: "sprout", number: original),
            credit: nil, expiresAt: number.isMultiple(of: 100) ? bought.adding(days: 25) : nil)
    }

    private func request(_ claims: [Claim], for user: User, keeping: AnswerKeeping? = nil) -> PresentedClaims {
        var presented = PresentedClaims(claims, for: user, accepting: [.localSandbox], by: .user)
        presented.keeping = keeping
        return presented
    }

    private func results(_ answer: ClaimAnswer) throws -> [Redemption.Result] {
        guard case .redeemed(let answer) = answer else { throw LedgerError.userUnknown }
        return answer.results
    }

    @Test func `is redeemed in several commits, and answered in the order of its purchases`() async throws {
        let claims = (1...Self.count).map(claim).shuffled()
        let isBobs = claims.map { (Int($0.originalTransactionIdentifier) ?? 0) % 25 == 7 }
        let bobs = zip(claims, isBobs).filter(\.1).map(\.0)
        _ = try await service.answer(request(bobs, for: bob))
        let commits = Commits()
        service.ledger.observeCommits { _ in commits.count.add(1, ordering: .relaxed) }
        let first = try results(try await service.answer(request(claims, for: alice)))
        #expect(first == isBobs.map { $0 ? .ownedByAnotherUser : .granted })
        #expect(commits.count.load(ordering: .relaxed) >= 3)
        let second = try results(try await service.answer(request(claims, for: alice)))
        #expect(second == isBobs.map { $0 ? .ownedByAnotherUser : .alreadyRedeemed })
        #expect(try await service.history(of: alice)?.transactions.count == claims.count - bobs.count)
    }

    @Test func `keeps its whole answer under an idempotency key`() async throws {
        let claims = (1...Self.count).map(claim)
        let key = IdempotencyKey(caller: "c", key: "k")
        let keeping = AnswerKeeping(key: key, oldest: shop.clock.now().adding(days: -1)) { answer in
            guard case .redeemed(let answer) = answer else { return nil }
            return key.answer(Array("\(answer.results.count)".utf8), to: [UInt8](repeating: 1, count: 32))
        }
        _ = try await service.answer(request(claims, for: alice, keeping: keeping))
        guard case .kept(let answer) = try await service.answer(request(claims, for: alice, keeping: keeping)) else {
            Issue.record("The answer is not kept.")
            return
        }
        #expect(answer.bytes == Array("\(Self.count)".utf8))
    }
}

private final class Commits: Sendable {
    let count = Atomic(0)
}
