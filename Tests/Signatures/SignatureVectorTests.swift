import Foundation
import Proofs
import TestSupport
import Testing

/// The signatures of tokens, compared with the standards' examples and OpenSSL's command.
@Suite struct SignatureVectorTests {
    @Test(arguments: JWSVector.all)
    func `a standard's example is valid only for its key and message`(vector: JWSVector) throws {
        let key = try #require(PublicKey(jwk: try vector.members))
        let signature = try vector.signature
        #expect(vector.verifies(key, signature, vector.message))
        #expect(!vector.verifies(key, signature, vector.message + [0]))
        for index in signature.indices {
            var forged = signature
            forged[index] ^= 1
            #expect(!vector.verifies(key, forged, vector.message), "byte \(index)")
        }
        for other in JWSVector.all where other.testDescription != vector.testDescription {
            let key = try #require(PublicKey(jwk: try other.members))
            #expect(!vector.verifies(key, signature, vector.message), "\(other.testDescription)")
        }
    }

    @Test(arguments: JWSVector.all)
    func `a signature of another length is refused`(vector: JWSVector) throws {
        let key = try #require(PublicKey(jwk: try vector.members))
        let signature = try vector.signature
        let half = signature.count / 2
        let forgeries: [[UInt8]] = [
            [], Array(signature.dropFirst()), Array(signature.dropLast()), signature + [0], [0] + signature,
            Array(signature.prefix(half)), signature.prefix(half) + [0] + signature.suffix(half), signature + signature,
        ]
        for forged in forgeries {
            #expect(!vector.verifies(key, forged, vector.message), "\(forged.count) bytes")
        }
    }

    @Test(
        arguments: [
            (JWSVector.es256, "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551", 0),
            // The order has 521 bits, so 66 bytes can hold the sum of a number and the order.
            (
                JWSVector.es512,
                "01" + String(repeating: "FF", count: 32)
                    + "FA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409", 2
            ),
        ] as [(JWSVector, String, Int)])
    func `r and s outside 1 to n - 1 are refused`(vector: JWSVector, order: String, equalModuloN: Int) throws {
        let key = try #require(PublicKey(jwk: try vector.members))
        let signature = try vector.signature
        let order = [UInt8](digits: order)
        let (r, s) = (Array(signature.prefix(order.count)), Array(signature.suffix(order.count)))
        #expect(r + s == signature)
        let zero = [UInt8](repeating: 0, count: order.count)
        let highest = [UInt8](repeating: 0xFF, count: order.count)
        let equal = [r.adding(order).map { $0 + s }, s.adding(order).map { r + $0 }].compactMap { $0 }
        #expect(equal.count == equalModuloN)
        let forgeries = [zero + s, r + zero, zero + zero, order + s, r + order, highest + s, r + highest]
        for forged in forgeries + equal {
            #expect(!vector.verifies(key, forged, vector.message))
        }
    }

    @Test func `the second number of an Ed25519 signature is less than the order of the group`() throws {
        let vector = JWSVector.edDSA
        let key = try #require(PublicKey(jwk: try vector.members))
        let signature = try vector.signature
        let order = [UInt8](digits: "1000000000000000000000000000000014DEF9DEA2F79CD65812631A5CF5D3ED")
        // The lowest byte comes first (RFC 8032 section 5.1.2).
        let equal = try #require([UInt8](signature.suffix(32).reversed()).adding(order))
        #expect(!vector.verifies(key, signature.prefix(32) + equal.reversed(), vector.message))
    }

    @Test(
        arguments: [
            (["rsa_pss_saltlen:32"], true), (["rsa_pss_saltlen:0"], false), (["rsa_pss_saltlen:20"], false),
            (["rsa_pss_saltlen:31"], false), (["rsa_pss_saltlen:33"], false), (["rsa_pss_saltlen:222"], false),
            (["rsa_pss_saltlen:32", "rsa_mgf1_md:sha1"], false),
        ])
    func `RSA-PSS has a salt as long as the digest, and one hash for both`(
        options: [String],
        isAccepted: Bool
    ) async throws {
        let key = try TestChains.rsa.get().leaf.key
        let folder = try TemporaryFolder()
        try Data(try key.pem().utf8).write(to: folder.file("key.pem"))
        try Data(KeyTests.message).write(to: folder.file("message"))
        let parameters = (["rsa_padding_mode:pss"] + options).flatMap { ["-sigopt", $0] }
        try await Tool.run(
            "openssl",
            ["dgst", "-sha256", "-sign", "key.pem"] + parameters + ["-out", "signature", "message"], in: folder.url)
        let signature = try folder.bytes("signature")
        #expect(key.publicKey.verifiesPSS(signature, over: KeyTests.message, digest: .sha256) == isAccepted)
        #expect(!key.publicKey.verifiesPSS(signature, over: KeyTests.message, digest: .sha384))
        #expect(!key.publicKey.verifiesRSA(signature, over: KeyTests.message, digest: .sha256))
    }

    @Test func `an RSA signature is valid only with its own padding`() throws {
        let key = try TestChains.rsa.get().leaf.key
        let signature = try key.signRSA(KeyTests.message, digest: .sha512)
        #expect(key.publicKey.verifiesRSA(signature, over: KeyTests.message, digest: .sha512))
        #expect(!key.publicKey.verifiesPSS(signature, over: KeyTests.message, digest: .sha512))
    }
}
