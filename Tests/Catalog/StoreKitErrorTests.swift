import Catalog
import Testing

@Suite struct StoreKitErrorTests {
    @Test func `every StoreKit error is found by its name`() {
        for code in SKErrorCode.allCases { #expect(SKErrorCode(name: code.name) == code) }
        #expect(SKErrorCode(name: "paymentCancelled")?.rawValue == 2)
        #expect(SKErrorCode(name: "nonsense") == nil)
    }
}
