import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The pictures of items, which need no key.
@Suite struct PictureRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    @Test func `every item has a picture that can be cached forever`() async throws {
        let listed: List<PictureResource> = try await fixture.send(.get, "/v1/pictures", key: "").decoded()
        let sprouts = (0...4).map { Item(collection: "sprout", number: $0) }
        let backgrounds = (0...7).map { Item(collection: "background", number: $0) }
        #expect(listed.elements.map(\.item) == backgrounds + sprouts)
        #expect(Set(listed.elements.map(\.picture)).count == 13)
        for entry in listed.elements {
            let address = entry.picture
            let answer = try await fixture.send(.get, address, key: "")
            #expect(answer.status == 200)
            #expect(answer.contentType == "image/svg+xml")
            #expect(answer.headers[.cacheControl] == "public, max-age=31536000, immutable")
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            let tag = try #require(answer.headers[.eTag])
            #expect(tag.hasPrefix("\""))
            let file = Project.products.appending(path: "Art/\(entry.item.collection)-\(entry.item.number).svg")
            #expect(try answer.body == Data(contentsOf: file))
            let again = try await fixture.send(.get, address, key: "", headers: [.ifNoneMatch: tag])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
    }

    @Test func `a product has the address of its picture`() async throws {
        let listed: List<PictureResource> = try await fixture.send(.get, "/v1/pictures", key: "").decoded()
        let product: ProductResource = try await fixture.send(.get, "/v1/products/com.memolease.sesac1.sprout4")
            .decoded()
        #expect(product.picture != nil)
        #expect(product.picture == listed.elements.first { $0.item == product.item }?.picture)
    }

    /// A picture without a version may change tomorrow. One with an unknown version may change at any moment.
    @Test(arguments: [("", "public, max-age=300"), ("?v=", "no-cache"), ("?v=0123456789abcdef", "no-cache")])
    func `a picture without its version is not cached forever`(query: String, isKept: String) async throws {
        let answer = try await fixture.send(.get, "/v1/pictures/sprout/1\(query)", key: "")
        #expect(answer.status == 200)
        #expect(answer.headers[.cacheControl] == isKept)
    }

    @Test(arguments: [
        "sprout/5", "sprout/-1", "sprout/one", "nothing/0", "..%2FItems.json/1", "%ff/1", "sprout/99999999999999999999",
    ])
    func `an item without a picture is not found`(path: String) async throws {
        let answer = try await fixture.send(.get, "/v1/pictures/\(path)", key: "")
        #expect(answer.status == 404)
        #expect(answer.code == "pictureNotFound")
    }
}
