import Entitlements
import Features
import Proofs
import Testing

/// The positions of exports; `ExportLedgerTests` has their text.
@Suite struct ExportPositionTests {
    @Test(arguments: ["1790000000000 7", "0 -9223372036854775808"])
    func `a position is read as it was written`(text: String) throws {
        #expect(try #require(ExportPosition(text)).description == text)
    }

    @Test(arguments: ["", "1", "1 2 3", "a 1", "1 a", "9223372036854775808 1"])
    func `an invalid text is no position`(text: String) {
        #expect(ExportPosition(text) == nil)
    }
}
