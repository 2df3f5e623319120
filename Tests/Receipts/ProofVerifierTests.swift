import Proofs
import TestSupport
import Testing

@Suite struct ProofVerifierTests {
    let ellipticCurve: CertificateChain
    let rsa: CertificateChain
    let verifier: ProofVerifier

    init() throws {
        ellipticCurve = try TestChains.ellipticCurve.get()
        rsa = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve, rsa), clock: ManualClock())
    }

    private func refusal(
        of proof: [UInt8],
        expecting expectations: ProofExpectations = ProofExpectations()
    ) -> ProofRefusal.Reason? {
        do {
            _ = try verifier.verify(proof, expecting: expectations)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `an app receipt is verified and decoded`() throws {
        let receipt = TestProofs.receipt()
        let signed = try TestProofs.signed(receipt, chain: rsa)
        for proof in [signed, Array(Base64.encode(signed).utf8)] {
            let verified = try verifier.verify(proof, expecting: ProofExpectations())
            guard case .appReceipt(let read) = verified.content else {
                Issue.record("another kind of proof")
                return
            }
            #expect(read == receipt)
            #expect(verified.origin == .localSandbox)
            #expect(verified.bundleIdentifier == TestProofs.bundleIdentifier)
            #expect(verified.signedAt == TestProofs.signedAt)
            #expect(verified.digest == DigestAlgorithm.sha256.digest(of: try receipt.payload()))
            #expect(verified.purchases?.map(\.transactionIdentifier) == ["2000000000000001"])
        }
    }

    @Test func `a receipt without purchases is authentic`() throws {
        let proof = try TestProofs.signed(TestProofs.receipt([]), chain: rsa)
        #expect(try verifier.verify(proof, expecting: ProofExpectations()).purchases == [])
    }

    @Test func `a signed transaction is verified and decoded`() throws {
        let proof = try TestProofs.transaction(chain: ellipticCurve)
        let verified = try verifier.verify(proof, expecting: ProofExpectations())
        guard case .transaction(let transaction) = verified.content else {
            Issue.record("another kind of proof")
            return
        }
        #expect(transaction.productId == "com.memolease.sesac1.sprout1")
        #expect(transaction.quantity == 1)
        #expect(verified.origin == .localSandbox)
        let signedInput = proof[..<(try #require(proof.lastIndex(of: UInt8(ascii: "."))))]
        #expect(verified.digest == DigestAlgorithm.sha256.digest(of: signedInput))
    }

    @Test(arguments: [
        (
            "notification",
            #"{"notificationType":"TEST","notificationUUID":"u","version":"2.0","signedDate":1780000000000,"data":{"bundleId":"b","environment":"Sandbox"}}"#
        ),
        (
            "notification",
            #"{"notificationType":"X","notificationUUID":"u","signedDate":1780000000000,"externalPurchaseToken":{"externalPurchaseId":"SANDBOX_1"}}"#
        ),
        (
            "renewalInfo",
            #"{"originalTransactionId":"1","autoRenewStatus":1,"environment":"Sandbox","signedDate":1780000000000.75}"#
        ),
        ("appTransaction", #"{"receiptType":"Sandbox","bundleId":"b","receiptCreationDate":1780000000000}"#),
    ])
    func `the other kinds are detected from their fields`(kind: String, payload: String) throws {
        let value = try JSONParser.parse(Array(payload.utf8))
        let proof = try SignedJSON.sign(value, with: ellipticCurve.leaf.key, chain: ellipticCurve.certificates)
        let verified = try verifier.verify(Array(proof.utf8), expecting: ProofExpectations())
        switch (kind, verified.content) {
        case ("notification", .notification), ("renewalInfo", .renewalInfo), ("appTransaction", .appTransaction): break
        default: Issue.record("\(kind) was decoded as another kind")
        }
        #expect(verified.purchases == nil)
        #expect(verified.signedAt == TestProofs.signedAt)
    }

    @Test(arguments: [
        ("transactionId", JSONValue?.none), ("productId", nil), ("bundleId", nil), ("purchaseDate", nil),
        ("purchaseDate", "yesterday"), ("signedDate", .integer(Int64.min)), ("signedDate", .integer(Int64.max)),
        ("quantity", "1"), ("quantity", .integer(0)), ("environment", "Moon"),
        ("environment", nil), ("signedDate", nil), ("revocationDate", .bool(true)),
    ])
    func `a signed payload with a missing or wrong field is invalid`(field: String, value: JSONValue?) throws {
        let payload = TestProofs.transactionPayload(changing: [field: value])
        #expect(refusal(of: try TestProofs.transaction(payload, chain: ellipticCurve)) == .payloadInvalid)
    }

    @Test func `duplicate keys in a signed payload are refused`() throws {
        let text = #"{"bundleId":"a","bundleId":"b"}"#
        let header = try JSONParser.parse(
            Array(
                #"{"alg":"ES256","x5c":["\#(ellipticCurve.certificates.map { Base64.encode($0.der) }.joined(separator: "\",\""))"]}"#
                    .utf8))
        let input = [header.compactText, text].map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try ellipticCurve.leaf.key.signES256(Array(input.utf8))
        #expect(refusal(of: Array((input + "." + Base64.encode(signature, .urlSafe)).utf8)) == .payloadInvalid)
    }

    @Test func `a proof for another app, environment or origin is refused`() throws {
        for proof in [try TestProofs.transaction(chain: ellipticCurve), try TestProofs.signed(chain: rsa)] {
            #expect(
                refusal(of: proof, expecting: ProofExpectations(bundleIdentifier: "com.memolease.SESAC1"))
                    == .bundleIdentifierMismatch)
            #expect(refusal(of: proof, expecting: ProofExpectations(environment: .production)) == .environmentMismatch)
            #expect(refusal(of: proof, expecting: ProofExpectations(origins: [.appleSandbox])) == .originNotAccepted)
            let right = ProofExpectations(
                bundleIdentifier: TestProofs.bundleIdentifier, environment: .sandbox, origins: [.localSandbox])
            #expect(refusal(of: proof, expecting: right) == nil)
        }
    }

    @Test func `a local chain cannot sign for Xcode`() throws {
        let payload = TestProofs.transactionPayload(changing: ["environment": "Xcode"])
        let everything = ProofExpectations(origins: Set(Origin.allCases))
        #expect(
            refusal(of: try TestProofs.transaction(payload, chain: ellipticCurve), expecting: everything)
                == .originNotAccepted)
    }

    @Test func `a proof from the future is refused until its date`() throws {
        let clock = ManualClock(TestProofs.signedAt)
        let verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve), clock: clock)
        let later = TestProofs.signedAt.millisecondsSince1970 + 60_001
        let proof = try TestProofs.transaction(
            TestProofs.transactionPayload(changing: ["signedDate": .integer(later)]), chain: ellipticCurve)
        #expect { try verifier.verify(proof, expecting: ProofExpectations()) } throws: { error in
            (error as? ProofRefusal)?.reason == .signedInFuture
        }
        #expect(ProofRefusal.Reason.signedInFuture.couldSucceedLater)
        clock.advance(milliseconds: 1)
        #expect(throws: Never.self) { try verifier.verify(proof, expecting: ProofExpectations()) }
    }

    @Test func `a proof above the maximum size is not parsed`() {
        #expect(refusal(of: [UInt8](repeating: 0x30, count: ProofVerifier.maximumSize + 1)) == .tooLarge)
        #expect(refusal(of: [UInt8](repeating: 0x2E, count: ProofVerifier.maximumCompactSize + 1)) == .tooLarge)
        #expect(refusal(of: [UInt8](repeating: 0x41, count: ProofVerifier.maximumTextSize + 1)) == .tooLarge)
    }

    @Test(arguments: ["", "hello", "MII", "a.b", "a.b.c.d", "{}", "...", "\n"])
    func `other text is refused as a proof`(text: String) {
        #expect(refusal(of: Array(text.utf8)) == .encodingInvalid)
    }
}
