import Testing
import Vocabulary

@Suite struct ItemTests {
    @Test func `items are equal by the bytes of their collection, and their number`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(Item(collection: composed, number: 1) != Item(collection: decomposed, number: 1))
        #expect(Set([Item(collection: composed, number: 1), Item(collection: decomposed, number: 1)]).count == 2)
    }

    @Test func `items are ordered by the bytes of their collection, then by number`() {
        #expect(Item(collection: "a", number: 10) < Item(collection: "a", number: 11))
        #expect(Item(collection: "a", number: 11) < Item(collection: "b", number: 0))
    }
}
