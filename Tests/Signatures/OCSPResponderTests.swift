import Foundation
import Proofs
import TestSupport
import Testing

/// The answers of authorities about their certificates, read by Till's own reader and by the program `openssl`.
@Suite struct OCSPResponderTests {
    private static let now = SystemClock().now().secondsSince1970
    private static let malformed: [UInt8] = [0x30, 3, 0x0A, 1, 1]
    private static let unauthorized: [UInt8] = [0x30, 3, 0x0A, 1, 6]

    private let folder: TemporaryFolder
    private let chain: CertificateChain

    init() throws {
        folder = try TemporaryFolder()
        chain = try TestChains.ellipticCurve.get()
    }

    /// The responder of a chain whose leaf has a verdict.
    private func responder(of chain: CertificateChain, leaf: OCSPStatus.Verdict? = .good) -> OCSPResponder {
        OCSPResponder([
            .init(chain.leaf.certificate, issuer: chain.intermediate, verdict: leaf),
            .init(chain.intermediate.certificate, issuer: chain.root, verdict: .good),
        ])
    }

    private func answer(_ request: [UInt8], leaf: OCSPStatus.Verdict? = .good) throws -> [UInt8] {
        try responder(of: chain, leaf: leaf).answer(to: request, at: Self.now, validFor: 300)
    }

    /// Runs `openssl ocsp` beside the certificates of the chain.
    private func openssl(_ arguments: String...) async throws {
        for (name, certificate) in zip(["leaf", "intermediate", "root"], chain.certificates) {
            try Data(certificate.pem.utf8).write(to: folder.file("\(name).pem"))
        }
        try await Tool.run("openssl", ["ocsp"] + arguments, in: folder.url)
    }

    @Test func `each verdict is read back, under both kinds of keys`() throws {
        for chain in [chain, try TestChains.rsa.get()] {
            let request = try OCSPRequest(for: chain.leaf.certificate, issuer: chain.intermediate.certificate)
            func answer(_ verdict: OCSPStatus.Verdict?) throws -> [UInt8] {
                try responder(of: chain, leaf: verdict).answer(to: request.der, at: Self.now, validFor: 300)
            }
            for verdict in [OCSPStatus.Verdict.good, .revoked(at: TestChains.validity.lowerBound)] {
                let status = try request.status(in: try answer(verdict), at: Self.now + 299)
                #expect((status.verdict, status.end) == (verdict, Self.now + 300))
            }
            #expect(throws: OCSPError.self) { try request.status(in: try answer(.good), at: Self.now + 300) }
            let unknown = try answer(nil)
            #expect(unknown.count > Self.malformed.count)
            #expect(throws: OCSPError.self) { try request.status(in: unknown, at: Self.now) }
        }
    }

    @Test func `another certificate of the authority is unknown`() throws {
        let other = try TestChains.make().leaf.certificate
        let request = try OCSPRequest(for: other, issuer: chain.intermediate.certificate)
        let answer = try answer(request.der)
        #expect(answer.count > Self.malformed.count)
        #expect(throws: OCSPError.self) { try request.status(in: answer, at: Self.now) }
    }

