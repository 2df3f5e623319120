import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The verification of stored proofs.
@Suite struct KeptProofTests {
    let garden: TestGarden
    let ledger: Ledger
    let alice: User
    let bob: User

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    private func service(keepsProofs: Bool = true, policy: OwnershipPolicy = .keep) throws -> EntitlementService {
        EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock, policy: policy, keepsProofs: keepsProofs)
    }

    private func check() throws -> ProofReport {
        try ledger.readNow { try $0.checkProofs(by: try garden.verifier()) }
    }

    /// The numbers of the transactions with a valid proof, and of those without one. There are no others.
    private func counts() throws -> [Int] {
        let report = try check()
        #expect(report.problems.isEmpty)
        return [report.verified, report.notKept]
    }

    private func count(_ table: String) throws -> Int {
        try ledger.readNow { try $0.database.value("SELECT count(*) FROM \(table)", []) ?? 0 }
    }

    private func execute(_ sql: String) throws {
        try ledger.writeNow { try $0.database.write(sql, []) }
    }

    private func transaction(_ product: String) throws -> [UInt8] {
        Array(try garden.store.signedTransaction(try garden.buy(product).identifier).utf8)
    }

    private var receipt: [UInt8] {
        get throws { Array(try garden.store.receipt(account: "alice").utf8) }
    }

    @Test func `every form of proof is stored, and each certificate once`() async throws {
        let service = try service()
        let token = try await service.appAccountToken(of: alice)
        _ = try await service.redeem(try transaction("garden.season"), for: alice)
        _ = try await service.redeem(try transaction("garden.season"), for: alice)
        let certificates = try count("kept_certificate")
        #expect(certificates == 3)
        // A receipt, which has another chain.
        _ = try garden.buy("garden.season")
        _ = try await service.redeem(try receipt, for: alice)
        #expect(try count("kept_certificate") == 6)
        // A notification, whose signed transaction is stored.
        _ = try garden.store.add(
            Payment(productIdentifier: "garden.basic.monthly", appAccountToken: token), account: "alice")
        _ = try garden.store.process(account: "alice")
        let notification = try #require(try garden.store.notifications().last)
        #expect(try await service.receive(notification: Array(notification.signedPayload.utf8)) == .granted)
        #expect(try count("kept_certificate") == 6)
        #expect(try count("kept_proof") == 4)
        #expect(try counts() == [4, 0])
    }

    @Test func `without the setting no proof is stored`() async throws {
        _ = try await service(keepsProofs: false).redeem(try transaction("garden.season"), for: alice)
        #expect(try count("kept_proof") == 0)
        #expect(try counts() == [0, 1])
    }

    @Test(arguments: [
        ("UPDATE redeemed_transaction SET quantity = 2", "states another purchase"),
        ("UPDATE product SET product_id = 'garden.basic.yearly'", "states another purchase"),
        ("UPDATE redeemed_transaction SET origin = 0", "is refused (originNotAccepted)"),
        ("UPDATE kept_proof SET bytes = x'00'", "is damaged"),
        ("UPDATE kept_proof SET bytes = substr(bytes, 1, length(bytes) - 4) || x'41414141'", "is refused"),
        ("UPDATE kept_proof SET certificates = x''", "is damaged"),
        ("DELETE FROM kept_certificate", "is damaged"),
    ])
    func `a difference from the stored proof is found`(damage: String, finding: String) async throws {
        _ = try await service().redeem(try transaction("garden.season"), for: alice)
        try execute(
            damage.replacing(
                "substr(bytes, 1, length(bytes) - 4) || x'41414141'",
                with: "CAST(CAST(substr(bytes, 1, length(bytes) - 4) AS TEXT) || 'AAAA' AS BLOB)"))
        let report = try check()
        #expect(report.verified == 0)
        #expect(report.problems.count == 1)
        #expect(report.problems.first?.contains(finding) == true, "\(report.problems)")
    }

    @Test func `a stored proof moves with its purchase, and is erased with its user`() async throws {
        let service = try service(policy: .transfer(pauseSeconds: 0))
        let proof = try transaction("garden.basic.monthly")
        _ = try await service.redeem(proof, for: alice)
        #expect(try await service.redeem(proof, for: bob).outcome == .granted)
        #expect(try await service.ledger.write { try $0.erase(alice, by: .user, at: service.clock.now()) })
        #expect(try count("kept_proof") == 1)
        #expect(try counts() == [1, 0])
        #expect(try await service.ledger.write { try $0.erase(bob, by: .user, at: service.clock.now()) })
        #expect(try counts() == [0, 1])
    }
}
