import Proofs
import TestSupport
import Testing

/// Authentic app receipts with attributes in forms that Apple has not documented.
@Suite struct UnusualReceiptTests {
    /// The forms of an attribute's value, in the order of the letters in `outcomes`.
    static let forms: [(name: String, value: [UInt8]?)] = [
        ("missing", nil), ("no value", []), ("empty text", [0x0C, 0]), ("empty IA5", [0x16, 0]),
        ("unknown text", text("new")), ("text with NUL", [0x0C, 2, 0x41, 0]), ("invalid UTF-8", [0x0C, 1, 0xFF]),
        ("fraction of a second", text("2026-05-28T20:26:40.686Z", 0x16)), ("a number", [0x02, 1, 7]),
        ("a huge number", [0x02, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0]), ("boolean", [0x01, 1, 0xFF]),
        ("truncated", [0x0C, 9, 0x41]),
    ]

    enum Kind {
        case requiredText, decidingText, text, requiredDate, decidingDate, date, quantity, number, receiptType, bytes
    }

    /// The table of all outcomes, with the letters of `UnusualFormTests.Outcome`. A noted attribute is kept unchanged.
    static let outcomes: [Kind: String] = [
        .requiredText: "rrrrkrrkrrrr",
        .decidingText: "aaaakrrkrrrr",
        .text: "aaaaknnknnnn",
        .requiredDate: "rrrrrrrkrrrr",
        .decidingDate: "aaaarrrkrrrr",
        .date: "aaaannnknnnn",
        .quantity: "aarrrrrrkrrr",
        .number: "aannnnnnknnn",
        .receiptType: "rrrrrrrrrrrr",
        .bytes: "akkkkkkkkkkk",
    ]

    static let receipt: [Int: Kind] = [
        0: .receiptType, 1: .number, 2: .requiredText, 3: .text, 4: .bytes, 5: .bytes, 10: .text, 12: .requiredDate,
        15: .number, 16: .number, 18: .date, 19: .text, 21: .date,
    ]

    /// The attributes of a subscription's purchase.
    static let purchase: [Int: Kind] = [
        1701: .quantity, 1702: .requiredText, 1703: .requiredText, 1704: .requiredDate, 1705: .decidingText,
        1706: .date, 1707: .number, 1708: .decidingDate, 1710: .number, 1711: .number, 1712: .decidingDate,
        1713: .number, 1719: .number, 1721: .text,
    ]

    private let chain: CertificateChain
    private let verifier: ProofVerifier

    init() throws {
        chain = try TestChains.rsa.get()
        verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
    }

    private static func text(_ text: String, _ tag: UInt8 = 0x0C) -> [UInt8] { element(tag, Array(text.utf8)) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length = [UInt8(content.count & 0xFF)]
        if content.count > 0xFF {
            length = [0x82, UInt8(content.count >> 8)] + length
        } else if content.count > 0x7F {
            length = [0x81] + length
        }
        return [tag] + length + content
    }

    private static func set(_ attributes: [Int: [UInt8]]) -> [UInt8] {
        element(
            0x31,
            attributes.sorted { $0.key < $1.key }.flatMap { type, value in
                element(
                    0x30, [0x02, 2, UInt8(type >> 8), UInt8(type & 0xFF), 0x02, 1, 1] + element(0x04, value))
            })
    }

    private static let date = text("2026-05-28T20:26:40Z", 0x16)
    private static let receiptBase: [Int: [UInt8]] = [
        0: text("ProductionSandbox"), 2: text(TestProofs.bundleIdentifier), 3: text("1"), 4: [1], 5: [2], 12: date,
    ]
    private static let purchaseBase: [Int: [UInt8]] = [
        1701: [0x02, 1, 1], 1702: text("p"), 1703: text("2000000000000001"), 1704: date, 1707: [0x02, 1, 3],
        1708: text("2026-06-28T20:26:40Z", 0x16),
    ]

    /// Verifies a receipt with one purchase; nil if it is refused as invalid.
    private func verify(_ receipt: [Int: [UInt8]], _ purchase: [Int: [UInt8]]) throws -> VerifiedProof? {
        let payload = Self.set(receipt.merging([17: Self.set(purchase)]) { $1 })
        let proof = try SignedData.sign(payload, with: chain.leaf.key, chain: chain.certificates)
        do {
            return try verifier.verify(proof, expecting: ProofExpectations(origins: Set(Origin.allCases)))
        } catch {
            #expect(error.reason == .payloadInvalid)
            return nil
        }
    }

    private func expect(_ type: Int, _ kind: Kind, _ verify: ([UInt8]?) throws -> VerifiedProof?) throws {
        let row = try #require(Self.outcomes[kind])
        #expect(row.count == Self.forms.count)
        for (form, letter) in zip(Self.forms, row) {
            let expected = try #require(UnusualFormTests.Outcome(rawValue: letter))
            let proof = try verify(form.value)
            let comment: Comment = "attribute \(type), \(form.name)"
            #expect((proof == nil) == (expected == .refused), comment)
            guard let proof, case .appReceipt(let receipt) = proof.content else { continue }
            #expect(proof.unreadableFields.isEmpty == (expected != .noted), comment)
            let others = receipt.otherAttributes + receipt.inAppPurchases.flatMap(\.otherAttributes)
            if expected == .noted {
                #expect(others.contains { $0.type == type && Array($0.value) == form.value }, comment)
            }
        }
    }

    @Test(arguments: receipt.keys.sorted())
    func `an attribute of a receipt`(type: Int) throws {
        try expect(type, try #require(Self.receipt[type])) { value in
            var attributes = Self.receiptBase
            attributes[type] = value
            return try verify(attributes, Self.purchaseBase)
        }
    }

    @Test(arguments: purchase.keys.sorted())
    func `an attribute of a purchase in a receipt`(type: Int) throws {
        try expect(type, try #require(Self.purchase[type])) { value in
            var attributes = Self.purchaseBase
            attributes[type] = value
            return try verify(Self.receiptBase, attributes)
        }
    }

    @Test(arguments: [0, 1, 2] as [UInt8])
    func `the end of a purchase without an end decides nothing`(productType: UInt8) throws {
        try expect(1708, .date) { value in
            var attributes = Self.purchaseBase
            attributes[1707] = [0x02, 1, productType]
            attributes[1708] = value
            return try verify(Self.receiptBase, attributes)
        }
    }

    @Test func `a fraction of a second is kept in milliseconds`() throws {
        var attributes = Self.purchaseBase
        attributes[1704] = Self.text("2026-05-28T20:26:40.686Z", 0x16)
        let proof = try verify(Self.receiptBase, attributes)
        #expect(proof?.purchases?.first?.purchaseDate == Timestamp(millisecondsSince1970: 1_780_000_000_686))
    }
}
