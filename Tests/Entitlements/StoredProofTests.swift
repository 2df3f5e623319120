import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct StoredProofTests {
    let garden: TestGarden
    let ledger: Ledger
    let service: EntitlementService
    let alice: User

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock, keepsProofs: true)
        alice = try #require(User(name: "alice"))
    }

    @Test func `a kept proof of a user is found by its digest, in every form`() async throws {
        let transaction = Array(try garden.store.signedTransaction(try garden.buy("garden.gate").identifier).utf8)
        let bob = try #require(User(name: "bob"))
        _ = try await service.appAccountToken(of: bob)
        // A proof is kept with the transactions that it was the first to prove.
        _ = try garden.buy("garden.season")
        let receipt = Array(try garden.store.receipt(account: "alice").utf8)
        for (proof, bytes) in [(transaction, transaction), (receipt, try #require(Base64.decode(receipt)))] {
            _ = try await service.redeem(proof, for: alice)
            let digest = try service.verify(proof).digest
            let stored = try #require(try await service.ledger.read { try $0.storedProof(digest, of: alice) })
            #expect(stored.bytes == bytes)
            #expect(try await service.ledger.read { try $0.storedProof(digest, of: bob) } == nil)
            #expect(service.inspect(bytes).inspection.digest == digest)
        }
    }

    @Test func `a proof that was not kept, or was erased or damaged, is not found`() async throws {
        let proof = Array(try garden.store.signedTransaction(try garden.buy("garden.gate").identifier).utf8)
        let digest = try service.verify(proof).digest
        #expect(try await service.ledger.read { try $0.storedProof(digest, of: alice) } == nil)
        _ = try await service.redeem(proof, for: alice)
        #expect(try await service.ledger.read { try $0.storedProof(digest, of: alice) } != nil)
        #expect(
            try await service.ledger.read { try $0.storedProof([UInt8](repeating: 7, count: 32), of: alice) } == nil)
        try ledger.writeNow { try $0.database.write("DELETE FROM kept_certificate", []) }
        let damaged = try #require(try await service.ledger.read { try $0.storedProof(digest, of: alice) })
        #expect(damaged.bytes == nil)
        #expect(try await service.ledger.write { try $0.erase(alice, by: .user, at: service.clock.now()) })
        #expect(try await service.ledger.read { try $0.storedProof(digest, of: alice) } == nil)
    }
}
