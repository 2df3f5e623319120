import Foundation
import HTTPSupport
import Hummingbird
import TestSupport
import Testing

@Suite struct ProductRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func identifiers(_ query: String, language: String = "en") async throws -> [String] {
        let answer = try await fixture.send(
            .get, "/v1/products?\(query)", headers: [.acceptLanguage: language])
        let list = try answer.decoded(List<ProductResource>.self)
        return list.elements.map { $0.productId.replacing("com.memolease.sesac1.", with: "") }
    }

    @Test(arguments: [
        ("collection=sprout", ["sprout1", "sprout2", "sprout3", "sprout4"]),
        ("collection=sprout&sort=-number", ["sprout4", "sprout3", "sprout2", "sprout1"]),
        ("collection=sprout&sort=price", ["sprout1", "sprout2", "sprout3", "sprout4"]),
        ("collection=sprout&sort=-price", ["sprout2", "sprout3", "sprout4", "sprout1"]),
        ("search=STURDY", ["sprout1"]),
        ("search=nothing%20of%20the%20kind", []),
        ("collection=sprout&pageSize=2", ["sprout1", "sprout2"]),
    ])
    func `products are filtered and sorted`(query: String, expected: [String]) async throws {
        #expect(try await identifiers(query) == expected)
    }

    @Test(arguments: ["en", "ko", ""])
    func `a search finds identifiers and names in every language`(language: String) async throws {
        let sprouts = ["sprout1", "sprout2", "sprout3", "sprout4"]
        #expect(try await identifiers("search=sprout", language: language) == sprouts)
        #expect(try await identifiers("search=com.memolease.sesac1.Sprout2", language: language) == ["sprout2"])
        #expect(try await identifiers("search=sturdy", language: language) == ["sprout1"])
        #expect(try await identifiers("search=%ED%8A%BC%ED%8A%BC", language: language) == ["sprout1"])
    }

    @Test func `names are sorted in the requested language`() async throws {
        for language in ["en", "ko"] {
            let answer = try await fixture.send(
                .get, "/v1/products?sort=name", headers: [.acceptLanguage: language])
            let names = try answer.decoded(List<ProductResource>.self).elements.map(\.displayName)
            #expect(names.count == 11)
            #expect(names == names.sorted())
            #expect(answer.headers[.contentLanguage] == language)
        }
    }

    @Test(arguments: [
        ("ko", "ko"), ("en-GB, ko;q=0.9", "en"), ("fr, ko;q=0.2, en;q=0.8", "en"), ("ko-KR", "ko"), ("fr", "ko"),
        ("*", "ko"), ("ko;q=0, en", "en"), ("", "ko"), (";;,q=", "ko"),
    ])
    func `the language follows the header`(header: String, expected: String) async throws {
        let answer = try await fixture.send(
            .get, "/v1/products/com.memolease.sesac1.sprout1", headers: [.acceptLanguage: header])
        #expect(answer.headers[.contentLanguage] == expected)
        let product = try answer.decoded(ProductResource.self)
        #expect(product.displayName == (expected == "ko" ? "튼튼 새싹" : "Sturdy Sprout"))
    }

    @Test func `pages follow each other`() async throws {
        var found: [String] = []
        var cursor: String?
        repeat {
            let answer = try await fixture.send(
                .get, "/v1/products?pageSize=4&sort=-price" + (cursor.map { "&cursor=\($0)" } ?? ""))
            let page = try answer.decoded(List<ProductResource>.self)
            found += page.elements.map(\.productId)
            cursor = page.nextCursor
        } while cursor != nil && found.count < 20
        #expect(found.count == 11)
        #expect(Set(found).count == 11)
    }

    @Test(arguments: [
        "collection=none", "sort=color", "sort=", "pageSize=0", "pageSize=101", "pageSize=x", "cursor=!", "cursor=YQ",
        "search=",
    ])
    func `an invalid parameter is refused`(query: String) async throws {
        let answer = try await fixture.send(.get, "/v1/products?\(query)")
        #expect(answer.status == 400)
        #expect(answer.code == "parameterInvalid")
    }

    @Test func `a current copy is not sent again`() async throws {
        let path = "/v1/products/com.memolease.sesac1.sprout1"
        let first = try await fixture.send(.get, path)
        let tag = try #require(first.headers[.eTag])
        for known in [tag, "\"other\", \(tag)", "W/\(tag)", "*"] {
            let again = try await fixture.send(.get, path, headers: [.ifNoneMatch: known])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again.headers[.eTag] == tag)
        }
        #expect(try await fixture.send(.get, path, headers: [.ifNoneMatch: "\"other\""]).status == 200)
        let other = try await fixture.send(.get, path, headers: [.ifNoneMatch: tag, .acceptLanguage: "en"])
        #expect(other.status == 200)
        #expect(try await fixture.send(.get, "/v1/products/none").code == "productNotFound")
    }
}
