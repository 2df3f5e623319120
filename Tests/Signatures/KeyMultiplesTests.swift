import Foundation
import Proofs
import Testing

/// Tables of a key's multiples, held against EVP, which verifies with the same key without a table.
@Suite struct KeyMultiplesTests {
    private static let order = [UInt8](digits: "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")

    /// The number of signatures. `make compare-signatures` sets a million.
    private static let count =
        ProcessInfo.processInfo.environment["TILL_SIGNATURES"].flatMap(Int.init) ?? 2000

    /// A key and its table.
    private struct Signer {
        let key: PrivateKey
        let multiples: KeyMultiples

        init(_ key: PrivateKey) throws {
            self.key = key
            multiples = try #require(KeyMultiples(of: key.publicKey))
        }

        /// The verdict of both; nil if they differ.
        func verdict(_ signature: [UInt8], overDigest digest: [UInt8]) -> Bool? {
            let holds = multiples.verifies(signature, overDigest: digest)
            return holds == key.publicKey.verifiesES256(signature, overDigest: digest) ? holds : nil
        }
    }

    /// A private key in PKCS#8 (RFC 5208, RFC 5915).
    private static func key(_ number: [UInt8]) throws -> PrivateKey {
        let head = "3041020100301306072A8648CE3D020106082A8648CE3D030107042730250201010420"
        let text = Base64.encode([UInt8](digits: head) + number)
        return try PrivateKey(pem: "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n")
    }

    private static func number(_ value: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [value] }

    /// The order less a smaller number.
    private static func opposite(_ number: [UInt8]) throws -> [UInt8] {
        // Two's complement: order + (2^256 - 1 - number) + 1, less 2^256.
        let inverted = number.map { ~$0 }
        let long = try #require(([0] + order).adding([0] + inverted)?.adding([0] + Self.number(1)))
        return Array(long.dropFirst())
    }

    /// The keys whose points are G, -G, 2·G and two random ones.
    private static func signers() throws -> [Signer] {
        let numbers = [number(1), try opposite(number(1)), number(2)]
        return try numbers.map { try Signer(key($0)) } + (0..<2).map { _ in try Signer(.generate(.p256)) }
    }

    @Test func `a table has EVP's verdict on random signatures, valid and invalid`() throws {
        var signers = try Self.signers()
        var generator = SystemRandomNumberGenerator()
        for index in 0..<Self.count {
            // A new key for each ten thousand.
            if index % 10_000 == 9999 { signers[4] = try Signer(.generate(.p256)) }
            let signer = signers[index % signers.count]
            let message = withUnsafeBytes(of: (index, generator.next())) { Array($0) }
            let digest = DigestAlgorithm.sha256.digest(of: message)
            var signature = try signer.key.signES256(message)
            #expect(signer.verdict(signature, overDigest: digest) == true)
            signature[Int.random(in: 0..<64)] ^= 1 << UInt8.random(in: 0..<8)
            #expect(signer.verdict(signature, overDigest: digest) == false)
        }
    }

    @Test func `a table has EVP's verdict on every edge of r, s and the digest`() throws {
        let highest = [UInt8](repeating: 0xFF, count: 32)
        for signer in try Self.signers() {
            let signature = try signer.key.signES256(KeyTests.message)
            let digest = DigestAlgorithm.sha256.digest(of: KeyTests.message)
            let (r, s) = (Array(signature.prefix(32)), Array(signature.suffix(32)))
            #expect(signer.verdict(r + (try Self.opposite(s)), overDigest: digest) == true)
            var edges = [0, 1, 2, 0x7F, 0x80].map(Self.number)
            edges += try [1, 2].map { try Self.opposite(Self.number($0)) } + [Self.order, highest]
            // With the key G, the digest -r makes the sum infinity, and the digest r makes both points equal.
            let numbers = edges + [r, s, try Self.opposite(r), try Self.opposite(s)]
            for r in numbers {
                for s in numbers {
                    for digest in numbers + [digest] {
                        #expect(signer.verdict(r + s, overDigest: digest) != nil, "\(r), \(s), \(digest)")
                    }
                }
            }
            for other in [[], Array(signature.dropLast()), signature + [0]] {
                #expect(signer.verdict(other, overDigest: digest) == false)
            }
            #expect(!signer.multiples.verifies(signature, overDigest: digest + [0]))
        }
    }

    @Test func `only P-256 keys have tables`() throws {
        #expect(KeyMultiples(of: try PrivateKey.generate(.p384).publicKey) == nil)
        for (_, key, _) in KeyTests.strangeKeys {
            #expect(KeyMultiples(of: try #require(PublicKey(der: [UInt8](digits: key)))) == nil)
        }
    }

    @Test func `a key that signs an eighth of the proofs gets a table, and one that stops loses its own`() throws {
        let keys = try (0..<3).map { _ in try PrivateKey.generate(.p256).publicKey }
        let signing = SigningKeys(maximumTables: 2)
        func count(_ index: Int, times: Int) { for _ in 0..<times { signing.count(keys[index]) } }
        count(0, times: 1023)
        #expect(signing.tableCount == 0)
        count(0, times: 1)
        #expect(signing.tableCount == 1 && signing.hasTable(keys[0]))
        count(1, times: 1024)
        count(2, times: SigningKeys.window - 2 * 1024)
        #expect(signing.tableCount == 2 && !signing.hasTable(keys[2]))
        count(1, times: 256)
        count(2, times: SigningKeys.window - 256)
        #expect(signing.tableCount == 1 && signing.hasTable(keys[1]))
        count(2, times: 1024)
        #expect(signing.tableCount == 2 && signing.hasTable(keys[2]))
    }
}
