import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The JSON of a product.
@Suite struct ProductResourceTests {
    private func resource(userState: (isOwned: Bool, wishedAt: Timestamp?)? = nil) throws -> ProductResource {
        let product = try #require(try TestShop().catalog.products.first)
        return ProductResource(product, benefit: nil, localization: product.localizations.first, userState: userState)
    }

    @Test func `a user's product says whether it is owned and since when it is wished`() throws {
        let product = try resource(userState: (isOwned: true, wishedAt: Timestamp(secondsSince1970: 1_790_000_000)))
        #expect((product.isOwned, product.isWished, product.wishedAt) == (true, true, "2026-09-21T14:13:20Z"))
    }

    @Test func `a product without a user has no fields about one`() throws {
        let product = try resource()
        #expect(product.isOwned == nil && product.isWished == nil && product.wishedAt == nil)
    }
}
