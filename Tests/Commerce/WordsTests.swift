import Proofs
import Testing

@Suite struct WordsTests {
    @Test(arguments: [
        ("1200", Int64(1_200_000), "KRW 1,200"), ("0.99", 990, "KRW 0.99"), ("199.9", 199_900, "KRW 199.90"),
        ("1.005", 1005, "KRW 1.005"), ("0", 0, "KRW 0"), ("1234567", 1_234_567_000, "KRW 1,234,567"),
    ])
    func `prices are read in milliunits`(text: String, milliunits: Int64, formatted: String) throws {
        let price = try #require(Price(majorUnits: text, currency: "KRW"))
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

    @Test func `every StoreKit error is found by its name`() {
        for code in SKErrorCode.allCases { #expect(SKErrorCode(name: code.name) == code) }
        #expect(SKErrorCode(name: "paymentCancelled")?.rawValue == 2)
        #expect(SKErrorCode(name: "nonsense") == nil)
    }

    @Test(arguments: Realm.allCases, AppStoreEnvironment.allCases)
    func `a realm signs only for its own environments`(realm: Realm, environment: AppStoreEnvironment) {
        let expected: Origin? =
            switch (realm, environment) {
            case (.apple, .production): .appleProduction
            case (.apple, .sandbox): .appleSandbox
            case (.xcode, .xcode): .xcode
            case (.local, .production): .localProduction
            case (.local, .sandbox): .localSandbox
            default: nil
            }
        #expect(Origin(realm: realm, environment: environment) == expected)
    }

    @Test func `each storage fault has its own code`() {
        #expect(StorageFault(sqliteResultCode: 13, path: "x").code == "storageDiskFull")
        let codes = StorageFault.Cause.allCases.map { StorageFault(cause: $0, path: "x").code }
        #expect(Set(codes).count == codes.count)
    }

    @Test(arguments: [
        (0, "KRW 0"), (999_000, "KRW 999"), (1_000_000, "KRW 1,000"), (-1_234_567_890, "KRW -1,234,567.89"),
        (Int64.min, "KRW -9,223,372,036,854,775.808"),
    ])
    func `thousands of an amount are separated`(milliunits: Int64, formatted: String) {
        #expect(Price(milliunits: milliunits, currency: "KRW").formatted == formatted)
    }
}
