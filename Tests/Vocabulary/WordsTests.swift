import Proofs
import Testing
import Vocabulary

@Suite struct WordsTests {
    @Test(arguments: [
        ("1200", Int64(1_200_000), "USD 1,200.00"), ("0.99", 990, "USD 0.99"), ("199.9", 199_900, "USD 199.90"),
        ("1.005", 1005, "USD 1.01"), ("0", 0, "USD 0.00"), ("1234567", 1_234_567_000, "USD 1,234,567.00"),
    ])
    func `prices are read in milliunits`(text: String, milliunits: Int64, formatted: String) throws {
        let price = try #require(Price(majorUnits: text, currency: "USD"))
        #expect(price.milliunits == milliunits)
        #expect(price.formatted == formatted)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "1,200", "1e3", "free", "1.2345", "1234567890", "١٢"])
    func `other text is refused as a price`(text: String) {
        #expect(Price(majorUnits: text, currency: "KRW") == nil)
    }

    @Test(arguments: ["alice", "김새싹", "a@b.example", String(repeating: "x", count: 128)])
    func `users have names in any script`(name: String) {
        #expect(User(name: name)?.name == name)
    }

    @Test(arguments: ["", "a b", "a\n", "a\u{0}", "\u{202e}ab", "\u{fffd}", String(repeating: "x", count: 129)])
    func `ambiguous names are refused`(name: String) {
        #expect(User(name: name) == nil)
    }

    @Test func `each storage fault has its own code`() {
        #expect(StorageFault(sqliteResultCode: 13, path: "x").code == "storageDiskFull")
        let codes = StorageFault.Cause.allCases.map { StorageFault(cause: $0, path: "x").code }
        #expect(Set(codes).count == codes.count)
    }

    @Test(arguments: [
        (Int64(0), "KRW", "KRW 0"), (999_000, "KRW", "KRW 999"), (1_064_399_992, "KRW", "KRW 1,064,400"),
        (-1_234_567_890, "KRW", "-KRW 1,234,568"), (-400, "KRW", "KRW 0"), (4_990, "EUR", "EUR 4.99"),
        (-4_990, "EUR", "-EUR 4.99"), (4_000, "EUR", "EUR 4.00"), (120_500, "JPY", "JPY 121"),
        (1_005, "KWD", "KWD 1.005"), (1_050, "", "1.05"), (.max, "EUR", "EUR 9,223,372,036,854,775.81"),
        (.min, "EUR", "-EUR 9,223,372,036,854,775.81"),
    ])
    func `an amount has the decimal places of its currency`(milliunits: Int64, currency: String, text: String) {
        let price = Price(milliunits: milliunits, currency: currency)
        #expect(price.formatted == text)
    }

    @Test(arguments: [
        (Int64(0), "KRW", "₩0", "₩0"), (9_999_000, "KRW", "₩9,999", "₩9,999"),
        (1_064_399_992, "KRW", "₩1,064,400", "106만 4,400원"), (20_000_000, "KRW", "₩20,000", "2만 원"),
        (-123_450_006_000, "KRW", "-₩123,450,006", "-1억 2,345만 6원"), (4_990, "USD", "USD 4.99", "USD 4.99"),
        (9_999_600, "KRW", "₩10,000", "1만 원"), (708_600_000, "KRW", "₩708,600", "70만 8,600원"),
        (2_000_300_000_000_000, "KRW", "₩2,000,300,000,000", "2조 3억 원"),
    ])
    func `in Korean, won have their sign before digits, and a sum its words`(
        milliunits: Int64, currency: String, exact: String, sum: String
    ) {
        let price = Price(milliunits: milliunits, currency: currency)
        #expect(price.korean == exact)
        #expect(price.koreanSum == sum)
    }
}
