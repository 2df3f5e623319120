import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The order numbers that people type, and the purchases that they find in either database.
@Suite struct OrderNumberTests: LedgerSuite {
    private static let order = "GPA.3345-1234-5678-90123"

    let fixture: LedgerFixture
    private let service: EntitlementService

    init() async throws {
        fixture = try LedgerFixture()
        service = try .ofGarden(over: fixture.ledger, clock: ManualClock(Self.now))
    }

    private static let spellings: [(text: String, order: String)] = [
        ("GPA.3345-1234-5678-90123", order), (" gpa.3345-1234-5678-90123\n", order),
        ("#GPA.3345-1234-5678-90123", order), ("# 3345-1234-5678-90123", order), ("33451234567890123", order),
        ("GPA 3345 1234 5678 90123", order), ("gpa3345–1234—5678−90123", order),
        ("ＧＰＡ．３３４５－１２３４－５６７８－９０１２３", order), ("\u{200E}\(order)\u{200E}", order),
        ("\(order)..3", order + "..3"), ("3345 1234 5678 90123 ..12", order + "..12"),
        ("MK5TTTVWJH", "MK5TTTVWJH"), (" mk5tttvwjh ", "MK5TTTVWJH"), ("#mk5tttvwjh", "MK5TTTVWJH"),
        ("MK5T-TTVW-JH", "MK5TTTVWJH"), ("mk5 ttt vwjh", "MK5TTTVWJH"), ("ＭＫ５ＴＴＴＶＷＪＨ", "MK5TTTVWJH"),
        ("W002182", "W002182"),
    ]

    @Test(arguments: OrderNumberTests.spellings)
    func `an order number is read in the forms in which people type it`(text: String, order: String) {
        let read = OrderNumber(text)
        #expect(read?.text == order)
        #expect(read?.store == (order.hasPrefix("GPA.") ? .playStore : .appStore))
    }

    @Test func `another text is no order number`() {
        let others = [
            "", " ", "#", "-", "..", "...3", "2000000000000001", "mina park", "mina-park", "mina-park-1990s",
            "alice-2000",
            "mina@example.com", "MK5/..", "MK\u{30C}5TTTVWJH", "M\u{0}K5", "GPA.1", "GPA.3345-1234-5678-9012",
            "GPA.3345-1234-5678-901234", "\(Self.order).3", "\(Self.order)..", "\(Self.order)..12345",
            "\(Self.order)..3..4", "\(Self.order)..x", "٣٣٤٥١٢٣٤٥٦٧٨٩٠١٢٣", String(repeating: "M", count: 65),
            String(repeating: "-", count: 129), Self.order + String(repeating: "\u{301}", count: 100_000),
            String(repeating: " ", count: 1_000_000) + Self.order,
        ]
        for text in others { #expect(OrderNumber(text) == nil, "\(text.unicodeScalars.prefix(40))") }
    }

    private func statement(_ order: String, original: String = "subscription") -> Claim {
        claim(
            order, original: original, origin: .googleProduction, expiresAt: Self.later(86_400),
            facts: TransactionFacts([.orderId: .text(order)]))
    }

    private func owners(of text: String) async throws -> [User?] {
        try await service.purchases(ofTransaction: try await service.identifier(searchedBy: text)).map(\.owner)
    }

    @Test func `each form of an order finds the purchase once, also by a renewal that the ledger lacks`() async throws {
        _ = try await redeem(statement(Self.order), statement(Self.order + "..0"), for: alice)
        _ = try await redeem(statement("GPA.3345-1234-5678-90124..1", original: "other"), for: bob)
        for text in Self.spellings.map(\.text).filter({ OrderNumber($0)?.store == .playStore }) {
            #expect(try await owners(of: text) == [alice], "\(text)")
        }
        #expect(try await service.identifier(searchedBy: "\(Self.order)..0") == Self.order + "..0")
        #expect(try await service.identifier(searchedBy: "33451234567890123..7") == Self.order)
        #expect(try await owners(of: "3345-1234-5678-90124") == [bob])
        for text in ["3345-1234-5678-90125", "3345-1234-5678", "90123", "GPA.3345-1234-5678-9012"] {
            #expect(try await owners(of: text).isEmpty, "\(text)")
            #expect(try await service.identifier(searchedBy: text) == text)
        }
    }

    @Test func `an unclaimed purchase is found by each form of its whole order number`() async throws {
        _ = try await notify("1", statement(Self.order))
        for text in [Self.order, "#33451234567890123", "3345 1234 5678 90123..2"] {
            let identifier = try await service.identifier(searchedBy: text)
            let found = try await service.unclaimedPurchases(ofTransaction: identifier, after: nil, limit: 9)
            #expect(found.map(\.transactionIdentifier) == [Self.order], "\(text)")
            // The charge of a renewal has another date and price.
            #expect(found.first?.isCharge(named: text) == !text.hasSuffix("..2"), "\(text)")
        }
    }
}
