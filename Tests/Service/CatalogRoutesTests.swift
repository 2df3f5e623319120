import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The administration of the catalog over HTTP, and its refusals.
@Suite struct CatalogRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private static let sprout1 = "com.memolease.sesac1.sprout1"
    private let moon = #"{"type":"NonConsumable","displayPrice":"2500","collection":"sprout","number":9}"#

    private func path(_ product: String, _ rest: String = "") -> String { "/v1/catalog/products/\(product)\(rest)" }

    private func productIdentifiers(_ query: String = "") async throws -> [String] {
        let list = try await fixture.send(.get, "/v1/products?pageSize=100\(query)").decoded(List<ProductResource>.self)
        return list.elements.map(\.productId)
    }

    /// The first sprout, as apps see it.
    private func product() async throws -> ProductResource {
        try await fixture.send(.get, "/v1/products/\(Self.sprout1)").decoded()
    }

    private func changes(_ query: String = "") async throws -> List<CatalogChangeResource> {
        try await fixture.send(.get, "/v1/catalog/changes\(query)").decoded()
    }

    private struct NotAnObject: Error {}

    private func upload(
        _ bytes: [UInt8],
        as type: String? = "image/png",
        named name: String = "picture",
        to product: String = sprout1
    ) async throws -> ServiceFixture.Answer {
        var body = Data("--b\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"p\"\r\n".utf8)
        if let type { body += Data("Content-Type: \(type)\r\n".utf8) }
        body += Data("\r\n".utf8) + bytes + Data("\r\n--b--\r\n".utf8)
        return try await fixture.send(
            .put, path(product, "/picture"), bytes: body,
            headers: [.contentType: "multipart/form-data; boundary=b"])
    }

    /// A picture with bytes that begin a boundary.
    private let png = TestPicture.png(rest: [0x0D, 0x0A, 0x2D, 0x2D])

    @Test func `a change is undone, also of a right`() async throws {
        #expect(try await fixture.send(.put, path("moon"), body: moon).status == 201)
        let cheaper = moon.replacing("2500", with: "1000")
        #expect(try await fixture.send(.put, path("moon"), body: cheaper).status == 200)
        func undo(_ number: Int) async throws -> ServiceFixture.Answer {
            try await fixture.send(.post, "/v1/catalog/changes/\(number)/undo")
        }
        #expect(try await undo(2).status == 204)
        #expect(
            try await fixture.send(.get, path("moon")).decoded(CatalogProductResource.self)
                .definition["displayPrice"]?.text == "2500")
        #expect(try await undo(1).status == 204)
        #expect(try await fixture.send(.get, path("moon")).code == "productNotFound")
        let right = #"{"products":["\#(Self.sprout1)"]}"#
        #expect(try await fixture.send(.put, "/v1/catalog/rights/member", body: right).status == 201)
        let number = try #require(try await changes("?right=member").elements.first).number
        #expect(try await undo(Int(number)).status == 204)
        #expect(try await fixture.send(.get, "/v1/catalog/rights/member").code == "rightNotFound")
        #expect(try await undo(99).code == "changeNotFound")
        #expect(try await upload(png).status == 200)
        let picture = try #require(try await changes().elements.first)
        #expect(try await undo(Int(picture.number)).code == "changeNotUndoable")
        #expect(try await fixture.send(.post, "/v1/catalog/changes/x/undo").code == "changeNotFound")
    }

    @Test func `a product is created and edited`() async throws {
        #expect(try await fixture.send(.get, path("moon")).code == "productNotFound")
        let created = try await fixture.send(.put, path("moon"), body: moon)
        #expect(created.status == 201)
        let answer = try created.decoded(CatalogProductResource.self)
        #expect(answer.isAdministered)
        #expect(!answer.isWithdrawn)
        #expect(answer.definition["productID"]?.text == "moon")
        #expect(try await productIdentifiers("&collection=sprout").contains("moon"))

        let again = try await fixture.send(.put, path("moon"), body: moon)
        #expect(again.status == 200)
        #expect(again.body == created.body)
        let cheaper = moon.replacing("2500", with: "1000")
        #expect(try await fixture.send(.put, path("moon"), body: cheaper).status == 200)
        let product = try await fixture.send(.get, "/v1/products/moon").decoded(ProductResource.self)
        #expect(product.price == 1_000_000)
        #expect(product.item?.number == 9)
        let grant = #"{"item":{"collection":"sprout","number":9},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/alice/grants", body: grant).status == 201)

        let list = try await changes("?product=moon").elements
        #expect(list.map(\.kind) == ["defined", "defined"])
        #expect(list.map { $0.definition?["displayPrice"]?.text } == ["1000", "2500"])
        #expect(Set(list.map(\.changedBy)).count == 1)
    }

    @Test func `changes name the API key that made them, also after the key was revoked`() async throws {
        let editor = try await fixture.keys.make(name: "editor", scopes: [.catalog])
        #expect(try await fixture.send(.put, path("moon"), body: moon, key: editor.key).status == 201)
        #expect(try await fixture.keys.revoke(editor.record.identifier))
        #expect(try await fixture.send(.put, path("moon", "/withdrawal")).status == 200)
        // A key that the ledger does not have.
        let change = CatalogChange(
            of: .product("moon"), .restoration, after: 2, in: fixture.shop.catalog.bundleIdentifier, by: "unknown",
            at: fixture.shop.clock.now())
        #expect(try await fixture.ledger.write { try $0.add(change, picture: nil, maximumPictures: 0) })
        let list = try await changes("?product=moon").elements
        #expect(list.map(\.changedByName) == [nil, "tests", "editor"])
        #expect(list.first?.changedBy == "unknown" && list.last?.changedBy == editor.record.identifier)
    }

    @Test func `an unknown key of a definition is refused with the nearest known one`() async throws {
        let refused = try await fixture.send(
            .put, path("moon"), body: moon.replacing("displayPrice", with: "dispalyPrice"))
        #expect((refused.status, refused.code) == (422, "productInvalid"))
        let detail = try refused.decoded(ProblemResource.self).detail
        #expect(detail.contains("dispalyPrice: the key is unknown; the nearest known one is \"displayPrice\"."))
        let marks = String(repeating: "\u{301}", count: 4000)
        let long = try await fixture.send(
            .put, path("moon"), body: moon.replacing("{", with: "{\"referenceName\":\"\(marks)\","))
        #expect((long.status, long.code) == (422, "productInvalid"))
    }

    /// Two writers who have read the same version do not overwrite each other.
    @Test func `a change with an outdated ETag is refused`() async throws {
        let created = try await fixture.send(.put, path("moon"), body: moon)
        let tag = try #require(created.headers[.eTag])
        #expect(try await fixture.send(.get, path("moon")).headers[.eTag] == tag)
        let (first, second) = (moon.replacing("2500", with: "1"), moon.replacing("2500", with: "2"))
        let headers: HTTPFields = [.ifMatch: tag]
        let changed = try await fixture.send(.put, path("moon"), body: first, headers: headers)
        #expect(changed.status == 200)
        let refused = try await fixture.send(.put, path("moon"), body: second, headers: headers)
        #expect((refused.status, refused.code) == (412, "productChanged"))
        let none = try await fixture.send(.put, path("sun"), body: second, headers: [.ifMatch: "*"])
        #expect((none.status, none.code) == (412, "productChanged"))
        let next = try #require(changed.headers[.eTag])
        let last = try await fixture.send(.put, path("moon"), body: second, headers: [.ifMatch: next])
        #expect(last.status == 200)
        #expect(try await fixture.send(.delete, path("moon"), headers: [.ifMatch: next]).code == "productChanged")
        let current = try #require(last.headers[.eTag])
        #expect(try await fixture.send(.delete, path("moon"), headers: [.ifMatch: current]).status == 204)
    }

    @Test func `an administered product is removed`() async throws {
        #expect(try await fixture.send(.put, path("moon"), body: moon).status == 201)
        #expect(try await fixture.send(.delete, path("moon")).status == 204)
        #expect(try await fixture.send(.delete, path("moon")).code == "productNotFound")
        #expect(try await !productIdentifiers().contains("moon"))
        #expect(try await fixture.send(.delete, path(Self.sprout1)).status == 204)
        #expect(try await changes().elements.map(\.kind) == ["reverted", "defined"])
        #expect(try await fixture.send(.get, "/v1/catalog/changes?product=%00").code == "parameterInvalid")
    }

    @Test func `a product of the files is edited in its place`() async throws {
        let before = try await productIdentifiers()
        let shown = try await fixture.send(.get, path(Self.sprout1)).decoded(CatalogProductResource.self)
        #expect(!shown.isAdministered)
        guard case .object(var definition) = shown.definition else { throw NotAnObject() }
        definition["displayPrice"] = .string("77")
        let body = String(decoding: try JSONEncoder().encode(definition), as: UTF8.self)
        #expect(try await fixture.send(.put, path(Self.sprout1), body: body).status == 200)
        #expect(try await productIdentifiers() == before)
        let product = try await product()
        #expect(product.price == 77_000)
        #expect(product.picture != nil)
    }

    @Test func `a withdrawn product stays owned and can be redeemed`() async throws {
        let (bought, late) = (try fixture.buy("sprout1"), try fixture.buy("background2", account: "bob"))
        func redeem(_ transaction: PaymentTransaction, for user: String) async throws -> Int {
            let proof = try fixture.shop.store.signedTransaction(transaction.identifier)
            return try await fixture.send(
                .post, "/v1/users/\(user)/transactions", body: "{\"signedTransaction\":\"\(proof)\"}"
            ).status
        }
        #expect(try await redeem(bought, for: "alice") == 200)
        let background2 = "com.memolease.sesac1.background2"
        for product in [Self.sprout1, background2] {
            let answer = try await fixture.send(.put, path(product, "/withdrawal"))
            #expect(answer.status == 200)
            #expect(try answer.decoded(CatalogProductResource.self).isWithdrawn)
        }
        #expect(try await !productIdentifiers().contains(Self.sprout1))
        #expect(try await product().isWithdrawn == true)
        let owned = try await fixture.send(.get, "/v1/users/alice/items").decoded(List<OwnedItemResource>.self)
        #expect(owned.elements.map(\.item).contains(Item(collection: "sprout", number: 1)))
        #expect(try await redeem(late, for: "bob") == 200)

        #expect(try await fixture.send(.delete, path(Self.sprout1, "/withdrawal")).status == 200)
        #expect(try await productIdentifiers().contains(Self.sprout1))
        #expect(try await !productIdentifiers().contains(background2))
        let refused = try await fixture.send(.put, path("none", "/withdrawal"))
        #expect((refused.status, refused.code) == (404, "productNotFound"))
    }

    @Test func `a picture is uploaded and served`() async throws {
        let item = "/v1/pictures/sprout/1"
        let before = try await fixture.send(.get, path(Self.sprout1)).decoded(CatalogProductResource.self).picture
        let answer = try await upload(png)
        #expect(answer.status == 200)
        let address = try #require(try answer.decoded(CatalogProductResource.self).picture)
        #expect(address != before)
        let picture = try await fixture.send(.get, address, key: "")
        #expect(picture.body == Data(png))
        #expect(picture.contentType == "image/png")
        #expect(picture.headers[.cacheControl]?.contains("immutable") == true)
        // The address of the previous picture is not valid for this one.
        let old = try await fixture.send(.get, try #require(before), key: "")
        #expect(old.headers[.cacheControl] == "no-cache")
        #expect(try await product().picture == address)
        let tag = try #require(picture.headers[.eTag])
        #expect(try await fixture.send(.get, item, key: "", headers: [.ifNoneMatch: tag]).status == 304)
        for type in [nil, "application/octet-stream", "image/png"] {
            #expect(try await upload(png, as: type).status == 200)
        }
        #expect(try await changes().elements.map(\.kind) == ["pictured"])
    }

    @Test func `an invalid picture is refused`() async throws {
        for (answer, status, code) in [
            (try await upload(Array("GIF89a".utf8), as: "image/gif"), 422, "pictureInvalid"),
            (try await upload(png, as: "image/svg+xml"), 422, "pictureInvalid"),
            (try await upload(png + [UInt8](repeating: 0, count: 256 * 1024)), 422, "pictureInvalid"),
            (try await upload(TestPicture.png(60_000, 60_000)), 422, "pictureInvalid"),
            (try await upload(Array(png.prefix(20))), 422, "pictureInvalid"),
            (try await upload([UInt8](repeating: 0, count: 300 * 1024)), 413, "bodyTooLarge"),
            (try await upload(png, named: "image"), 400, "formInvalid"),
            (try await upload(png, to: "none"), 404, "productNotFound"),
            (try await fixture.send(.put, path(Self.sprout1, "/picture"), body: "{}"), 415, "mediaTypeUnsupported"),
        ] {
            #expect((answer.status, answer.code) == (status, code))
        }
        let coins = #"{"type":"Consumable","displayPrice":"1","balance":"coins","amount":5}"#
        #expect(try await fixture.send(.put, path("coins"), body: coins).status == 201)
        let refused = try await upload(png, to: "coins")
        #expect((refused.status, refused.code) == (422, "pictureOfNoItem"))
        #expect(try await changes().elements.count == 1)
    }

    @Test(arguments: [
        ("moon", "{}", 422, "productInvalid"), ("moon", "[]", 400, "bodyInvalid"),
        ("moon", "{\"a\":\"\(String(repeating: "a", count: 49_152))\"}", 413, "bodyTooLarge"),
        (
            "moon", #"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":1}"#, 422,
            "productInvalid"
        ),
        (
            sprout1, #"{"type":"Consumable","displayPrice":"1","balance":"coins","amount":1}"#, 409,
            "productTypeFixed"
        ),
        (
            "a%20b", #"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":9}"#, 422,
            "productInvalid"
        ),
    ])
    func `an invalid definition is refused`(_ product: String, _ body: String, status: Int, code: String) async throws {
        let refused = try await fixture.send(.put, path(product), body: body)
        #expect((refused.status, refused.code) == (status, code))
        #expect(try await changes().elements.isEmpty)
    }

    @Test func `changing the catalog needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "other", scopes: [.read, .redeem, .grant]).key
        #expect(try await fixture.send(.put, path("moon"), body: moon, key: key).code == "scopeMissing")
        #expect(try await fixture.send(.get, path("moon"), key: "").code == "unauthenticated")
    }

    /// Twenty concurrent changes of the catalog. All are applied, one after the other.
    @Test func `concurrent changes are all applied`() async throws {
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 10..<30 {
                group.addTask {
                    let body = moon.replacing("9}", with: "\(number)}")
                    var status = 503
                    while status == 503 {
                        status = try await fixture.send(.put, path("moon\(number)"), body: body).status
                    }
                    return status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [Int](repeating: 201, count: 20))
        #expect(try await productIdentifiers().filter { $0.hasPrefix("moon") }.count == 20)
        let page = try await changes("?pageSize=20")
        #expect(page.elements.map(\.number) == (1...20).reversed().map { $0 })
        #expect(page.nextCursor == nil)
    }

    @Test func `products are listed in pages`() async throws {
        #expect(try await fixture.send(.put, path(Self.sprout1, "/withdrawal")).status == 200)
        var (seen, cursor): ([String], String?) = ([], "")
        while let last = cursor {
            let answer = try await fixture.send(
                .get, "/v1/catalog/products?pageSize=4" + (last.isEmpty ? "" : "&cursor=\(last)")
            ).decoded(List<CatalogProductResource>.self)
            seen += answer.elements.map(\.productId)
            cursor = answer.nextCursor
        }
        #expect(seen.count == 11)
        #expect(Set(seen).count == 11)
        #expect(seen.contains(Self.sprout1))
    }
}
