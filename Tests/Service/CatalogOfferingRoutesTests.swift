import Foundation
import HTTPSupport
import HTTPTypes
import Service
import TestSupport
import Testing

/// The administration of rights and offerings over HTTP, and its refusals.
@Suite struct CatalogOfferingRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private static let product = "com.memolease.sesac1.sprout1"
    private static let right = #"{"description":"All sprouts","items":[{"collection":"sprout","number":1}]}"#
    private static let offering =
        #"{"description":"Spring","packages":[{"identifier":"$rc_lifetime","productID":"\#(product)"}]}"#

    private func put(_ path: String, _ body: String, headers: HTTPFields = [:]) async throws -> ServiceFixture.Answer {
        try await fixture.send(.put, "/v1/catalog/\(path)", body: body, headers: headers)
    }

    private func get<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) async throws -> Value {
        try await fixture.send(.get, "/v1/\(path)").decoded(type)
    }

    @Test func `a right is created, given and removed`() async throws {
        #expect(try await fixture.send(.get, "/v1/catalog/rights/premium").code == "rightNotFound")
        let created = try await put("rights/premium", Self.right)
        #expect(created.status == 201)
        let resource = try created.decoded(CatalogRightResource.self)
        #expect((resource.name, resource.isAdministered) == ("premium", true))
        #expect(resource.definition["description"]?.text == "All sprouts")
        let again = try await put("rights/premium", Self.right)
        #expect((again.status, again.body) == (200, created.body))
        #expect(
            try await get("catalog/rights", as: List<CatalogRightResource>.self).elements.map(\.name) == ["premium"])

        let signed = try fixture.shop.store.signedTransaction(try fixture.buy("sprout1").identifier)
        let redeemed = try await fixture.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(redeemed.status == 200)
        let rights = try await get("users/alice/rights", as: List<UserRightResource>.self).elements
        #expect(rights.map(\.name) == ["premium"])
        #expect(rights.first?.productId == Self.product)

        #expect(try await fixture.send(.delete, "/v1/catalog/rights/premium").status == 204)
        #expect(try await fixture.send(.delete, "/v1/catalog/rights/premium").code == "rightNotFound")
        #expect(try await get("users/alice/rights", as: List<UserRightResource>.self).elements.isEmpty)
        let changes = try await get("catalog/changes?right=premium", as: List<CatalogChangeResource>.self).elements
        #expect(changes.map(\.kind) == ["reverted", "defined"])
        #expect(changes.map(\.right) == ["premium", "premium"])
        #expect(changes.allSatisfy { $0.productId == nil && $0.changedByName == "tests" })
        #expect(try await get("catalog/changes?product=premium", as: List<CatalogChangeResource>.self).elements.isEmpty)
    }

    @Test func `a name with other characters is percent-encoded`() async throws {
        #expect(try await put("rights/all%20%EC%83%88%EC%8B%B9", Self.right).status == 201)
        let rights = try await get("catalog/rights", as: List<CatalogRightResource>.self).elements
        #expect(rights.map(\.name) == ["all 새싹"])
        #expect(try await put("rights/a%2Fb", Self.right).status >= 400)
    }

    @Test func `an offering becomes the current one`() async throws {
        #expect(try await get("catalog/current-offering", as: CurrentOfferingResource.self).identifier == nil)
        #expect(try await put("offerings/spring", Self.offering).status == 201)
        #expect(try await get("offerings", as: OfferingList.self).currentOffering == nil)
        let current = try await put("current-offering", #"{"identifier":"spring"}"#)
        #expect(try current.decoded(CurrentOfferingResource.self).identifier == "spring")
        let list = try await get("offerings", as: OfferingList.self)
        #expect(list.currentOffering == "spring")
        #expect(list.offerings.first?.packages.map(\.identifier) == ["$rc_lifetime"])
        #expect(try await get("catalog/offerings/spring", as: CatalogOfferingResource.self).isCurrent)
        #expect(try await fixture.send(.delete, "/v1/catalog/offerings/spring").code == "offeringInvalid")
        #expect(try await fixture.send(.delete, "/v1/catalog/current-offering").status == 204)
        #expect(try await fixture.send(.delete, "/v1/catalog/offerings/spring").status == 204)
        #expect(try await put("current-offering", #"{"identifier":"spring"}"#).code == "offeringNotFound")
        let changes = try await get("catalog/changes", as: List<CatalogChangeResource>.self).elements
        #expect(changes.map(\.offering) == ["spring", nil, nil, "spring"])
        #expect(changes.map(\.isOfCurrentOffering) == [nil, true, true, nil])
        #expect(changes[2].definition?["identifier"]?.text == "spring")
    }

    @Test func `an invalid definition is refused`() async throws {
        for (path, body, code) in [
            ("rights/premium", #"{"itms":[]}"#, "rightInvalid"), ("rights/premium", "{}", "rightInvalid"),
            ("rights/premium", "[]", "bodyInvalid"),
            ("rights/premium", #"{"products":["moon"]}"#, "rightInvalid"),
            ("rights/premium", #"{"items":[{"collection":"moon","number":1}]}"#, "rightInvalid"),
            ("offerings/spring", #"{"packages":[]}"#, "offeringInvalid"),
            ("offerings/spring", Self.offering.replacing("sprout1", with: "sprout99"), "offeringInvalid"),
            ("current-offering", #"{"name":"spring"}"#, "bodyInvalid"),
        ] {
            #expect(try await put(path, body).code == code, "\(path) \(body)")
        }
        let detail = try await put("rights/premium", #"{"itms":[]}"#).decoded(ProblemResource.self).detail
        #expect(detail == "premium: itms: the key is unknown; the nearest known one is \"items\".")
        #expect(try await get("catalog/changes", as: List<CatalogChangeResource>.self).elements.isEmpty)
    }

    /// Two writers who have read the same version do not overwrite each other.
    @Test func `a change with an outdated ETag is refused`() async throws {
        let created = try await put("rights/premium", Self.right)
        let tag = try #require(created.headers[.eTag])
        let headers: HTTPFields = [.ifMatch: tag]
        let other = Self.right.replacing("\"number\":1", with: "\"number\":2")
        #expect(try await put("rights/premium", other, headers: headers).status == 200)
        let refused = try await put("rights/premium", Self.right, headers: headers)
        #expect((refused.status, refused.code) == (412, "definitionChanged"))
        let deleted = try await fixture.send(.delete, "/v1/catalog/rights/premium", headers: headers)
        #expect(deleted.code == "definitionChanged")
        #expect(try await put("rights/none", Self.right, headers: [.ifMatch: "*"]).code == "definitionChanged")
    }

    @Test func `a page leads to the next one`() async throws {
        for name in ["a", "b", "c"] { #expect(try await put("rights/\(name)", Self.right).status == 201) }
        let first = try await get("catalog/rights?pageSize=2", as: List<CatalogRightResource>.self)
        #expect(first.elements.map(\.name) == ["a", "b"])
        let cursor = try #require(first.nextCursor)
        let second = try await get("catalog/rights?pageSize=2&cursor=\(cursor)", as: List<CatalogRightResource>.self)
        #expect(second.elements.map(\.name) == ["c"])
        #expect(second.nextCursor == nil)
    }

    @Test func `a key without the scope is refused`() async throws {
        let reader = try await fixture.keys.make(name: "reader", scopes: [.read])
        let refused = try await fixture.send(.put, "/v1/catalog/rights/premium", body: Self.right, key: reader.key)
        #expect((refused.status, refused.code) == (403, "scopeMissing"))
        #expect(try await fixture.send(.get, "/v1/offerings", key: reader.key).status == 200)
    }
}
