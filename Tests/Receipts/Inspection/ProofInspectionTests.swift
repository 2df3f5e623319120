import Proofs
import TestSupport
import Testing

/// The decoding of broken and strange proofs.
@Suite struct ProofInspectionTests {
    let chain: CertificateChain
    let rsa: CertificateChain
    let verifier: ProofVerifier

    init() throws {
        chain = try TestChains.ellipticCurve.get()
        rsa = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(chain, rsa), clock: ManualClock())
    }

    /// A JWS of one's own segments.
    private func proof(_ segments: [String]) -> [UInt8] { Array(segments.joined(separator: ".").utf8) }

    private func segments(_ payload: JSONObject = TestProofs.transactionPayload()) throws -> [String] {
        String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self).split(separator: ".")
            .map(String.init)
    }

    @Test func `a transaction is decoded with its chain, dates and signature`() throws {
        let inspection = verifier.inspect(try TestProofs.transaction(chain: chain))
        #expect(inspection.kind == .transaction)
        #expect(inspection.defects.isEmpty)
        #expect(inspection.header?["alg"]?.text == "ES256")
        #expect(inspection.certificates.map { $0.certificate } == chain.certificates)
        #expect(inspection.certificates.map(\.isSigner) == [true, false, false])
        #expect(inspection.anchor?.certificate == chain.root.certificate)
        #expect(inspection.signature?.matchesSigner == true)
        #expect(inspection.payload?["signedDate"]?.date == TestProofs.signedAt)
        #expect(inspection.moment == TestProofs.signedAt)
    }

    @Test func `a receipt is decoded with the names of its attributes`() throws {
        let inspection = verifier.inspect(try TestProofs.signed(chain: rsa))
        #expect(inspection.kind == .appReceipt)
        #expect(inspection.defects.isEmpty)
        #expect(inspection.payload?["bundleId"]?.text == TestProofs.bundleIdentifier)
        #expect(inspection.payload?["receiptCreationDate"]?.date == TestProofs.signedAt)
        #expect(inspection.payload?["inAppPurchase"]?["transactionId"]?.text == "2000000000000001")
        #expect(inspection.header?["digestAlgorithm"]?.text == "SHA-256")
        #expect(inspection.certificates.first(where: \.isSigner)?.certificate == rsa.leaf.certificate)
        #expect(inspection.anchor?.certificate == rsa.root.certificate)
        #expect(inspection.signature?.matchesSigner == true)
        guard case .bytes(let opaque)? = inspection.payload?["opaqueValue"] else {
            Issue.record("the opaque value is not bytes")
            return
        }
        #expect(opaque == [1, 2, 3])
    }

    @Test func `a swapped payload is shown, and does not match the signature`() throws {
        let (one, other) = (try segments(), try segments(TestProofs.transactionPayload(transactionId: "2")))
        let inspection = verifier.inspect(proof([one[0], other[1], one[2]]))
        #expect(inspection.payload?["transactionId"]?.text == "2")
        #expect(inspection.anchor?.certificate == chain.root.certificate)
        #expect(inspection.signature?.matchesSigner == false)
    }

    @Test func `a proof with a wrong character is shown up to it`() throws {
        let parts = try segments()
        let payload = parts[1].prefix(100) + "!" + parts[1].dropFirst(101)
        let inspection = verifier.inspect(proof([parts[0], String(payload), parts[2]]))
        #expect(inspection.defects.first == .base64(.payload))
        #expect(inspection.payload?.text?.hasPrefix("{\"transactionId\"") == true)
        #expect(inspection.certificates.count == 3)
        #expect(inspection.digest == nil && inspection.signature?.matchesSigner == nil)
    }

    @Test func `a repeated key is shown as text`() throws {
        let parts = try segments()
        let payload = Base64.encode(#"{"transactionId":"1","transactionId":"2"}"#.utf8, .urlSafe)
        let inspection = verifier.inspect(proof([parts[0], payload, parts[2]]))
        guard case .json(.payload, let error)? = inspection.defects.first else {
            Issue.record("no defect in the JSON")
            return
        }
        #expect(error.reason == .duplicateKey("transactionId"))
        #expect(inspection.payload?.text?.contains("\"2\"") == true)
    }

    @Test func `a proof without its signature is shown`() throws {
        let parts = try segments()
        let inspection = verifier.inspect(proof(Array(parts.prefix(2))))
        #expect(inspection.defects == [.segmentCount(2)])
        #expect(inspection.kind == .transaction)
        #expect(inspection.signature == nil)
    }

    @Test func `a receipt that was cut off is shown up to its end`() throws {
        let whole = try TestProofs.signed(chain: rsa)
        let text = Array(Base64.encode(whole).utf8)
        for proof in [Array(whole.dropLast(100)), Array(text.dropLast(200))] {
            let inspection = verifier.inspect(proof)
            #expect(inspection.kind == .appReceipt)
            #expect(inspection.defects.contains(.structure(.proof)))
            #expect(inspection.payload?["inAppPurchase"]?["productId"]?.text == "com.memolease.sesac1.sprout1")
            #expect(inspection.certificates.contains { $0.certificate == rsa.leaf.certificate })
            #expect(inspection.digest == nil)
        }
        // The cut is inside the payload.
        let start = try #require(whole.firstRange(of: Array("2000000000000001".utf8))?.lowerBound)
        let short = verifier.inspect(Array(whole.prefix(start)))
        #expect(short.defects.contains(.structure(.payload)))
        #expect(short.payload?["bundleId"]?.text == TestProofs.bundleIdentifier)
    }

    @Test func `an expired chain still shows its anchor, and a stranger's has none`() throws {
        let expired = try TestChains.make {
            if $0.role == .leaf { $0.notAfter = TestProofs.signedAt.secondsSince1970 - 1 }
        }
        let trusting = ProofVerifier(anchors: try TestChains.anchors(expired), clock: ManualClock())
        let proof = try TestProofs.transaction(chain: expired)
        #expect(trusting.inspect(proof).anchor?.certificate == expired.root.certificate)
        let stranger = verifier.inspect(proof)
        #expect(stranger.anchor == nil)
        #expect(!stranger.certificates.contains { $0.isOnTrustedPath })
        #expect(stranger.signature?.matchesSigner == true)
    }

    @Test func `a proof inside a notification is decoded, up to a depth`() throws {
        func wrapped(_ inner: [UInt8]) throws -> [UInt8] {
            try TestProofs.transaction(
                [
                    "notificationType": "TEST", "notificationUUID": "u",
                    "data": .object(["signedTransactionInfo": .string(String(decoding: inner, as: UTF8.self))]),
                ], chain: chain)
        }
        var proof = try TestProofs.transaction(chain: chain)
        for _ in 0..<5 { proof = try wrapped(proof) }
        var inspection: ProofInspection? = verifier.inspect(proof)
        var depth = 0
        while let inner = inspection?.payload?["data"]?["signedTransactionInfo"] {
            #expect(inspection?.kind == .notification)
            inspection = inner.proof
            depth += 1
            if inspection == nil { #expect(inner.text != nil) }
        }
        #expect(depth == 4)
    }

    @Test func `the number of values is limited`() throws {
        let numbers = JSONValue.array((0..<20_000).map { .integer($0) })
        let inspection = verifier.inspect(
            try TestProofs.transaction(["transactionId": "1", "numbers": numbers], chain: chain))
        #expect(inspection.defects == [.tooManyValues])
        #expect((inspection.payload?.count ?? 0) < 10_010)
        guard case .list(let values)? = inspection.payload?["numbers"], case .omitted? = values.last else {
            Issue.record("nothing was left out")
            return
        }
    }

    @Test func `sets inside each other are not followed`() throws {
        func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) } + content
        }
        var value: [UInt8] = [0x05, 0x00]
        for _ in 0..<1000 { value = tagged(0x31, tagged(0x30, [2, 1, 17, 2, 1, 1] + tagged(0x04, value))) }
        let payload = value
        let proof = try SignedData.sign(payload, with: rsa.leaf.key, chain: rsa.certificates)
        let inspection = verifier.inspect(proof)
        #expect(inspection.kind == .appReceipt)
        #expect((inspection.payload?.count ?? 0) < 5)
    }

    @Test func `bytes that are no proof are said to be none`() {
        for bytes: [UInt8] in [[], Array("hello".utf8), [0xFF, 0x00], Array("AAAA".utf8)] {
            let inspection = verifier.inspect(bytes)
            #expect(inspection.kind == .unreadable)
            #expect(inspection.defects == [.encoding])
        }
        let large = verifier.inspect([UInt8](repeating: 0x30, count: ProofVerifier.maximumTextSize + 1))
        #expect(large.defects == [.tooLarge])
    }

    @Test func `any part of a proof and any damage can be inspected`() throws {
        let dice = Dice(seed: 24)
        for whole in [try TestProofs.transaction(chain: chain), try TestProofs.signed(chain: rsa)] {
            for length in stride(from: 0, to: whole.count, by: 11) {
                #expect(verifier.inspect(Array(whole.prefix(length))).size == length)
            }
            for index in stride(from: 0, to: whole.count, by: 7) {
                var damaged = whole
                damaged[index] = UInt8(dice.number(below: 256))
                #expect(verifier.inspect(damaged).size == whole.count)
            }
        }
    }
}
