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

    /// Some of an answer of the store to a purchase.
    private struct Sale: Decodable {
        let signedTransaction: String
    }

    @Test func `a store answers for its certificates while it runs`() async throws {
        let till = try TillProcess()
        let key = "the-sandbox-key-of-the-tests"
        let arguments = [
            "--products", TestGarden.file.path, "--bundle-id", TestGarden.bundleIdentifier, "--sandbox-key", key,
        ]
        let store = try await ServeProcess(till, arguments, command: "store")
        let trust = till.folder.folder("trust")
        try FileManager.default.createDirectory(at: trust, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: till.folder.file("data/store/keys/transactions-root.cer"), to: trust.appending(path: "root.cer"))
        func buy(from store: ServeProcess, _ path: String = "") async throws {
            let sold = try await store.curl(
                path + "/sandbox/v1/purchases", key: key, body: #"{"account":"alice","productId":"garden.seeds"}"#)
            try Data(try sold.decoded(Sale.self).signedTransaction.utf8).write(to: till.folder.file("proof"))
        }
        func reason() async throws -> String? {
            let result = try await till.run(
                arguments: ["receipt", "validate", "proof", "--trust", "trust", "--json", "--check-revocation"])
            return result.status == 0 ? nil : try result.decoded(InvalidProof.self).reason
        }
        for path in ["", "/stores/suite-7"] {
            try await buy(from: store, path)
            #expect(try await reason() == nil)
        }
        let changed = try await store.curl(
            "/stores/suite-7/sandbox/v1/settings", key: key, body: #"{"certificateStatus":"revokedLeaf"}"#,
            options: ["--request", "PATCH"])
        #expect(changed.status == 200)
        #expect(try await reason() == "certificateRevoked")
        #expect(await store.end(SIGTERM) == 0)
        #expect(try await reason() == "revocationUnavailable")
        // Another start, at another port, issues certificates of the same root.
        let later = try await ServeProcess(till, arguments + ["--public-url", "http://127.0.0.1:1"], command: "store")
        try await buy(from: later)
        #expect(try await reason() == "revocationUnavailable")
        #expect(await later.end(SIGTERM) == 0)
        let last = try await ServeProcess(till, arguments, command: "store")
        try await buy(from: last)
        #expect(try await reason() == nil)
        #expect(await last.end(SIGTERM) == 0)
    }

    @Test func `the format of verifyReceipt has no revocation check`() async throws {
        let result = try await TillProcess().run(
            "receipt", "validate", "-", "--check-revocation", "--format", "verify-receipt")
        #expect(result.status == 64)
        #expect(result.error.contains("--check-revocation"))
    }
}
