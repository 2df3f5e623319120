import Foundation
import Proofs
import TestSupport
import Testing

/// `till receipt validate --check-revocation` against `openssl ocsp` on loopback.
@Suite struct RevocationCommandTests {
    /// A chain whose certificates name responders that run.
    private struct Shop {
        let root: OpenSSLAuthority
        let responders: [OpenSSLResponder]
        let intermediate: OpenSSLAuthority
        let certificates: [Certificate]
        let key: PrivateKey

        init() async throws {
            func template(_ role: CertificateTemplate.Role, _ url: String?) -> CertificateTemplate {
                CertificateTemplate(
                    role: role, commonName: "\(role)", organization: "Test", serialNumber: [1, 2, 3],
                    notBefore: TestChains.validity.lowerBound, notAfter: TestChains.validity.upperBound,
                    appleExtensions: role == .leaf
                        ? [.receiptSigning] : role == .intermediate ? [.worldwideDeveloperRelations] : [],
                    ocspResponder: url)
            }
            let keys = try [Curve.p384, .p384, .p256].map { try PrivateKey.generate($0) }
            let rootCertificate = try template(.root, nil)
                .issue(for: keys[0].publicKey, issuer: nil, signer: keys[0], digest: .sha384)
            root = try OpenSSLAuthority(rootCertificate, key: keys[0])
            let rootResponder = try await root.serve()
            let intermediateCertificate = try template(.intermediate, rootResponder.url)
                .issue(for: keys[1].publicKey, issuer: rootCertificate, signer: keys[0], digest: .sha384)
            try root.record(intermediateCertificate)
            intermediate = try OpenSSLAuthority(intermediateCertificate, key: keys[1])
            let responder = try await intermediate.serve()
            let leaf = try template(.leaf, responder.url)
                .issue(for: keys[2].publicKey, issuer: intermediateCertificate, signer: keys[1], digest: .sha384)
            try intermediate.record(leaf)
            responders = [rootResponder, responder]
            for responder in responders { try await responder.readRecords() }
            certificates = [leaf, intermediateCertificate, rootCertificate]
            key = keys[2]
        }
    }

    @Test func `a revocation check finds a revoked signer`() async throws {
        let till = try TillProcess()
        let shop = try await Shop()
        let proof = try SignedJSON.sign(
            .object(TestProofs.transactionPayload()), with: shop.key, chain: shop.certificates)
        try Data(proof.utf8).write(to: till.folder.file("proof"))
        let trust = till.folder.folder("trust")
        try FileManager.default.createDirectory(at: trust, withIntermediateDirectories: true)
        try Data(shop.certificates[2].der).write(to: trust.appending(path: "root.cer"))
        func validate(_ options: String...) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["receipt", "validate", "proof", "--trust", "trust", "--json"] + options)
        }

        let good = try await validate("--check-revocation")
        #expect(good.status == 0, "\(good.output)\(good.error)")

        try shop.intermediate.record(shop.certificates[0], revokedAt: "260102030405Z")
        try await shop.responders[1].readRecords()
        let revoked = try await validate("--check-revocation")
        #expect(revoked.status == 1)
        let refusal = try revoked.decoded(InvalidProof.self)
        #expect(refusal.reason == "certificateRevoked")
        #expect(refusal.step == "revocation")
        #expect(try await validate().status == 0)

        for responder in shop.responders { await responder.stop() }
        let unavailable = try await validate("--check-revocation")
        #expect(unavailable.status == 1)
        let absence = try unavailable.decoded(InvalidProof.self)
        #expect(absence.reason == "revocationUnavailable")
        #expect(absence.message.contains("127.0.0.1 could not be asked."))
    }

    @Test func `the format of verifyReceipt has no revocation check`() async throws {
        let result = try await TillProcess().run(
            "receipt", "validate", "-", "--check-revocation", "--output", "verify-receipt")
        #expect(result.status == 64)
        #expect(result.error.contains("--check-revocation"))
    }
}
