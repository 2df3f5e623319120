import Proofs
import TestSupport
import Testing

/// Handmade containers of app receipts, in Xcode's encoding and in forged ones.
@Suite struct ContainerForgeryTests {
    let rsa: CertificateChain
    let verifier: ProofVerifier

    init() throws {
        rsa = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(rsa), clock: ManualClock())
    }

    /// The parts of a container, with the function that assembles them.
    struct Parts {
        var content: [UInt8]
        var digests: [UInt8]
        var certificates: [UInt8]
        var signers: [[UInt8]]

        init(_ signed: [UInt8]) throws {
            var root = BERCursor(signed.indices)
            var info = try root.enter(BERTag.sequence, in: signed)
            _ = try info.next(in: signed)
            var tagged = try info.enter(BERTag.context0, in: signed)
            var fields = try tagged.enter(BERTag.sequence, in: signed)
            _ = try fields.integer(in: signed)
            digests = Array(signed[try fields.next(in: signed).encoded])
            var contentInfo = try fields.enter(BERTag.sequence, in: signed)
            _ = try contentInfo.next(in: signed)
            var octets = try contentInfo.enter(BERTag.context0, in: signed)
            content = Array(try octets.octets(in: signed))
            certificates = Array(signed[try fields.next(in: signed).content])
            signers = [Array(signed[try fields.next(in: signed).content])]
        }

        static let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        static let signedData: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]

        func container(
            octets: ([UInt8]) -> [UInt8] = { Parts.element(0x04, $0) },
            wrap: (UInt8, [UInt8]) -> [UInt8] = Parts.element
        ) -> [UInt8] {
            let contentInfo = wrap(0x30, Self.data + wrap(0xA0, octets(content)))
            let body =
                [0x02, 1, 1] + digests + contentInfo + wrap(0xA0, certificates)
                + Self.element(0x31, signers.flatMap(\.self))
            return wrap(0x30, Self.signedData + wrap(0xA0, wrap(0x30, body)))
        }

        static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            var length = [UInt8(truncatingIfNeeded: content.count)]
            if content.count >= 0x80 {
                length = [0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) }
            }
            return [tag] + length + content
        }

        static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, 0x80] + content + [0, 0]
        }
    }

    private func parts() throws -> Parts {
        try Parts(try TestProofs.signed(chain: rsa))
    }

    private func refusal(of proof: [UInt8]) -> ProofRefusal? {
        do {
            _ = try verifier.verify(proof, expecting: ProofExpectations())
            return nil
        } catch {
            return error
        }
    }

    @Test func `Xcode's encoding of the container is accepted`() throws {
        let parts = try parts()
        #expect(refusal(of: parts.container()) == nil)
        #expect(refusal(of: parts.container(wrap: Parts.indefinite)) == nil)
        // The content is split into pieces.
        let pieces: ([UInt8]) -> [UInt8] = { content in
            Parts.indefinite(
                0x24,
                Parts.element(0x04, Array(content.prefix(100))) + Parts.element(0x04, Array(content.dropFirst(100))))
        }
        #expect(refusal(of: parts.container(octets: pieces, wrap: Parts.indefinite)) == nil)
    }

    @Test func `a container with no signer or two signers is refused`() throws {
        var parts = try parts()
        parts.signers += parts.signers
        #expect(
            refusal(of: parts.container()) == ProofRefusal(.containerInvalid, "The container has more than one signer.")
        )
        parts.signers = []
        #expect(refusal(of: parts.container()) == ProofRefusal(.containerInvalid, "The container has no signer."))
    }

    @Test func `signed attributes are refused`() throws {
        var parts = try parts()
        let signer = parts.signers[0]
        var signers = BERCursor(signer.indices)
        var fields = try signers.enter(BERTag.sequence, in: signer)
        let before = try (0..<3).flatMap { _ in signer[try fields.next(in: signer).encoded] }
        let after = try (0..<2).flatMap { _ in signer[try fields.next(in: signer).encoded] }
        parts.signers = [Parts.element(0x30, before + Parts.element(0xA0, []) + after)]
        #expect(
            refusal(of: parts.container()) == ProofRefusal(.containerInvalid, "The container has signed attributes."))
    }

    @Test func `doubly wrapped content is refused`() throws {
        let parts = try parts()
        let twice: ([UInt8]) -> [UInt8] = { Parts.element(0x04, Parts.element(0x04, $0)) }
        #expect(refusal(of: parts.container(octets: twice))?.reason == .signatureInvalid)
        let nested: ([UInt8]) -> [UInt8] = { Parts.indefinite(0x24, Parts.indefinite(0x24, Parts.element(0x04, $0))) }
        #expect(refusal(of: parts.container(octets: nested))?.reason == .containerInvalid)
    }

    @Test func `bytes after the end are refused`() throws {
        let signed = try TestProofs.signed(chain: rsa)
        #expect(refusal(of: signed + [0])?.reason == .containerInvalid)
        #expect(refusal(of: signed + [0x30, 0])?.reason == .containerInvalid)
    }

    @Test func `truncation at every byte is refused`() throws {
        let signed = try TestProofs.signed(chain: rsa)
        for length in signed.indices { #expect(refusal(of: Array(signed.prefix(length))) != nil) }
    }

    @Test func `too many certificates are refused before they are parsed`() throws {
        var parts = try parts()
        parts.certificates = Array(repeating: [0x30, 0], count: SignedData.maximumCertificates + 1).flatMap(\.self)
        #expect(refusal(of: parts.container())?.reason == .tooManyCertificates)
        parts.certificates = []
        #expect(refusal(of: parts.container())?.reason == .signerCertificateMissing)
    }

    @Test func `a digest other than the announced one is not allowed`() throws {
        var parts = try parts()
        let sha1: [UInt8] = [0x06, 5, 0x2B, 0x0E, 3, 2, 0x1A]
        parts.digests = Parts.element(0x31, Parts.element(0x30, sha1 + [5, 0]))
        #expect(refusal(of: parts.container())?.reason == .algorithmNotAllowed)
        parts.digests = Parts.element(0x31, Parts.element(0x30, [0x06, 1, 0x2A]))
        #expect(refusal(of: parts.container())?.reason == .algorithmNotAllowed)
    }

    @Test func `a signature that names another hash is not allowed`() throws {
        var parts = try parts()
        // The change of the identifier's last part turns rsaEncryption or sha256WithRSAEncryption into
        // sha1WithRSAEncryption.
        let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
        let signer = parts.signers[0]
        let start = try #require(signer.indices.last { signer[$0...].starts(with: rsa) })
        parts.signers[0][start + rsa.count] = 5
        #expect(refusal(of: parts.container())?.reason == .algorithmNotAllowed)
    }

    @Test func `an algorithm with parameters is not allowed`() throws {
        var parts = try parts()
        let sha256: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]
        parts.digests = Parts.element(0x31, Parts.element(0x30, sha256 + [5, 1, 0]))
        #expect(refusal(of: parts.container())?.reason == .algorithmNotAllowed)
        parts.digests = Parts.element(0x31, Parts.element(0x30, sha256))
        #expect(refusal(of: parts.container()) == nil)
    }

    struct Payload: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let adjust: @Sendable (inout AppReceipt) throws -> Void

        init(_ description: String, _ adjust: @escaping @Sendable (inout AppReceipt) throws -> Void) {
            testDescription = description
            self.adjust = adjust
        }
    }

    static let invalidPayloads = [
        Payload("the bundle identifier twice") { $0.otherAttributes = [try .string(2, "com.example.other")] },
        Payload("a purchase's quantity twice") { $0.inAppPurchases[0].otherAttributes = [try .integer(1701, 2)] },
        Payload("no quantity") { $0.inAppPurchases[0].quantity = 0 },
        Payload("a negative quantity") { $0.inAppPurchases[0].quantity = -1 },
        Payload("a quantity beyond 32 bits") { $0.inAppPurchases[0].quantity = 1 << 31 },
        Payload("an environment as the receipt type") { $0.receiptType = "Sandbox" },
        Payload("an unknown receipt type") { $0.receiptType = "Productionx" },
    ]

    @Test(arguments: invalidPayloads)
    func `an invalid signed payload is refused`(payload: Payload) throws {
        var receipt = TestProofs.receipt()
        try payload.adjust(&receipt)
        #expect(refusal(of: try TestProofs.signed(receipt, chain: rsa))?.reason == .payloadInvalid)
    }

    @Test func `deep nesting is refused`() {
        for depth in [50, 500_000] {
            let nested = [UInt8](repeating: 0, count: 2 * depth).enumerated().map {
                $0.offset.isMultiple(of: 2) ? UInt8(0x30) : 0x80
            }
            #expect(refusal(of: nested)?.reason == .containerInvalid)
        }
    }

    @Test func `a length beyond the bytes is refused`() {
        for length: [UInt8] in [
            [0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xFF],
        ] {
            #expect(refusal(of: [0x30] + length + [0x02, 1, 1])?.reason == .containerInvalid)
        }
    }

    @Test func `a receipt is bound to its device`() throws {
        var receipt = TestProofs.receipt()
        receipt.deviceHash = try AppReceipt.deviceHash(
            identifier: [1, 2, 3, 4, 5, 6], opaqueValue: receipt.opaqueValue, bundleIdentifier: receipt.bundleIdentifier
        )
        let proof = try TestProofs.signed(receipt, chain: rsa)
        let right = ProofExpectations(deviceIdentifier: [1, 2, 3, 4, 5, 6])
        #expect(throws: Never.self) { try verifier.verify(proof, expecting: right) }
        #expect {
            try verifier.verify(proof, expecting: ProofExpectations(deviceIdentifier: [1, 2, 3, 4, 5, 7]))
        } throws: { error in
            (error as? ProofRefusal)?.reason == .deviceMismatch
        }
    }

    @Test func `more than the maximum number of purchases are refused`() throws {
        let receipt = TestProofs.receipt(
            Array(repeating: TestProofs.purchase(), count: AppReceipt.maximumPurchases + 1))
        #expect(refusal(of: try TestProofs.signed(receipt, chain: rsa))?.reason == .tooManyPurchases)
    }
}
