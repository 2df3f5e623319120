import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import Synchronization
import TestSupport
import Vocabulary

/// Runs a fixed workload, whose instructions `make bench-instructions` counts.
///
///     till-instructions WORKLOAD           runs the workload
///     till-instructions WORKLOAD prepare   makes its preparations alone
///
/// The preparations are the same for both, so the difference between the two is the workload's own. The clock stands still.
@main struct Instructions {
    private enum Workload: String, CaseIterable {
        case verify, decide, redeem, items

        /// The number of proofs, claims, redemptions or reads.
        var rounds: Int {
            switch self {
            case .verify: 1000
            case .decide: 10_000
            case .redeem, .items: 200
            }
        }
    }

    private struct Failure: Error {
        let message: String
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let workload = arguments.first.flatMap(Workload.init(rawValue:)),
            arguments.count == 1 || arguments.dropFirst() == ["prepare"]
        else {
            let names = Workload.allCases.map(\.rawValue).joined(separator: "|")
            FileHandle.standardError.write(Data("Usage: till-instructions \(names) [prepare]\n".utf8))
            exit(64)
        }
        let rounds = 0..<(arguments.count == 1 ? workload.rounds : 0)
        switch workload {
        case .verify: try verify(rounds)
        case .decide: try decide(rounds)
        case .redeem: try wait { try await redeem(rounds) }
        case .items: try wait { try await readItems(rounds) }
        }
    }

    private final class Outcome: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    /// Waits for asynchronous work on the main thread. An asynchronous `main` would end that thread, which valgrind does not survive.
    private static func wait(for work: @escaping @Sendable () async throws -> Void) throws {
        let (outcome, done) = (Outcome(), DispatchSemaphore(value: 0))
        Task.detached {
            do { try await work() } catch { outcome.error.withLock { $0 = error } }
            done.signal()
        }
        done.wait()
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }

    private static let now = TestProofs.signedAt
    private static let application = "com.memolease.sesac1"

    /// Verifies signed transactions of one chain, which is known after the first.
    private static func verify(_ rounds: Range<Int>) throws {
        let (proofs, verifier) = try signedTransactions(100)
        for round in rounds { _ = try verifier.verify(proofs[round % proofs.count], expecting: .init()) }
    }

    /// Decides claims in groups as large as those of a service under load.
    ///
    /// A purchase has four claims: its owner redeems it, another user presents it and is refused, and the App Store states the
    /// renewal and its refund.
    private static func decide(_ rounds: Range<Int>) throws {
        let claims = (0..<100).map(claim)
        for _ in 0..<rounds.count / claims.count {
            var decision = EntitlementFacts().decision(accepting: [.localSandbox], at: now)
            for (index, claim) in claims.enumerated() {
                decision.presented = [claim]
                let isExpected =
                    switch index % 4 {
                    case 0: decision.redeem(claim, for: 1, by: .user) == .granted
                    case 1: decision.redeem(claim, for: 2, by: .user) == .ownedByAnotherUser
                    case 2: decision.state(claim) == .granted
                    default: decision.state(claim) == .revoked
                    }
                guard isExpected else { throw Failure(message: "Claim \(index) is decided otherwise than expected.") }
            }
            decision.recordStates { _ in .autoRenewableSubscription }
        }
    }

    private static func claim(_ index: Int) -> Claim {
        let isRenewal = index % 4 > 1
        let isRefunded = index % 4 == 3
        let bought = now.adding(days: isRenewal ? -10 : -40)
        let original = identifier(2 * (index / 4))
        var facts = TransactionFacts()
        facts[.price] = .integer(1_200_000)
        facts[.storefront] = .text("KOR")
        return Claim(
            app: application, origin: .localSandbox,
            transactionIdentifier: isRenewal ? identifier(2 * (index / 4) + 1) : original,
            originalTransactionIdentifier: original, productIdentifier: "\(application).subscription", quantity: 1,
            purchaseDate: bought, revocationDate: isRefunded ? now : nil,
            signedAt: isRefunded ? now : bought, proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "sprout", number: 1), expiresAt: bought.adding(days: 30), facts: facts)
    }

    /// Redeems a signed transaction for each of many users: verifies it, decides and commits.
    private static func redeem(_ rounds: Range<Int>) async throws {
        let (proofs, verifier) = try signedTransactions(Workload.redeem.rounds)
        let folder = try TemporaryFolder()
        let service = try entitlements(in: folder, verifier)
        for round in rounds {
            _ = try await service.redeem(proofs[round], for: try user(round))
        }
        withExtendedLifetime(folder) {}
    }

    /// Reads the items of users who own some.
    private static func readItems(_ rounds: Range<Int>) async throws {
        let (proofs, verifier) = try signedTransactions(20)
        let folder = try TemporaryFolder()
        let service = try entitlements(in: folder, verifier)
        for (number, proof) in proofs.enumerated() { _ = try await service.redeem(proof, for: try user(number)) }
        // The first read opens a connection, reads the schema and prepares the statement: a third of 200 reads.
        _ = try await service.items(of: try user(0))
        for round in rounds { _ = try await service.items(of: try user(round % proofs.count)) }
        withExtendedLifetime(folder) {}
    }

    /// A service of the shipped catalog over an empty ledger.
    private static func entitlements(
        in folder: TemporaryFolder,
        _ verifier: ProofVerifier
    ) throws -> EntitlementService {
        EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))), verifier: verifier,
            ledger: try Ledger(file: folder.file("ledger.sqlite"), randomness: .seeded(1)), clock: ManualClock(now),
            randomness: .seeded(2))
    }

    /// Distinct signed transactions of one chain, and a verifier that trusts it.
    private static func signedTransactions(_ count: Int) throws -> (proofs: [[UInt8]], verifier: ProofVerifier) {
        let chain = try TestChains.ellipticCurve.get()
        let proofs = try (0..<count).map { number in
            let payload = TestProofs.transactionPayload(
                transactionId: identifier(number),
                changing: ["price": .integer(1_200_000), "currency": "KRW", "storefront": "KOR"])
            return try TestProofs.transaction(payload, chain: chain)
        }
        return (proofs, ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock(now)))
    }

    private static func identifier(_ number: Int) -> String { String(2_000_000_000_000_000 + number) }

    private static func user(_ number: Int) throws -> User {
        guard let user = User(name: "user\(number)") else { throw Failure(message: "User \(number) has no name.") }
        return user
    }
}
