import Foundation
import Proofs
import TestSupport
import Testing

/// C2SP's test vectors, verified with the same calls as proofs.
@Suite(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"))
struct WycheproofTests {
    struct File: Decodable {
        struct Group: Decodable {
            struct Vector: Decodable {
                let tcId: Int
                let msg: String
                let sig: String
                let result: String
            }

            let publicKeyDer: String
            let tests: [Vector]
        }

        let numberOfTests: Int
        let testGroups: [Group]
    }

    @Test(arguments: ["ecdsa_secp256r1_sha256_p1363_test.json", "rsa_signature_2048_sha256_test.json"])
    func `every vector has its expected result`(name: String) throws {
        let url = try #require(Vectors.files("wycheproof").first { $0.lastPathComponent == name })
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        var judged = 0
        for group in file.testGroups {
            let key = try #require(PublicKey(der: Self.bytes(group.publicKeyDer)))
            for vector in group.tests {
                let (message, signature) = (Self.bytes(vector.msg), Self.bytes(vector.sig))
                let holds =
                    name.hasPrefix("ecdsa")
                    ? key.verifiesES256(signature, over: message)
                    : key.verifiesRSA(signature, over: message, digest: .sha256)
                judged += 1
                if vector.result != "acceptable" { #expect(holds == (vector.result == "valid"), "\(vector.tcId)") }
            }
        }
        #expect(judged == file.numberOfTests)
    }

    @Test func `every vector has its expected result with a table of the key's multiples`() throws {
        let url = try #require(Vectors.files("wycheproof").first { $0.lastPathComponent.hasPrefix("ecdsa") })
        let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
        for group in file.testGroups {
            let key = try #require(PublicKey(der: Self.bytes(group.publicKeyDer)))
            let multiples = try #require(KeyMultiples(of: key))
            for vector in group.tests where vector.result != "acceptable" {
                let digest = DigestAlgorithm.sha256.digest(of: Self.bytes(vector.msg))
                let holds = multiples.verifies(Self.bytes(vector.sig), overDigest: digest)
                #expect(holds == (vector.result == "valid"), "\(vector.tcId)")
            }
        }
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
