import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The verdict on proofs of the local store, each changed at one place.
@Suite struct ProofVerdictTests {
    let garden: TestGarden
    let ledger: Ledger
    let service: EntitlementService
    /// A trusted chain with which a test signs any payload.
    let chain: CertificateChain
    /// A trusted chain whose leaf lacks Apple's extension.
    let plain: CertificateChain

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        chain = try TestChains.ellipticCurve.get()
        plain = try TestChains.make(name: "Plain") { if $0.role == .leaf { $0.appleExtensions = [] } }
        let roots = garden.store.rootCertificates + [chain.root.certificate, plain.root.certificate]
        service = EntitlementService(
            apps: Apps(App(garden.catalog)),
            verifier: ProofVerifier(
                anchors: try TrustAnchors(roots.compactMap { try TrustAnchor($0) }), clock: garden.store.clock),
            ledger: ledger, clock: garden.store.clock)
    }

    private func transaction(_ product: String = "garden.gate") throws -> [UInt8] {
        Array(try garden.store.signedTransaction(try garden.buy(product).identifier).utf8)
    }

    private func receipt() throws -> [UInt8] {
        _ = try garden.buy("garden.season")
        return try #require(Base64.decode(Array(try garden.store.receipt(account: "alice").utf8)[...]))
    }

    /// A transaction of the garden, signed by the test.
    private func signed(
        changing changes: [String: JSONValue?] = [:],
        by chain: CertificateChain? = nil
    ) throws -> [UInt8] {
        let payload = TestProofs.transactionPayload(
            productId: "garden.gate",
            changing: ["bundleId": .string(TestGarden.bundleIdentifier)].merging(changes) { $1 })
        return try TestProofs.transaction(payload, chain: chain ?? self.chain)
    }

    private func expect(
        _ proof: [UInt8],
        toFailAt check: ProofVerdict.Check,
        _ code: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let verdict = service.inspect(proof).verdict
        #expect(verdict.failed == check, sourceLocation: location)
        #expect(verdict.failure?.code == code, sourceLocation: location)
        let order = ProofVerdict.Check.allCases
        guard let place = order.firstIndex(of: check) else { return }
        for earlier in order[..<place] { #expect(verdict[earlier] == .passed, sourceLocation: location) }
        for later in order[(place + 1)...] { #expect(verdict[later] == .notReached, sourceLocation: location) }
        #expect(verdict[check] == verdict.failure.map { .failed($0) }, sourceLocation: location)
    }

    /// The proof with another segment.
    private func replacing(_ index: Int, of proof: [UInt8], with other: [UInt8]) -> [UInt8] {
        var segments = proof.split(separator: UInt8(ascii: "."))
        segments[index] = other.split(separator: UInt8(ascii: "."))[index]
        return Array(segments.joined(separator: [UInt8(ascii: ".")]))
    }

    @Test func `every check passes for a proof of the local store`() throws {
        for proof in [try transaction(), try receipt()] {
            let inspected = service.inspect(proof)
            #expect(inspected.verdict.isAccepted)
            #expect(ProofVerdict.Check.allCases.allSatisfy { inspected.verdict[$0] == .passed })
            #expect(inspected.origin == .localSandbox)
            #expect(inspected.inspection.anchor?.realm == .local)
        }
    }

    @Test func `a notification, renewal information and an app transaction are accepted without a product`() throws {
        _ = try garden.buy("garden.basic.monthly")
        let notification = Array(try #require(try garden.store.notifications().last).signedPayload.utf8)
        let inspected = service.inspect(notification)
        #expect(inspected.verdict.isAccepted)
        #expect(inspected.inspection.kind == .notification)
        let appTransaction = service.inspect(
            Array(try garden.store.read { try $0.signedAppTransaction(of: "alice") }.utf8))
        #expect(appTransaction.verdict.isAccepted)
        #expect(appTransaction.inspection.kind == .appTransaction)
        #expect(appTransaction.verdict[.product] == .notNeeded)
        guard case .fields(let fields)? = inspected.inspection.payload?["data"],
            case .proof(let renewal)? = fields.first(where: { $0.name == "signedRenewalInfo" })?.value
        else {
            Issue.record("the notification has no renewal information")
            return
        }
        #expect(renewal.kind == .renewalInfo)
    }

    @Test func `a transaction that was changed at one place fails the check of that place`() throws {
        let proof = try transaction()
        let segments = proof.split(separator: UInt8(ascii: "."))
        expect(
            [UInt8](repeating: UInt8(ascii: "A"), count: ProofVerifier.maximumTextSize + 1), toFailAt: .size,
            "tooLarge")
        expect(Array(proof.dropLast(segments[2].count + 1)), toFailAt: .encoding, "encodingInvalid")
        expect(proof + Array("!".utf8), toFailAt: .encoding, "encodingInvalid")
        let header = try #require(Base64.decode(segments[0], .urlSafe))
        let otherHeader = String(decoding: header, as: UTF8.self).replacing("\"ES256\"", with: "\"ES384\"")
        let renamed = Base64.encode(otherHeader.utf8, .urlSafe).utf8 + proof.dropFirst(segments[0].count)
        expect(Array(renamed), toFailAt: .container, "algorithmNotAllowed")
        let stranger = try TestChains.make(name: "Stranger")
        expect(
            replacing(0, of: proof, with: try signed(by: stranger)), toFailAt: .chain, "chainUntrusted")
        expect(try signed(by: stranger), toFailAt: .chain, "chainUntrusted")
        expect(try signed(by: plain), toFailAt: .extensions, "appleExtensionMissing")
        expect(
            replacing(1, of: proof, with: try transaction("garden.season")), toFailAt: .signature, "signatureInvalid")
        expect(
            replacing(2, of: proof, with: try transaction("garden.season")), toFailAt: .signature, "signatureInvalid")
        expect(try signed(changing: ["purchaseDate": "today"]), toFailAt: .payload, "payloadInvalid")
        let future = garden.store.clock.now().adding(days: 1).millisecondsSince1970
        expect(try signed(changing: ["signedDate": .integer(future)]), toFailAt: .payload, "signedInFuture")
        expect(
            try signed(changing: ["bundleId": "com.example.other"]), toFailAt: .appAndOrigin,
            "bundleIdentifierMismatch")
        expect(try signed(changing: ["productId": "garden.tree"]), toFailAt: .product, "productUnknown")
        #expect(service.inspect(try signed()).verdict.isAccepted)
    }

    @Test func `a receipt that was changed at one place fails the check of that place`() throws {
        let proof = try receipt()
        expect(Array(Base64.encode(proof).dropLast(3).utf8), toFailAt: .encoding, "encodingInvalid")
        expect(Array(proof.dropLast()), toFailAt: .container, "containerInvalid")
        expect(proof.dropLast() + [proof[proof.count - 1] ^ 1], toFailAt: .signature, "signatureInvalid")
        let strangers = try TestProofs.signed(chain: try TestChains.rsa.get())
        expect(strangers, toFailAt: .chain, "chainUntrusted")
    }

    @Test func `an origin that is not accepted fails the check of the app and the origin`() throws {
        let strict = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock, accepted: AcceptedOrigins([.appleProduction]))
        let verdict = strict.inspect(try transaction()).verdict
        #expect(verdict.failed == .appAndOrigin)
        #expect(verdict.failure?.code == "originNotAccepted")
    }

    @Test func `Xcode's certificate needs no extension`() throws {
        let key = try PrivateKey.generate(.p256)
        let certificate = try CertificateTemplate(
            role: .leaf, commonName: "StoreKit Testing in Xcode", organization: "Test", serialNumber: [1],
            notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound
        ).issue(for: key.publicKey, issuer: nil, signer: key, digest: .sha256)
        let xcode = EntitlementService(
            apps: Apps(App(garden.catalog)),
            verifier: ProofVerifier(
                anchors: try TrustAnchors([try #require(try TrustAnchor(certificate))]), clock: garden.store.clock),
            ledger: ledger, clock: garden.store.clock, accepted: AcceptedOrigins([.xcode]))
        let payload = TestProofs.transactionPayload(
            productId: "garden.gate",
            changing: ["bundleId": .string(TestGarden.bundleIdentifier), "environment": "Xcode"])
        let proof = try SignedJSON.sign(.object(payload), with: key, chain: [certificate])
        let inspected = xcode.inspect(Array(proof.utf8))
        #expect(inspected.verdict.isAccepted)
        #expect(inspected.verdict[.extensions] == .notNeeded)
        #expect(inspected.origin == .xcode)
    }

    @Test func `an inspection stores nothing`() async throws {
        func counts() throws -> [Int] {
            try ledger.readNow { transaction in
                try ["user", "audit", "refusal", "redeemed_transaction", "parked_transaction", "notification"].map {
                    try transaction.database.value("SELECT count(*) FROM \"\($0)\"", []) ?? 0
                }
            }
        }
        let before = try counts()
        _ = service.inspect(try transaction())
        _ = service.inspect(try signed(changing: ["bundleId": "com.example.other"]))
        _ = service.inspect(Array(try #require(try garden.store.notifications().last).signedPayload.utf8))
        #expect(try counts() == before)
    }
}
