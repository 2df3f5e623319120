import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// The rights of users and the offerings of apps, beside an app that has neither.
@Suite struct RightRoutesTests {
    let fixture: ServiceFixture
    let garden: TestGarden

    private static let offerings = """
        {"rights": [{"name": "premium", "items": [{"collection": "plus", "number": 2}]},
        {"name": "tools", "products": ["garden.gate"]}],
        "currentOffering": "standard", "offerings": [{"identifier": "standard", "description": "Plus",
        "metadata": {"rank": 1.50}, "packages": [{"identifier": "$rc_monthly", "productID": "garden.premium.monthly"},
        {"identifier": "gate", "productID": "garden.gate"}]}]}
        """

    init() async throws {
        garden = try TestGarden(start: ManualClock().now().rfc3339)
        let folder = garden.folder.folder("catalog")
        try Data(Self.offerings.utf8).write(to: folder.appending(path: Catalog.offeringsFile))
        fixture = try await ServiceFixture(selling: [App(try Catalog(folder: folder))])
    }

    private func redeem(_ product: String, for user: String) async throws {
        let signed = try garden.store.signedTransaction(try garden.buy(product).identifier)
        let answer = try await fixture.send(
            .post, "/v1/users/\(user)/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(answer.status == 200)
    }

    private func rights(_ user: String, _ query: String = "") async throws -> [UserRightResource] {
        try await fixture.send(.get, "/v1/users/\(user)/rights\(query)").decoded(List<UserRightResource>.self).elements
    }

    @Test func `a user has the rights of bought products and their items`() async throws {
        #expect(try await rights("alice").isEmpty)
        try await redeem("garden.premium.monthly", for: "alice")
        let premium = try #require(try await rights("alice").first)
        #expect((premium.name, premium.collection, premium.number) == ("premium", "plus", 2))
        #expect((premium.source, premium.productId) == ("purchase", "garden.premium.monthly"))
        #expect(premium.since == garden.store.now.rfc3339)
        #expect(premium.until != nil && premium.transactionId != nil)
        try await redeem("garden.gate", for: "alice")
        #expect(try await rights("alice").map(\.name) == ["premium", "tools"])
        #expect(try await rights("alice").map(\.until) == [premium.until, nil])
        #expect(try await rights("alice", "?app=com.memolease.sesac1").isEmpty)
        #expect(try await rights("alice", "?app=\(TestGarden.bundleIdentifier)").count == 2)
        #expect(try await rights("bob").isEmpty)
    }

    @Test func `a grant of the item gives the right until the team revokes it`() async throws {
        let grant = try await fixture.send(
            .post, "/v1/users/bob/grants", body: #"{"item":{"collection":"plus","number":2},"reason":"a prize"}"#
        ).decoded(GrantResource.self)
        let rights = try await rights("bob")
        #expect(rights.map(\.name) == ["premium"])
        #expect(rights.first?.grant == grant.grantId)
        let path = "/v1/users/bob/grants/\(grant.grantId)/revocation"
        #expect(try await fixture.send(.put, path, body: #"{"reason":"a mistake"}"#).status == 200)
        #expect(try await self.rights("bob").isEmpty)
    }

    @Test func `the offerings of an app have the packages that are for sale`() async throws {
        let path = "/v1/offerings?app=\(TestGarden.bundleIdentifier)"
        let answer = try await fixture.send(.get, path)
        let list = try answer.decoded(OfferingList.self)
        #expect(list.currentOffering == "standard")
        let offering = try #require(list.offerings.first)
        #expect((offering.identifier, offering.description) == ("standard", "Plus"))
        #expect(offering.packages.map(\.identifier) == ["$rc_monthly", "gate"])
        #expect(offering.packages.map(\.productId) == ["garden.premium.monthly", "garden.gate"])
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""metadata":{"rank":1.50}"#))
        let tag = try #require(answer.headers[.eTag])
        #expect(try await fixture.send(.get, path, headers: [.ifNoneMatch: tag]).status == 304)
        let withdrawal = "/v1/catalog/products/garden.gate/withdrawal?app=\(TestGarden.bundleIdentifier)"
        #expect(try await fixture.send(.put, withdrawal).status == 200)
        let after = try await fixture.send(.get, path, headers: [.ifNoneMatch: tag]).decoded(OfferingList.self)
        #expect(after.offerings.first?.packages.map(\.identifier) == ["$rc_monthly"])
    }

    @Test func `an app without offerings has an empty list`() async throws {
        let list = try await fixture.send(.get, "/v1/offerings?app=com.memolease.sesac1").decoded(OfferingList.self)
        #expect(list.currentOffering == nil)
        #expect(list.offerings.isEmpty)
        #expect(try await fixture.send(.get, "/v1/offerings").code == "appRequired")
    }
}
