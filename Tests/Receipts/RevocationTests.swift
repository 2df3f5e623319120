import Proofs
import TestSupport
import Testing

/// Responses of real responders (`openssl ocsp`) and their effect on a proof.
@Suite struct RevocationTests {
    let chain: CertificateChain
    /// Ten minutes ahead, so everything created during a test is valid.
    let clock = ManualClock(
        Timestamp(millisecondsSince1970: SystemClock().now().millisecondsSince1970 + 600_000))
    let statuses: RevocationStatuses
    /// The authority of the leaf and the authority of the intermediate.
    let authorities: [OpenSSLAuthority]

    init() throws {
        chain = try TestChains.ellipticCurve.get()
        statuses = RevocationStatuses(clock: clock)
        authorities = [
            try OpenSSLAuthority(chain.intermediate.certificate, key: chain.intermediate.key),
            try OpenSSLAuthority(chain.root.certificate, key: chain.root.key),
        ]
        try authorities[0].record(chain.leaf.certificate)
        try authorities[1].record(chain.intermediate.certificate)
    }

    private func verified(_ proof: [UInt8]? = nil, trusting chains: CertificateChain...) throws -> VerifiedProof {
        let anchors = try TrustAnchors(([chain] + chains).compactMap { try TrustAnchor($0.root.certificate) })
        let verifier = ProofVerifier(anchors: anchors, clock: clock)
        return try verifier.verify(proof ?? TestProofs.transaction(chain: chain), expecting: ProofExpectations())
    }

