import Proofs
import TestSupport
import Testing

/// Proofs of an attacker or of a defective chain.
@Suite struct ForgeryTests {
    let ellipticCurve: CertificateChain
    let rsa: CertificateChain
    let verifier: ProofVerifier

    init() throws {
        ellipticCurve = try TestChains.ellipticCurve.get()
        rsa = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve, rsa), clock: ManualClock())
    }

    private func refusal(of proof: [UInt8], by verifier: ProofVerifier? = nil) -> ProofRefusal.Reason? {
        do {
            _ = try (verifier ?? self.verifier).verify(proof, expecting: ProofExpectations())
            return nil
        } catch {
            return error.reason
        }
    }

    /// Returns a transaction with any header, signed with any key.
    private func transaction(
        header: JSONObject,
        payload: JSONObject = TestProofs.transactionPayload(),
        key: PrivateKey
    ) throws -> [UInt8] {
        let input = [JSONValue.object(header), .object(payload)].map { Base64.encode($0.compactText.utf8, .urlSafe) }
            .joined(separator: ".")
        return Array((input + "." + Base64.encode(try key.signES256(Array(input.utf8)), .urlSafe)).utf8)
    }

    private func x5c(_ certificates: [Certificate]) -> JSONValue {
        .array(certificates.map { .string(Base64.encode($0.der)) })
    }

    @Test func `one flipped bit anywhere in a transaction is refused`() throws {
        let proof = try TestProofs.transaction(chain: ellipticCurve)
        for index in proof.indices {
            var flipped = proof
            flipped[index] ^= 1
            #expect(refusal(of: flipped) != nil, "byte \(index)")
        }
    }

    @Test func `one flipped bit anywhere in a receipt is refused`() throws {
        let proof = try TestProofs.signed(chain: rsa)
        // Nothing reads the enclosed root.
        let root = rsa.root.certificate.der
        let rootStart = try #require(proof.indices.first { proof[$0...].starts(with: root) })
        let unread = Set(rootStart..<rootStart + root.count)
        var accepted: [Int] = []
        for index in proof.indices where !unread.contains(index) {
            var flipped = proof
            flipped[index] ^= 1
            if refusal(of: flipped) == nil { accepted.append(index) }
        }
        #expect(accepted == [])
    }

    @Test(arguments: [
        "none", "HS256", "ES384", "es256", "RS256", "",
    ])
    func `another algorithm in the header is not allowed`(algorithm: String) throws {
        let header: JSONObject = ["alg": .string(algorithm), "x5c": x5c(ellipticCurve.certificates)]
        #expect(refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == .algorithmNotAllowed)
    }

    @Test func `the header parameters crit and b64 are refused`() throws {
        for extra in ["crit", "b64"] {
            var header: JSONObject = ["alg": "ES256", "x5c": x5c(ellipticCurve.certificates)]
            _ = header.add(extra, .bool(false))
            #expect(refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == .containerInvalid)
        }
    }

    @Test func `an invalid certificate is refused as the signer's`() throws {
        let leaf = JSONValue.string(Base64.encode(ellipticCurve.leaf.certificate.der))
        for value: JSONValue in [
            .array([]), .array([.integer(1)]), .array(["AAAA"]), "AAAA", .null, .array([leaf, "AAAA", leaf]),
        ] {
            let header: JSONObject = ["alg": "ES256", "x5c": value]
            #expect(
                refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == .signerCertificateMissing)
        }
        #expect(
            refusal(of: try transaction(header: ["alg": "ES256"], key: ellipticCurve.leaf.key))
                == .signerCertificateMissing)
    }

    @Test func `a chain of another length or order is refused`() throws {
        let certificates = ellipticCurve.certificates
        for (chain, expected): ([Certificate], ProofRefusal.Reason) in [
            (Array(certificates.prefix(2)), .chainShape), (certificates + [certificates[2]], .chainShape),
            ([certificates[0]], .chainUntrusted),
            ([certificates[0], certificates[2], certificates[1]], .chainUntrusted),
            (certificates.reversed(), .chainShape),
        ] {
            let header: JSONObject = ["alg": "ES256", "x5c": x5c(chain)]
            #expect(refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == expected)
        }
    }

    @Test func `the last certificate of a JWS is ignored`() throws {
        let header: JSONObject = [
            "alg": "ES256", "x5c": x5c(Array(ellipticCurve.certificates.prefix(2)) + [rsa.root.certificate]),
        ]
        #expect(refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == nil)
    }

    @Test func `a root in the message is never an anchor`() throws {
        let stranger = try TestChains.make(name: "Test")
        #expect(refusal(of: try TestProofs.transaction(chain: stranger)) == .chainUntrusted)
    }

    @Test func `a signature by another key or over other bytes is invalid`() throws {
        let header: JSONObject = ["alg": "ES256", "x5c": x5c(ellipticCurve.certificates)]
        #expect(refusal(of: try transaction(header: header, key: try PrivateKey.generate(.p256))) == .signatureInvalid)
        let one = try TestProofs.transaction(chain: ellipticCurve).split(separator: UInt8(ascii: "."))
        let other = try TestProofs.transaction(
            TestProofs.transactionPayload(transactionId: "2"), chain: ellipticCurve
        ).split(separator: UInt8(ascii: "."))
        let swapped = [one[0], other[1], one[2]].joined(separator: [UInt8(ascii: ".")])
        #expect(refusal(of: Array(swapped)) == .signatureInvalid)
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: ProofRefusal.Reason
        let adjust: @Sendable (inout CertificateTemplate) -> Void

        var testDescription: String { name }
    }

    static let flaws = [
        Flaw(name: "leaf without Apple's extension", expected: .appleExtensionMissing) {
            if $0.role == .leaf { $0.appleExtensions = [] }
        },
        Flaw(name: "leaf with the intermediate's extension", expected: .appleExtensionMissing) {
            if $0.role == .leaf { $0.appleExtensions = [.worldwideDeveloperRelations] }
        },
        Flaw(name: "intermediate without Apple's extension", expected: .appleExtensionMissing) {
            if $0.role == .intermediate { $0.appleExtensions = [] }
        },
        Flaw(name: "leaf expired when it signed", expected: .chainOutsideValidity) {
            if $0.role == .leaf { $0.notAfter = TestProofs.signedAt.secondsSince1970 - 1 }
        },
        Flaw(name: "leaf not valid yet when it signed", expected: .chainOutsideValidity) {
            if $0.role == .leaf { $0.notBefore = TestProofs.signedAt.secondsSince1970 + 1 }
        },
        Flaw(name: "intermediate that is no authority", expected: .chainUntrusted) {
            if $0.role == .intermediate { $0.role = .leaf }
        },
        Flaw(name: "leaf that is an authority", expected: .chainShape) {
            if $0.role == .leaf { $0.role = .intermediate }
        },
    ]

    @Test(arguments: flaws)
    func `a flaw in the chain is found`(flaw: Flaw) throws {
        let chain = try TestChains.make(adjust: flaw.adjust)
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        #expect(refusal(of: try TestProofs.transaction(chain: chain), by: verifier) == flaw.expected)
    }

    /// A leaf below the chain's intermediate.
    ///
    /// - Parameter signer: Another signer than the intermediate's key.
    private func anotherLeaf(
        below chain: CertificateChain, signedBy signer: PrivateKey? = nil,
        adjust: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> CertificateChain {
        var template = CertificateTemplate(
            role: .leaf, commonName: "Another", organization: "Till", serialNumber: [2],
            notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound,
            appleExtensions: [.receiptSigning])
        adjust(&template)
        let isRSA = chain.leaf.key.publicKey.kind == .rsa(bits: 2048)
        let key = try isRSA ? PrivateKey.generateRSA() : PrivateKey.generate(.p256)
        let certificate = try template.issue(
            for: key.publicKey, issuer: chain.intermediate.certificate, signer: signer ?? chain.intermediate.key,
            digest: isRSA ? .sha256 : .sha384)
        return CertificateChain(
            root: chain.root, intermediate: chain.intermediate, leaf: .init(certificate: certificate, key: key))
    }

    /// The refusals of a verifier that knows the chain's intermediate, and of one that does not.
    private func refusals(
        of proof: [UInt8], after known: CertificateChain
    ) throws -> (known: ProofRefusal?, unknown: ProofRefusal?) {
        let anchors = try TestChains.anchors(known)
        func refusal(by verifier: ProofVerifier) -> ProofRefusal? {
            do throws(ProofRefusal) { _ = try verifier.verify(proof, expecting: .init()) } catch { return error }
            return nil
        }
        let verifier = ProofVerifier(anchors: anchors, clock: ManualClock())
        let isRSA = known.leaf.key.publicKey.kind == .rsa(bits: 2048)
        _ = try verifier.verify(
            isRSA ? TestProofs.signed(chain: known) : TestProofs.transaction(chain: known), expecting: .init())
        let result = (refusal(by: verifier), refusal(by: ProofVerifier(anchors: anchors, clock: ManualClock())))
        #expect(verifier.cachedChainCount == (result.0 == nil ? 2 : 1))
        return result
    }

    @Test func `a leaf below a known intermediate has the verdict of one below an unknown`() throws {
        let chain = try TestChains.make()
        let leaf = try anotherLeaf(below: chain)
        #expect(try refusals(of: TestProofs.transaction(chain: leaf), after: chain) == (nil, nil))
        for flaw in Self.flaws where !flaw.name.hasPrefix("intermediate") {
            let leaf = try anotherLeaf(below: chain, adjust: flaw.adjust)
            let (known, unknown) = try refusals(of: TestProofs.transaction(chain: leaf), after: chain)
            #expect(known?.reason == flaw.expected && known == unknown, "\(flaw.name)")
        }
        let stranger = try anotherLeaf(below: chain, signedBy: PrivateKey.generate(.p384))
        let (known, unknown) = try refusals(of: TestProofs.transaction(chain: stranger), after: chain)
        #expect(known?.reason == .chainUntrusted && known == unknown)
        let receipts = try TestChains.make(.rsa)
        let other = try anotherLeaf(below: receipts)
        #expect(try refusals(of: TestProofs.signed(chain: other), after: receipts) == (nil, nil))
        let forged = try anotherLeaf(below: receipts, signedBy: other.leaf.key)
        #expect(try refusals(of: TestProofs.signed(chain: forged), after: receipts).known?.reason == .chainUntrusted)
    }

    @Test(arguments: [CertificateTemplate.Role.root, .intermediate])
    func `a leaf below a known intermediate is refused where the path is not valid`(
        role: CertificateTemplate.Role
    ) throws {
        let chain = try TestChains.make {
            if $0.role == role { $0.notAfter = TestProofs.signedAt.secondsSince1970 + 1 }
        }
        let leaf = try anotherLeaf(below: chain)
        for (seconds, expected): (Int64, ProofRefusal.Reason?) in [(0, nil), (1, .chainOutsideValidity)] {
            let date = TestProofs.signedAt.millisecondsSince1970 + seconds * 1000
            let payload = TestProofs.transactionPayload(changing: ["signedDate": .integer(date)])
            let (known, unknown) = try refusals(of: TestProofs.transaction(payload, chain: leaf), after: chain)
            #expect(known?.reason == expected && known == unknown)
        }
    }

    @Test func `a leaf that has expired since its signature is valid`() throws {
        let clock = ManualClock(Timestamp(secondsSince1970: TestChains.validity.upperBound + 1))
        let verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve, rsa), clock: clock)
        #expect(refusal(of: try TestProofs.transaction(chain: ellipticCurve), by: verifier) == nil)
        #expect(refusal(of: try TestProofs.signed(chain: rsa), by: verifier) == nil)
    }

    /// Returns a certificate like Xcode's. It is self-signed, and its name identifies Xcode.
    private func xcode(
        name: String = "StoreKit Testing in Xcode",
        validity: ClosedRange<Int64> = TestChains.validity
    ) throws -> (key: PrivateKey, certificate: Certificate) {
        let key = try PrivateKey.generate(.p256)
        let template = CertificateTemplate(
            role: .leaf, commonName: name, organization: "Test", serialNumber: [1],
            notBefore: validity.lowerBound, notAfter: validity.upperBound)
        return (key, try template.issue(for: key.publicKey, issuer: nil, signer: key, digest: .sha256))
    }

    @Test func `Xcode's proofs are verified with its own certificate and only for its environment`() throws {
        let (key, certificate) = try xcode()
        let anchor = try #require(try TrustAnchor(certificate))
        #expect(anchor.realm == .xcode)
        let verifier = ProofVerifier(anchors: try TrustAnchors([anchor]), clock: ManualClock())
        let header: JSONObject = ["alg": "ES256", "kid": "Apple_Xcode_Key", "typ": "JWT", "x5c": x5c([certificate])]
        let payload = TestProofs.transactionPayload(changing: ["environment": "Xcode"])
        let proof = try transaction(header: header, payload: payload, key: key)
        let everything = ProofExpectations(origins: Set(Origin.allCases))
        #expect(try verifier.verify(proof, expecting: everything).origin == .xcode)
        // Another Xcode signed the first proof. The second claims to be from the App Store.
        let stranger = try xcode()
        let strange = try transaction(
            header: ["alg": "ES256", "x5c": x5c([stranger.certificate])], payload: payload, key: stranger.key)
        #expect(refusal(of: strange, by: verifier) == .chainUntrusted)
        #expect(refusal(of: try transaction(header: header, key: key), by: verifier) == .originNotAccepted)
        // A trusted root of another realm cannot sign directly.
        let local = try xcode(name: "Somebody")
        let localVerifier = ProofVerifier(
            anchors: try TrustAnchors([try #require(try TrustAnchor(local.certificate))]), clock: ManualClock())
        let alone = try transaction(header: ["alg": "ES256", "x5c": x5c([local.certificate])], key: local.key)
        #expect(refusal(of: alone, by: localVerifier) == .chainShape)
    }

    /// Each Mac has a certificate of Xcode with the same name and serial number, renewed each year.
    @Test func `a proof is verified with its own root among several of the same name`() throws {
        let macs = try [
            xcode(), xcode(),
            xcode(validity: TestChains.validity.lowerBound...TestProofs.signedAt.secondsSince1970 - 1),
        ]
        let chains = try [TestChains.make(), TestChains.make(), TestChains.make()]
        let receipts = try [TestChains.make(.rsa), TestChains.make(.rsa)]
        let roots = macs.map(\.certificate) + (chains + receipts).map(\.root.certificate)
        func proof(of mac: (key: PrivateKey, certificate: Certificate), signedAt: Timestamp) throws -> [UInt8] {
            try transaction(
                header: ["alg": "ES256", "x5c": x5c([mac.certificate])],
                payload: TestProofs.transactionPayload(changing: [
                    "environment": "Xcode", "signedDate": .integer(signedAt.millisecondsSince1970),
                ]), key: mac.key)
        }
        let everything = ProofExpectations(origins: Set(Origin.allCases))
        for order in [roots, roots.reversed()] {
            let verifier = ProofVerifier(
                anchors: try TrustAnchors(order.compactMap { try TrustAnchor($0) }), clock: ManualClock())
            for (mac, days) in zip(macs, [0, 0, -2] as [Int64]) {
                let proof = try proof(of: mac, signedAt: TestProofs.signedAt.adding(days: days))
                #expect(
                    try verifier.verify(proof, expecting: everything).fingerprints.anchor == mac.certificate.fingerprint
                )
            }
            let late = try proof(of: macs[2], signedAt: TestProofs.signedAt)
            #expect(throws: ProofRefusal(.chainOutsideValidity)) { try verifier.verify(late, expecting: everything) }
            for chain in chains {
                let verified = try verifier.verify(try TestProofs.transaction(chain: chain), expecting: everything)
                #expect(verified.fingerprints.anchor == chain.root.certificate.fingerprint)
            }
            for chain in receipts {
                let verified = try verifier.verify(try TestProofs.signed(chain: chain), expecting: everything)
                #expect(verified.fingerprints.anchor == chain.root.certificate.fingerprint)
            }
        }
    }

    @Test func `a refusal advises to add a root only if it is not there`() throws {
        func detail(_ proof: [UInt8], trusting roots: [Certificate]) throws -> String? {
            let verifier = ProofVerifier(
                anchors: try TrustAnchors(roots.compactMap { try TrustAnchor($0) }), clock: ManualClock())
            do {
                _ = try verifier.verify(proof, expecting: ProofExpectations(origins: Set(Origin.allCases)))
                return nil
            } catch {
                #expect(error.reason == .chainUntrusted)
                return error.detail
            }
        }
        let stranger = try TestChains.make(name: "Stranger")
        let advice = "If `till trust list` does not show their root, add it."
        let own = try TestProofs.transaction(chain: ellipticCurve)
        #expect(try detail(own, trusting: [stranger.root.certificate]) == advice)
        #expect(try detail(own, trusting: []) == advice)
        // The root is there, but another authority of its name has issued the intermediate.
        let namesake = try TestChains.make()
        #expect(
            try detail(own, trusting: [namesake.root.certificate])
                == "A trusted root has the name of their issuer, but has not signed them.")
        let mixed = try transaction(
            header: [
                "alg": "ES256",
                "x5c": x5c(Array(namesake.certificates.prefix(2)) + [ellipticCurve.root.certificate]),
            ], key: namesake.leaf.key)
        #expect(
            try detail(mixed, trusting: [ellipticCurve.root.certificate])
                == "Their root is trusted, but has not signed them. Send the proof unchanged.")
        let (mac, other) = (try xcode(), try xcode())
        let proof = try transaction(
            header: ["alg": "ES256", "x5c": x5c([other.certificate])],
            payload: TestProofs.transactionPayload(changing: ["environment": "Xcode"]), key: other.key)
        #expect(
            try detail(proof, trusting: [mac.certificate])
                == "The trusted roots of its name are of other Macs or years. Add this one, too.")
    }

    @Test func `Xcode's certificate must sign directly`() throws {
        let chain = try TestChains.make { template in
            if template.role == .root { template.commonName = "StoreKit Testing in Xcode" }
        }
        let anchors = try TestChains.anchors(chain)
        #expect(anchors.anchors.map(\.realm) == [.xcode])
        let verifier = ProofVerifier(anchors: anchors, clock: ManualClock())
        let payload = TestProofs.transactionPayload(changing: ["environment": "Xcode"])
        #expect(refusal(of: try TestProofs.transaction(payload, chain: chain), by: verifier) == .chainShape)
    }

    @Test func `a proof inside a notification is verified`() throws {
        let other = try TestChains.make(name: "Other")
        let verifier = ProofVerifier(anchors: try TestChains.anchors(ellipticCurve, other), clock: ManualClock())
        func notification(_ inner: [UInt8], in field: String = "signedTransactionInfo") throws -> [UInt8] {
            var data: JSONObject = ["bundleId": .string(TestProofs.bundleIdentifier), "environment": "Sandbox"]
            _ = data.add(field, .string(String(decoding: inner, as: UTF8.self)))
            return try TestProofs.transaction(
                [
                    "notificationType": "REFUND", "notificationUUID": "u", "data": .object(data),
                    "signedDate": .integer(TestProofs.signedAt.millisecondsSince1970),
                ], chain: ellipticCurve)
        }
        let good = try TestProofs.transaction(chain: ellipticCurve)
        #expect(refusal(of: try notification(good), by: verifier) == nil)
        #expect(refusal(of: try notification(good, in: "signedRenewalInfo"), by: verifier) == .innerProofInvalid)
        #expect(refusal(of: try notification(Array(good.dropLast())), by: verifier) == .innerProofInvalid)
        let foreign = try TestProofs.transaction(chain: other)
        #expect(refusal(of: foreign, by: verifier) == nil)
        #expect(refusal(of: try notification(foreign), by: verifier) == .innerProofInvalid)
        for (field, value): (String, JSONValue) in [("bundleId", "com.example"), ("environment", "Production")] {
            let another = try TestProofs.transaction(
                TestProofs.transactionPayload(changing: [field: value]), chain: ellipticCurve)
            #expect(refusal(of: try notification(another), by: verifier) == .innerProofInvalid)
        }
    }

    @Test func `a cached chain is judged at each proof's own date`() throws {
        let chain = try TestChains.make {
            if $0.role == .leaf { $0.notAfter = TestProofs.signedAt.secondsSince1970 + 1 }
        }
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        func refusal(secondsLater: Int64) throws -> ProofRefusal.Reason? {
            let date = TestProofs.signedAt.millisecondsSince1970 + secondsLater * 1000
            let payload = TestProofs.transactionPayload(changing: ["signedDate": .integer(date)])
            return self.refusal(of: try TestProofs.transaction(payload, chain: chain), by: verifier)
        }
        #expect(try refusal(secondsLater: 0) == nil)
        #expect(try refusal(secondsLater: 1) == .chainOutsideValidity)
        #expect(try refusal(secondsLater: 0) == nil)
    }

    @Test func `a cached chain does not validate another key's signature`() throws {
        // The chain is cached, but a signature by another key under the same header stays invalid.
        let header: JSONObject = ["alg": "ES256", "x5c": x5c(ellipticCurve.certificates)]
        #expect(refusal(of: try transaction(header: header, key: ellipticCurve.leaf.key)) == nil)
        #expect(refusal(of: try transaction(header: header, key: try PrivateKey.generate(.p256))) == .signatureInvalid)
        let receipt = try TestProofs.signed(chain: rsa)
        #expect(refusal(of: receipt) == nil)
        #expect(refusal(of: Array(receipt.dropLast()) + [receipt[receipt.count - 1] ^ 1]) == .signatureInvalid)
    }

    @Test func `an elliptic curve signer cannot sign a receipt`() throws {
        #expect(throws: OpenSSLError.self) { try TestProofs.signed(chain: ellipticCurve) }
    }

    @Test func `a receipt without its signer's certificate is refused`() throws {
        let others = try TestChains.make(.rsa, name: "Other")
        let proof = try SignedData.sign(
            TestProofs.receipt().payload(), with: rsa.leaf.key, chain: [others.leaf.certificate])
        // The container names and contains a certificate whose key did not sign and that leads to no trusted root.
        #expect(refusal(of: proof) == .chainUntrusted)
    }
}
