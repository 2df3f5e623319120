import Proofs
import TestSupport
import Testing

@Suite struct AppReceiptTests {
    @Test func `sets are sorted as DER requires`() throws {
        let payload = try TestProofs.receipt(
            (1...5).map { TestProofs.purchase(transactionIdentifier: "20000000000000\(90 - $0)") }
        ).payload()
        // The elements of the outer SET. Each is a SEQUENCE, and they are in the order of their bytes.
        var rest = payload[...]
        rest = Self.content(of: &rest)
        var elements: [[UInt8]] = []
        while !rest.isEmpty {
            let before = rest
            _ = Self.content(of: &rest)
            elements.append(Array(before.prefix(before.count - rest.count)))
        }
        #expect(elements.count == 11)
        #expect(zip(elements, elements.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    /// Removes the first TLV and returns its content.
    private static func content(of bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        _ = bytes.popFirst()
        var length = Int(bytes.popFirst() ?? 0)
        if length >= 0x80 {
            let count = length & 0x7F
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        defer { bytes = bytes.dropFirst(length) }
        return bytes.prefix(length)
    }

    /// The results of throwing functions stay below the width at which Swift 6.3 miscompiles some of them.
    @Test func `results of throwing functions are narrow`() {
        #expect(MemoryLayout<VerifiedProof>.size <= 128)
        #expect(MemoryLayout<SignedData>.size <= 128)
        #expect(MemoryLayout<Certificate>.size <= 128)
        #expect(MemoryLayout<JWSTransactionDecodedPayload>.size <= 128)
        #expect(MemoryLayout<ResponseBodyV2DecodedPayload>.size <= 128)
    }

    @Test func `the device hash equals Apple's`() throws {
        // The SHA-1 of the identifier, the opaque value and the bundle identifier as a UTF8String.
        let hash = try AppReceipt.deviceHash(identifier: [1, 2], opaqueValue: [3], bundleIdentifier: "ab")
        #expect(hash == DigestAlgorithm.sha1.digest(of: [1, 2, 3, 0x0C, 2, 0x61, 0x62]))
    }
}