    private func refusal(_ body: () throws(ProofRefusal) -> Void) -> ProofRefusal.Reason? {
        do throws(ProofRefusal) {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a good response is valid until its next update`() async throws {
        let proof = try verified()
        let queries = try statuses.queries(about: proof)
        #expect(queries.map(\.responder.absoluteString) == Array(repeating: "http://ocsp.till.invalid/", count: 2))
        for (query, authority) in zip(queries, authorities) {
            try statuses.record(try await authority.answer(to: query.body), to: query)
        }
        #expect(try statuses.queries(about: proof).isEmpty)
        clock.advance(milliseconds: 86_400_000 - 660_000)
        #expect(try statuses.queries(about: proof).isEmpty)
        clock.advance(milliseconds: 660_000)
        #expect(try statuses.queries(about: proof).count == 2)
    }

    @Test(arguments: [0, 1])
    func `a revoked certificate is refused without another request`(index: Int) async throws {
        let proof = try verified()
        try authorities[index].record(proof.chains[0][index], revokedAt: "260102030405Z")
        let query = try statuses.queries(about: proof)[index]
        let answer = try await authorities[index].answer(to: query.body)
        let expected = ProofRefusal(.certificateRevoked, "The date of the revocation is 2026-01-02T03:04:05Z.")
        #expect(throws: expected) { try statuses.record(answer, to: query) }
        #expect(throws: expected) { try statuses.queries(about: proof) }
    }

    @Test func `the issuer or its authorized responder may respond`() async throws {
        let query = try statuses.queries(about: try verified())[0]
        for byKey in [true, false] {
            for signer: OpenSSLAuthority.Signer in [.authority, .delegate(isAppointed: true)] {
                let answer = try await authorities[0].answer(to: query.body, signedBy: signer, byKey: byKey)
                #expect(refusal { () throws(ProofRefusal) in try statuses.record(answer, to: query) } == nil)
            }
        }
    }

    @Test func `no other signer may respond`() async throws {
        let query = try statuses.queries(about: try verified())[0]
        // The certificates have the same names, so only the keys differ.
        let stranger = try TestChains.make()
        for signer: OpenSSLAuthority.Signer in [
            .delegate(isAppointed: false), .stranger(chain.root.certificate, chain.root.key),
            .stranger(chain.leaf.certificate, chain.leaf.key),
            .stranger(stranger.intermediate.certificate, stranger.intermediate.key),
        ] {
            for byKey in [true, false] {
                let answer = try await authorities[0].answer(to: query.body, signedBy: signer, byKey: byKey)
                #expect(
                    throws: ProofRefusal(
                        .revocationUnavailable, "The answer is not signed by the certificate's authority.")
                ) { try statuses.record(answer, to: query) }
            }
        }
    }

    @Test func `an unusable response gives no status`() async throws {
        let proof = try verified()
        let queries = try statuses.queries(about: proof)
        let good = try await authorities[0].answer(to: queries[0].body)
        let ofAnother = try await authorities[1].answer(to: queries[1].body)
        let emptyHanded = try await OpenSSLAuthority(chain.intermediate.certificate, key: chain.intermediate.key)
            .answer(to: queries[0].body)
        let tryLater: [UInt8] = [0x30, 3, 0x0A, 1, 3]
        for (answer, detail) in [
            ([], "The answer must be an OCSP response."),
            (Array("<html>".utf8), "The answer must be an OCSP response."),
            (good + [0], "The answer must be an OCSP response."),
            (Array(repeating: 0x30, count: OCSPRequest.maximumAnswerSize + 1), "The answer must be an OCSP response."),
            (tryLater, "The responder declined to answer, with OCSP status 3."),
            (emptyHanded, "The responder does not know the certificate."),
            (ofAnother, "The answer is not signed by the certificate's authority."),
        ] {
            #expect(throws: ProofRefusal(.revocationUnavailable, detail)) {
                try statuses.record(answer, to: queries[0])
            }
        }
        clock.advance(milliseconds: -1_040_000)
        #expect(throws: ProofRefusal.self) { try statuses.record(good, to: queries[0]) }
        clock.advance(milliseconds: 1_040_000 + 86_500_000)
        #expect(throws: ProofRefusal(.revocationUnavailable, "The answer is expired or not yet valid.")) {
            try statuses.record(good, to: queries[0])
        }
    }

    @Test func `one flipped bit anywhere in a response is found`() async throws {
        let request = try OCSPRequest(for: chain.leaf.certificate, issuer: chain.intermediate.certificate)
        let answer = try await authorities[0].answer(to: request.der)
        let now = clock.now().secondsSince1970
        #expect(try request.status(in: answer, at: now).verdict == .good)
        // The response contains the issuer's certificate, but the verification uses the given one.
        let enclosed = chain.intermediate.certificate.der
        let start = try #require(answer.indices.first { answer[$0...].starts(with: enclosed) })
        let unread = start..<start + enclosed.count
        for index in answer.indices where !unread.contains(index) {
            var flipped = answer
            flipped[index] ^= 1
            #expect(throws: OCSPError.self, "byte \(index)") { try request.status(in: flipped, at: now) }
        }
    }

    @Test func `a response about another certificate of the authority is refused`() async throws {
        let other = try TestChains.make()
        let query = try statuses.queries(about: try verified())[0]
        let sibling = try OCSPRequest(for: other.leaf.certificate, issuer: chain.intermediate.certificate)
        try authorities[0].record(other.leaf.certificate)
        let answer = try await authorities[0].answer(to: sibling.der)
        #expect(throws: ProofRefusal(.revocationUnavailable, "The answer is about another certificate.")) {
            try statuses.record(answer, to: query)
        }
    }

    @Test(arguments: [nil, "ldap://127.0.0.1/", "no address"])
    func `a certificate without a responder is refused`(responder: String?) throws {
        let chain = try TestChains.make { if $0.role == .leaf { $0.ocspResponder = responder } }
        let proof = try verified(try TestProofs.transaction(chain: chain), trusting: chain)
        #expect(throws: ProofRefusal(.revocationUnavailable, "The certificate \"Test Signing\" names no responder.")) {
            try statuses.queries(about: proof)
        }
    }

    @Test func `the chains of nested proofs are checked`() throws {
        // Two signers have the same root.
        let key = try PrivateKey.generate(.p256)
        let template = CertificateTemplate(
            role: .leaf, commonName: "Second Signing", organization: "Test", serialNumber: [1, 2],
            notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound,
            appleExtensions: [.receiptSigning], ocspResponder: "http://second.invalid/")
        let second = try template.issue(
            for: key.publicKey, issuer: chain.intermediate.certificate, signer: chain.intermediate.key, digest: .sha384)
        let inner = try SignedJSON.sign(
            .object(TestProofs.transactionPayload()), with: key,
            chain: [second] + chain.certificates.dropFirst())
        let data: JSONObject = [
            "bundleId": .string(TestProofs.bundleIdentifier), "environment": "Sandbox",
            "signedTransactionInfo": .string(inner),
        ]
        let notification: JSONObject = [
            "notificationType": "REFUND", "notificationUUID": "u", "data": .object(data),
            "signedDate": .integer(TestProofs.signedAt.millisecondsSince1970),
        ]
        let proof = try verified(try TestProofs.transaction(notification, chain: chain))
        #expect(proof.chains.count == 2)
        #expect(
            try statuses.queries(about: proof).map(\.responder.absoluteString) == [
                "http://ocsp.till.invalid/", "http://ocsp.till.invalid/", "http://second.invalid/",
            ])
    }

    @Test func `a trusted certificate needs no status`() throws {
        let key = try PrivateKey.generate(.p256)
        let template = CertificateTemplate(
            role: .leaf, commonName: "StoreKit", organization: "Test", serialNumber: [1],
            notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound)
        let certificate = try template.issue(for: key.publicKey, issuer: nil, signer: key, digest: .sha256)
        let anchor = try #require(try TrustAnchor(certificate))
        let payload = TestProofs.transactionPayload(changing: ["environment": "Xcode"])
        let proof = try SignedJSON.sign(.object(payload), with: key, chain: [certificate])
        let verified = try ProofVerifier(anchors: try TrustAnchors([anchor]), clock: clock)
            .verify(Array(proof.utf8), expecting: ProofExpectations(origins: [.xcode]))
        #expect(try statuses.queries(about: verified).isEmpty)
    }
}
