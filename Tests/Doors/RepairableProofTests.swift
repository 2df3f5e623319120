import Entitlements
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Authentic proofs that Till cannot use yet. An SDK finishes its transaction after an answer below 500, and the App Store
/// never delivers it again.
@Suite struct RepairableProofTests {
    private static let gate = "garden.gate"

    private let jws: CertificateChain
    private let rsa: CertificateChain
    /// Chains whose leaf had expired when it signed, as Apple's had in February 2023.
    private let expired: (jws: CertificateChain, rsa: CertificateChain)
    private let door: DoorGarden

    init() async throws {
        jws = try TestChains.ellipticCurve.get()
        rsa = try TestChains.rsa.get()
        let adjust = { (template: inout CertificateTemplate) in
            if template.role == .leaf { template.notAfter = TestProofs.signedAt.secondsSince1970 - 1 }
        }
        expired = (
            try TestChains.make(name: "Expired", adjust: adjust),
            try TestChains.make(.rsa, name: "Expired", adjust: adjust)
        )
        door = try await DoorGarden(trusting: [jws, rsa, expired.jws, expired.rsa])
    }

    private func transaction(
        _ changes: [String: JSONValue?] = [:],
        product: String = gate,
        chain: CertificateChain? = nil
    ) throws -> String {
        let payload = TestProofs.transactionPayload(
            productId: product,
            changing: changes.merging(["bundleId": .string(TestGarden.bundleIdentifier)]) { given, _ in given })
        return String(decoding: try TestProofs.transaction(payload, chain: chain ?? jws), as: UTF8.self)
    }

    private func receipt(
        _ purchases: [InAppPurchase],
        chain: CertificateChain? = nil,
        adjust: (inout AppReceipt) -> Void = { _ in }
    ) throws -> String {
        var receipt = TestProofs.receipt(purchases)
        receipt.bundleIdentifier = TestGarden.bundleIdentifier
        adjust(&receipt)
        return Base64.encode(try TestProofs.signed(receipt, chain: chain ?? rsa))
    }

    private func purchase(_ product: String, _ type: ProductType?, id: Int = 1) -> InAppPurchase {
        var purchase = TestProofs.purchase(transactionIdentifier: "20000000\(id)", productIdentifier: product)
        purchase.productType = type
        if type == .autoRenewableSubscription { purchase.expiresDate = TestProofs.signedAt.adding(days: 30) }
        return purchase
    }

    private func revenueCat(_ proof: String, product: String = gate) async throws -> Int {
        try await door.redeem(proof, of: "alice", product: product).status
    }

    private func cordova(_ proof: String) async throws -> DoorGarden.Answer {
        let kind: CordovaRequest.Kind = proof.hasPrefix("eyJ") ? .signedTransaction : .appReceipt
        return try await door.send(
            .post, CordovaMiddleware.path, CordovaLifeTests.body(proof, kind: kind, username: "alice"))
    }

    private func iapKit(_ proof: String) async throws -> Int {
        try await door.send(
            .post, "/v1/purchase/verify", .object(["store": "apple", "jws": .string(proof)])
        ).status
    }

    @Test func `a refusal that time, the operator or a new version can end is temporary at every door`() async throws {
        let future = JSONValue.integer(door.garden.clock.now().adding(days: 1).millisecondsSince1970)
        let large = Array(repeating: purchase(Self.gate, .nonConsumable), count: AppReceipt.maximumPurchases + 1)
        let proofs: [(String, String)] = [
            ("expired chain", try transaction(chain: expired.jws)),
            ("expired chain", try receipt([purchase(Self.gate, .nonConsumable)], chain: expired.rsa)),
            ("date in the future", try transaction(["signedDate": future])),
            ("unreadable revocation", try transaction(["revocationDate": "yesterday"])),
            ("unreadable end", try transaction(["type": "Auto-Renewable Subscription", "expiresDate": "tomorrow"])),
            ("unreadable purchase date", try transaction(["purchaseDate": "today"])),
            ("unknown environment", try transaction(["environment": "Moon"])),
            ("origin that is not accepted", try transaction(["environment": "Xcode"])),
            ("another app", try transaction(["bundleId": "com.example.other"])),
            ("too many purchases", try receipt(large)),
            ("unknown receipt type", try receipt([purchase(Self.gate, nil)]) { $0.receiptType = "ProductionMoon" }),
        ]
        for (name, proof) in proofs {
            #expect(try await revenueCat(proof) >= 500, "\(name)")
            let verdict = try await cordova(proof)
            #expect(verdict.status == 503 && verdict["ok"] == .bool(false), "\(name)")
            if proof.hasPrefix("eyJ") { #expect(try await iapKit(proof) == 503, "\(name)") }
        }
        let unknown = try transaction(product: "garden.later")
        #expect(try await revenueCat(unknown) >= 500)
        #expect(try await cordova(unknown).status == 503)
        #expect(try await door.entitlements.ownItems(of: try #require(CustomerIdentifier("alice")).user) == [])
    }

    @Test func `an authentic proof in an unusual form is granted at every door`() async throws {
        let proofs = try [
            transaction(["webOrderLineItemId": .integer(123456), "appAccountToken": ""]),
            transaction(["price": "free", "currency": .null, "storefront": .array([]), "offerType": .bool(false)]),
            receipt([purchase(Self.gate, .nonConsumable)]) {
                $0.otherAttributes = [ReceiptAttribute(type: 10, value: [0x16, 1, 0xE9])]
            },
        ]
        for proof in proofs {
            #expect(try await revenueCat(proof) == 200)
            #expect(try await cordova(proof)["ok"] == .bool(true))
            if proof.hasPrefix("eyJ") { #expect(try await iapKit(proof) == 200) }
        }
    }

    @Test(arguments: [ProductType.nonConsumable, .autoRenewableSubscription, .nonRenewingSubscription])
    func `a product that left the catalog does not hold up the others`(type: ProductType) async throws {
        let proof = try receipt([
            purchase("garden.old", type), purchase(Self.gate, .nonConsumable, id: 2),
            purchase("garden.basic.monthly", .autoRenewableSubscription, id: 3),
        ])
        let alice = try #require(CustomerIdentifier("alice")).user
        let redemption = try await door.entitlements.redeem(Array(proof.utf8), for: alice)
        // The signed set of purchases has no order.
        let results = Dictionary(redemption.transactions.map { ($0.productId, $0.result) }) { first, _ in first }
        #expect(
            results == ["garden.old": .productUnknown, Self.gate: .granted, "garden.basic.monthly": .granted])
        #expect(try await revenueCat(proof) == 200)
        #expect(try await revenueCat(proof, product: "garden.old") == 503)
        let verdict = try await cordova(proof)
        #expect(verdict.status == 200 && verdict["ok"] == .bool(true))
    }

    /// After a success, the plugin finishes every transaction of the receipt.
    @Test(arguments: [ProductType.consumable, nil])
    func `an unknown product that never comes again is not finished`(type: ProductType?) async throws {
        let proof = try receipt([purchase("garden.old", type), purchase(Self.gate, .nonConsumable, id: 2)])
        #expect(try await cordova(proof).status == 503)
        #expect(try await revenueCat(proof, product: "garden.old") == 503)
        // The rest is granted nevertheless.
        #expect(try await revenueCat(proof) == 200)
    }
}
