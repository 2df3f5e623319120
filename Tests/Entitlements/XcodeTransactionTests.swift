import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// StoreKit testing in Xcode, whose identifiers begin at 0 in each simulator and after each reset.
@Suite struct XcodeTransactionTests {
    private let garden: TestGarden
    private let ledger: Ledger
    private let service: EntitlementService
    private let macs: [(key: PrivateKey, certificate: Certificate)]
    private let (ann, ben): (User, User)

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        macs = try (0..<2).map { _ in
            let key = try PrivateKey.generate(.p256)
            let certificate = try CertificateTemplate(
                role: .leaf, commonName: "StoreKit Testing in Xcode", organization: "Test", serialNumber: [1],
                notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound
            ).issue(for: key.publicKey, issuer: nil, signer: key, digest: .sha256)
            return (key, certificate)
        }
        service = EntitlementService(
            apps: Apps(App(garden.catalog)),
            verifier: ProofVerifier(
                anchors: try TrustAnchors(macs.map { try #require(try TrustAnchor($0.certificate)) }),
                clock: garden.store.clock),
            ledger: ledger, clock: garden.store.clock, accepted: AcceptedOrigins([.xcode]))
        (ann, ben) = (try #require(User(name: "ann")), try #require(User(name: "ben")))
    }

    /// A signed transaction of a Mac.
    ///
    /// - Parameter seconds: The time of the purchase, after the default date of test proofs.
    private func proof(
        _ identifier: String,
        original: (identifier: String, seconds: Int64)? = nil,
        _ product: String,
        bought seconds: Int64,
        signed: Int64? = nil,
        mac: Int = 0
    ) throws -> [UInt8] {
        func date(_ seconds: Int64) -> JSONValue {
            .integer(TestProofs.signedAt.adding(seconds: seconds).millisecondsSince1970)
        }
        let payload = TestProofs.transactionPayload(
            transactionId: identifier, productId: product,
            changing: [
                "bundleId": .string(TestGarden.bundleIdentifier), "environment": "Xcode", "purchaseDate": date(seconds),
                "originalPurchaseDate": date(original?.seconds ?? seconds), "signedDate": date(signed ?? seconds),
                "originalTransactionId": .string(original?.identifier ?? identifier),
                "type": product == "garden.seeds" ? "Consumable" : "Non-Consumable",
            ])
        let (key, certificate) = macs[mac]
        return Array(try SignedJSON.sign(.object(payload), with: key, chain: [certificate]).utf8)
    }

    private func seeds(of user: User) async throws -> Int {
        try await service.balances(of: user).reduce(0) { $0 + $1.amount }
    }

    @Test func `a purchase under a restarted identifier is a new one`() async throws {
        for (identifier, product, seconds) in [
            ("0", "garden.seeds", 0), ("1", "garden.seeds", 1), ("0", "garden.seeds", 600), ("1", "garden.gate", 700),
        ] as [(String, String, Int64)] {
            let redemption = try await service.redeem(try proof(identifier, product, bought: seconds), for: ann)
            #expect(redemption.outcome == .granted)
            // The app knows only Xcode's identifier.
            #expect(redemption.transactions.map(\.transactionId) == [identifier])
        }
        #expect(try await seeds(of: ann) == 30)
        #expect(try await service.ownItems(of: ann) == [Item(collection: "gate", number: 1)])
    }

    @Test func `each simulator and each Mac has purchases of its own`() async throws {
        #expect(try await service.redeem(try proof("0", "garden.gate", bought: 0), for: ann).outcome == .granted)
        #expect(try await service.redeem(try proof("0", "garden.gate", bought: 5), for: ben).outcome == .granted)
        let other = try proof("0", "garden.seeds", bought: 0, mac: 1)
        #expect(try await service.redeem(other, for: ben).outcome == .granted)
        #expect(try await seeds(of: ben) == 10)
    }

    @Test func `the same purchase is granted once, however often it is signed`() async throws {
        for signed in [0, 1, 100] as [Int64] {
            let seeds = try proof("0", "garden.seeds", bought: 0, signed: signed)
            let outcome = try await service.redeem(seeds, for: ann).outcome
            #expect(outcome == (signed == 0 ? .granted : .unchanged))
            await #expect(throws: RedemptionError.purchaseRefused(.ownedByAnotherUser)) {
                try await service.redeem(seeds, for: ben)
            }
        }
        #expect(try await seeds(of: ann) == 10)
    }

    @Test func `a renewal belongs to its original transaction`() async throws {
        #expect(try await service.redeem(try proof("0", "garden.gate", bought: 0), for: ann).outcome == .granted)
        let renewal = try proof("1", original: ("0", 0), "garden.gate", bought: 60)
        #expect(try await service.redeem(renewal, for: ann).outcome == .granted)
        let originals = try await service.transactions(of: ann, before: nil, limit: 9).map(
            \.originalTransactionIdentifier)
        #expect(Set(originals).count == 1)
        await #expect(throws: RedemptionError.purchaseRefused(.ownedByAnotherUser)) {
            try await service.redeem(renewal, for: ben)
        }
    }

    @Test func `another product in the same second is a conflict, and is not finished`() async throws {
        #expect(try await service.redeem(try proof("0", "garden.seeds", bought: 0), for: ann).outcome == .granted)
        await #expect(throws: RedemptionError.purchaseRefused(.transactionConflict)) {
            try await service.redeem(try proof("0", "garden.gate", bought: 0, signed: 9), for: ann)
        }
    }

    @Test func `other origins keep the identifiers of their proofs`() throws {
        for origin in Origin.allCases where origin != .xcode {
            #expect(origin.statedIdentifier("0-1790000000-0123456789abcdef") == "0-1790000000-0123456789abcdef")
        }
        let stated = [
            "0-1790000000-0123456789abcdef": "0", "a-b-1790000000-0123456789abcdef": "a-b",
            "7--62135769600-0123456789abcdef": "7",
            "0": "0", "a-b-c": "a-b-c",
        ]
        for (identifier, expected) in stated { #expect(Origin.xcode.statedIdentifier(identifier) == expected) }
    }
}