    @Test func `bytes that are no request, and strangers' certificates, are answered with an error`() throws {
        let request = try OCSPRequest(for: chain.leaf.certificate, issuer: chain.intermediate.certificate).der
        for length in request.indices { #expect(try answer(Array(request.prefix(length))) == Self.malformed) }
        let long = [UInt8](repeating: 0x30, count: OCSPResponder.maximumRequestSize + 1)
        for bytes in [request + [0], Array("<html>".utf8), long] {
            #expect(try answer(bytes) == Self.malformed)
        }
        // The names are the same, and the keys differ.
        let stranger = try TestChains.make()
        let foreign = try OCSPRequest(for: stranger.leaf.certificate, issuer: stranger.intermediate.certificate)
        #expect(try answer(foreign.der) == Self.unauthorized)
    }

    @Test func `a damaged request is answered like any other`() throws {
        let request = try OCSPRequest(for: chain.leaf.certificate, issuer: chain.intermediate.certificate).der
        for index in request.indices {
            for bit: UInt8 in [1, 0x80] {
                var damaged = request
                damaged[index] ^= bit
                #expect(try answer(damaged).count >= Self.malformed.count)
            }
        }
    }

    @Test(arguments: ["-sha1", "-sha256", "-sha384", "-sha512"])
    func `openssl accepts the signature and the nonce`(digest: String) async throws {
        try await openssl(
            "-issuer", "intermediate.pem", digest, "-cert", "leaf.pem", "-nonce", "-reqout", "request")
        let request = Array(try Data(contentsOf: folder.file("request")))
        try Data(try answer(request)).write(to: folder.file("answer"))
        let verification = ["-respin", "answer", "-verify_other", "intermediate.pem", "-CAfile", "root.pem"]
        try await Tool.run("openssl", ["ocsp", "-reqin", "request"] + verification, in: folder.url)
        try await openssl("-issuer", "intermediate.pem", "-cert", "leaf.pem", "-nonce", "-reqout", "other")
        await #expect(throws: Tool.Failure.self) {
            try await Tool.run("openssl", ["ocsp", "-reqin", "other"] + verification, in: folder.url)
        }
    }

    @Test func `an answer has the certificate of its signer, which the authority has appointed`() async throws {
        try await openssl("-issuer", "intermediate.pem", "-cert", "leaf.pem", "-reqout", "request")
        let request = Array(try Data(contentsOf: folder.file("request")))
        try Data(try answer(request)).write(to: folder.file("answer"))
        let verification = ["ocsp", "-reqin", "request", "-respin", "answer", "-partial_chain", "-CAfile"]
        try await Tool.run("openssl", verification + ["intermediate.pem"], in: folder.url)
        // Another authority cannot appoint it.
        await #expect(throws: Tool.Failure.self) {
            try await Tool.run("openssl", verification + ["root.pem"], in: folder.url)
        }
    }

    @Test func `one answer is about certificates of one authority`() async throws {
        try await openssl(
            "-issuer", "intermediate.pem", "-cert", "leaf.pem", "-issuer", "root.pem", "-cert", "intermediate.pem",
            "-reqout", "request")
        #expect(try answer(Array(try Data(contentsOf: folder.file("request")))) == Self.unauthorized)
        for (issuer, certificate) in [("intermediate", "leaf"), ("root", "intermediate")] {
            try await openssl("-issuer", "\(issuer).pem", "-cert", "\(certificate).pem", "-reqout", "request")
            #expect(try answer(Array(try Data(contentsOf: folder.file("request")))).count > Self.unauthorized.count)
        }
    }

    @Test func `a chain that names another responder keeps its root and keys`() throws {
        for chain in [chain, try TestChains.rsa.get()] {
            let first = try chain.naming(ocspResponder: "http://127.0.0.1:8081/ocsp")
            let again = try first.naming(ocspResponder: "http://127.0.0.1:8082/ocsp")
                .naming(ocspResponder: "http://127.0.0.1:8081/ocsp")
            let other = try chain.naming(ocspResponder: "http://[::1]:8081/stores/a/ocsp")
            let middle = (TestChains.validity.lowerBound + TestChains.validity.upperBound) / 2
            for made in [first, again, other] {
                let store = try CertificateStore(trusting: [chain.root.certificate])
                let path = try store.path(
                    from: made.leaf.certificate, through: [made.intermediate.certificate], at: middle)
                #expect(path == made.certificates)
                #expect(made.leaf.certificate.publicKey == chain.leaf.certificate.publicKey)
                #expect(made.leaf.certificate.appleExtensions == chain.leaf.certificate.appleExtensions)
                #expect(made.leaf.certificate.subject == chain.leaf.certificate.subject)
            }
            #expect(first.leaf.certificate.ocspResponders == ["http://127.0.0.1:8081/ocsp"])
            #expect(other.intermediate.certificate.ocspResponders == ["http://[::1]:8081/stores/a/ocsp"])
            // An old proof is still known to the responder that comes back to its address.
            #expect(first.leaf.certificate.serialNumber == again.leaf.certificate.serialNumber)
            #expect(first.leaf.certificate.serialNumber != other.leaf.certificate.serialNumber)
        }
    }
}
