import Commerce
import Foundation
import TestSupport
import Testing
import Wire

/// The JSON of a product.
@Suite struct ProductResourceTests {
    private func resource(userState: (isOwned: Bool, wishedAt: Timestamp?)? = nil) throws -> ProductResource {
        let product = try #require(try TestShop().catalog.products.first)
        return ProductResource(product, benefit: nil, localization: product.localizations.first, userState: userState)
    }

    @Test func `a client decodes the service's product`() throws {
        let written = try resource(userState: (isOwned: true, wishedAt: Timestamp(secondsSince1970: 1_790_000_000)))
        let read = try JSONDecoder().decode(ProductResource.self, from: try JSONEncoder().encode(written))
        #expect((read.productId, read.price, read.currency) == (written.productId, written.price, written.currency))
        #expect((read.isOwned, read.isWished, read.wishedAt) == (true, true, "2026-09-21T14:13:20Z"))
    }

    @Test func `a product without a user has no fields about one`() throws {
        let read = try resource()
        #expect(read.isOwned == nil && read.isWished == nil && read.wishedAt == nil)
    }
}
