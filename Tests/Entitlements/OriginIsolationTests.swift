import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// An origin is accepted for a user on every path, or on none.
@Suite struct OriginIsolationTests {
    private let shop: TestShop
    private let chain: CertificateChain
    private let ledger: Ledger
    private let service: EntitlementService
    private let ordinary: [User]
    private let reviewer: User

    init() throws {
        shop = try TestShop()
        chain = try TestChains.ellipticCurve.get()
        ledger = try Ledger(file: shop.folder.file("ledger.sqlite"))
        ordinary = try ["alice", "bob"].map { try #require(User(name: $0)) }
        reviewer = try #require(User(name: "review"))
        service = EntitlementService(
            apps: Apps(App(shop.catalog)),
            verifier: ProofVerifier(anchors: try TestChains.anchors(chain), clock: shop.clock), ledger: ledger,
            clock: shop.clock, accepted: AcceptedOrigins([.localProduction], sandboxUsers: [reviewer]))
    }

    /// The events of a user in the audit log.
    private func events(of user: User) async throws -> [AuditEntry] {
        try await ledger.read { try $0.audit(of: user) }.map(\.entry)
    }

    private func transaction(_ changes: [String: JSONValue?]) throws -> [UInt8] {
        try TestProofs.transaction(TestProofs.transactionPayload(changing: changes), chain: chain)
    }

    private func token(of user: User) async throws -> JSONValue {
        .string(try await service.appAccountToken(of: user).uuidString.lowercased())
    }

    @Test(arguments: ["notification", "statement"])
    func `a sandbox purchase under an ordinary user's token grants nothing`(path: String) async throws {
        let alice = ordinary[0]
        let payload = TestProofs.transactionPayload(changing: ["appAccountToken": try await token(of: alice)])
        let outcome: NotificationOutcome
        if path == "notification" {
            let notification = try TestProofs.notification(
                "ONE_TIME_CHARGE", uuid: "1", about: payload, with: chain.leaf.key, chain: chain.certificates)
            outcome = try await service.receive(notification: Array(notification.utf8))
        } else {
            outcome = try await service.receive(statement: try TestProofs.transaction(payload, chain: chain))
        }
        #expect(outcome == .recorded)
        #expect(try await events(of: alice) == [])
        #expect(try await service.transactions(of: alice, before: nil, limit: 10).isEmpty)
        #expect(try await ledger.read { try $0.items(of: alice, at: shop.clock.now()) } == [])
        // The same proof is refused on the direct path, and stays valid for a reviewer without that token.
        await #expect(throws: RedemptionError.self) {
            try await service.redeem(try TestProofs.transaction(payload, chain: chain), for: alice)
        }
    }

    @Test func `a reviewer's sandbox purchase is granted by a notification`() async throws {
        let payload = TestProofs.transactionPayload(changing: ["appAccountToken": try await token(of: reviewer)])
        let notification = try TestProofs.notification(
            "ONE_TIME_CHARGE", uuid: "1", about: payload, with: chain.leaf.key, chain: chain.certificates)
        #expect(try await service.receive(notification: Array(notification.utf8)) == .granted)
        #expect(try await events(of: reviewer).map(\.event) == [.granted])
    }

    @Test func `proofs of LocalTesting are refused, whatever the accepted origins are`() async throws {
        let garden = try TestGarden(environment: .localTesting)
        let service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock, accepted: AcceptedOrigins(Set(Origin.allCases)))
        let bought = try garden.buy("garden.gate")
        let proof = Array(try garden.store.signedTransaction(bought.identifier).utf8)
        let refused = await #expect(throws: RedemptionError.self) {
            try await service.redeem(proof, for: ordinary[0])
        }
        #expect(refused?.code == "originNotAccepted")
        let notification = Array(try #require(try garden.store.notifications().first).signedPayload.utf8)
        let ignored = await #expect(throws: RedemptionError.self) {
            try await service.receive(notification: notification)
        }
        #expect(ignored?.code == "originNotAccepted")
        #expect(try await events(of: ordinary[0]) == [])
    }

    /// Proofs of both environments, with and without tokens, on every path in every order. An ordinary user never gets an item
    /// from a sandbox.
    @Test(arguments: 0..<60) func `no path mixes origins`(seed: UInt64) async throws {
        let chance = Randomness.seeded(seed)
        let dice = { (sides: Int) in Int(chance.bytes(1)[0]) % sides }
        let users = ordinary + [reviewer]
        let tokens = try ledger.writeNow { transaction in
            try users.map {
                JSONValue.string(
                    try transaction.makeAppAccountToken(of: $0, at: shop.clock.now()).uuidString.lowercased())
            }
        }
        for step in 0..<25 {
            let environment = ["Sandbox", "Production"][dice(2)]
            let original = "\(environment)-\(dice(3))"
            let named = dice(4)
            let signedAt = TestProofs.signedAt.millisecondsSince1970 + Int64(dice(50))
            let revocation: JSONValue? = dice(4) == 0 ? .integer(TestProofs.signedAt.millisecondsSince1970) : nil
            let payload = TestProofs.transactionPayload(
                transactionId: "\(original)-\(dice(2))",
                changing: [
                    "originalTransactionId": .string(original), "environment": .string(environment),
                    "signedDate": .integer(signedAt), "revocationDate": revocation,
                    "appAccountToken": named < tokens.count ? tokens[named] : nil,
                ])
            let proof = try TestProofs.transaction(payload, chain: chain)
            switch dice(3) {
            case 0: _ = try? await service.redeem(proof, for: users[dice(3)])
            case 1: _ = try await service.receive(statement: proof)
            default:
                var data: JSONObject = [
                    "bundleId": .string(TestProofs.bundleIdentifier), "environment": .string(environment),
                ]
                _ = data.add("signedTransactionInfo", .string(String(decoding: proof, as: UTF8.self)))
                let notification = try SignedJSON.sign(
                    .object([
                        "notificationType": "ONE_TIME_CHARGE", "notificationUUID": .string("\(step)"),
                        "data": .object(data), "version": "2.0", "signedDate": .integer(signedAt),
                    ]), with: chain.leaf.key, chain: chain.certificates)
                _ = try await service.receive(notification: Array(notification.utf8))
            }
        }
        for user in ordinary {
            #expect(try await events(of: user).allSatisfy { $0.origin != .localSandbox || $0.event == .refused })
            #expect(
                try await service.transactions(of: user, before: nil, limit: 100).allSatisfy {
                    $0.origin != .localSandbox
                })
            #expect(
                try await ledger.read { try $0.items(of: user, accepting: [.localSandbox], at: shop.clock.now()) } == []
            )
        }
    }
}
