import Foundation
import Ledger
import Proofs
import TestSupport
import Testing

/// The bytes of identifiers in PostgreSQL.
@Suite struct PackedTextTests {
    /// Identifiers of each kind, in the order of their texts among the digits.
    private static let digits = [
        "0", "00", "007", "1", "10", "1000000000000000", "10000000000000000", "100000000000000000", "11",
        "2000000123456789",
        "20000001234567890", "4", "470001234567890", "9", "9999999999999999", "99999999999999999999",
    ]
    private static let others = [
        "", "0b5cf3aa-b2a8-4a5e-9a50-7c1fbb1e3f4d", "0B5CF3AA-B2A8-4A5E-9A50-7C1FBB1E3F4D", "GPA.3301-0000-0000-00000",
        "GPA.3301-0000-0000-00000..1", "token1:premium", "1a", "-1", "+1", "1.0", " 1", "1\u{0}", "é", "٣", "\u{FFFD}",
        String(repeating: "9", count: 40), String(repeating: "x", count: 400),
    ]

    @Test(arguments: digits + others) func `an identifier is read as it was written`(text: String) {
        #expect(PackedText.text(of: PackedText.bytes(of: text))?.hasSameBytes(as: text) == true)
    }

    @Test func `different identifiers have different bytes`() {
        let texts = Self.digits + Self.others
        #expect(Set(texts.map(PackedText.bytes)).count == texts.count)
    }

    @Test(arguments: digits + others) func `an identifier of a row is the same text`(text: String) {
        let identifier = StoredIdentifier(text)
        var bytes: [UInt8] = []
        identifier.append(to: &bytes)
        #expect(identifier.text.hasSameBytes(as: text))
        #expect(bytes == Array(text.utf8))
    }

    @Test func `different texts are different identifiers`() {
        let texts = Self.digits + Self.others
        #expect(Set(texts.map { StoredIdentifier($0) }).count == texts.count)
    }

    @Test func `digits have the order of their texts, before all other identifiers but the empty one`() {
        let bytes = (Self.digits + ["", "GPA.1", "token1"]).sorted { ByteKey($0) < ByteKey($1) }.map(PackedText.bytes)
        for (left, right) in zip(bytes, bytes.dropFirst()) { #expect(left.lexicographicallyPrecedes(right)) }
    }

    @Test func `an identifier of the App Store takes seven bytes, and a UUID 17`() {
        #expect(PackedText.bytes(of: "2000000123456789").count == 7)
        #expect(PackedText.bytes(of: "470001234567890").count == 7)
        #expect(PackedText.bytes(of: "0b5cf3aa-b2a8-4a5e-9a50-7c1fbb1e3f4d").count == 17)
        #expect(PackedText.bytes(of: "GPA.1").count == 6)
    }

    @Test(
        arguments: [[0], [0xFE], [0xFE, 1], [0xFF, 0xFF], [0xA4], [1, 2, 3], [0xA3, 0, 0, 0, 0, 0, 0, 200]] as [[UInt8]]
    )
    func `other bytes are no identifier`(bytes: [UInt8]) {
        #expect(PackedText.text(of: bytes) == nil)
    }

    @Test func `the digits of random numbers are read as they were written`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let text = String(String(UInt64.random(in: 0 ... .max, using: &generator)).prefix(Int.random(in: 1...20)))
            #expect(PackedText.text(of: PackedText.bytes(of: text)) == text)
        }
    }
}
