import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The profile and the wishes of an app's user.
@Suite struct ProfileRoutesTests {
    let fixture: ServiceFixture
    let issuer: TestIssuer
    /// The token of alice.
    let token: String

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        fixture = try await ServiceFixture(
            tokens: issuer.settings(keptIn: folder),
            keeping: folder)
        token = try issuer.token(at: fixture.shop.clock.now().secondsSince1970)
    }

    private struct Profile: Decodable, Equatable {
        let nickname: String?
        let chosen: [Item]

        init(_ nickname: String? = nil, sprout: Int = 0, background: Int = 0) {
            self.nickname = nickname
            chosen = [Item(collection: "background", number: background), Item(collection: "sprout", number: sprout)]
        }
    }

    private func profile(_ path: String = "/v1/me/profile", key: String? = nil) async throws -> Profile {
        try await fixture.send(.get, path, key: key ?? token).decoded()
    }

    private func change(_ body: String) async throws -> ServiceFixture.Answer {
        try await fixture.send(.patch, "/v1/me/profile", body: body, key: token)
    }

    private func redeem(_ product: String) async throws -> PaymentTransaction {
        let bought = try fixture.buy(product)
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let answer = try await fixture.send(
            .post, "/v1/me/transactions", body: "{\"signedTransaction\":\"\(signed)\"}", key: token)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
        return bought
    }

    /// The identifiers of alice's redeemed transactions.
    private func transactions() async throws -> [String] {
        let list = try await fixture.send(.get, "/v1/me/transactions", key: token).decoded(
            List<TransactionResource>.self)
        return list.elements.map(\.transactionId)
    }

    private let choice = #"{"chosen":[{"collection":"sprout","number":1}]}"#

    @Test func `only owned items can be chosen`() async throws {
        #expect(try await profile() == Profile())
        let refused = try await change(choice)
        #expect(refused.status == 409)
        #expect(refused.code == "itemNotOwned")
        _ = try await redeem("sprout1")
        #expect(try await change(choice).decoded(Profile.self) == Profile(sprout: 1))
        // The change is applied completely or not at all.
        let both =
            #"{"nickname":"Mint","chosen":[{"collection":"sprout","number":0},{"collection":"background","number":7}]}"#
        #expect(try await change(both).code == "itemNotOwned")
        #expect(try await profile() == Profile(sprout: 1))
        let free = #"{"chosen":[{"collection":"background","number":0}]}"#
        #expect(try await change(free).decoded(Profile.self) == Profile(sprout: 1))
        let unknown = #"{"chosen":[{"collection":"hat","number":0}]}"#
        #expect(try await change(unknown).code == "itemNotOwned")
    }

    @Test func `a refunded item is no longer chosen`() async throws {
        let bought = try await redeem("sprout1")
        _ = try await change(choice)
        let backEnd = "/v1/users/alice/profile?issuer=\(TestIssuer.issuer)"
        #expect(try await profile(backEnd, key: fixture.key) == Profile(sprout: 1))
        fixture.shop.clock.advance(milliseconds: 1000)
        try fixture.shop.store.refund(try await transactions()[0])
        let body = "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        let stated = try await fixture.send(.post, "/v1/me/transactions", body: body, key: token)
        #expect(try stated.decoded(Redemption.self).outcome == .revoked)
        #expect(try await profile() == Profile())
        #expect(try await profile(backEnd, key: fixture.key) == Profile())
    }

    @Test func `a nickname is checked and stored`() async throws {
        #expect(try await change(#"{"nickname":" 민트 "}"#).decoded(Profile.self) == Profile("민트"))
        #expect(try await change("{}").decoded(Profile.self) == Profile("민트"))
        #expect(try await change(#"{"nickname":"mint1"}"#).code == "nicknameHasDigit")
        #expect(try await change(#"{"nickname":7}"#).code == "bodyInvalid")
        #expect(try await profile() == Profile("민트"))
        #expect(try await change(#"{"nickname":null}"#).decoded(Profile.self) == Profile())
    }

    @Test(
        arguments: [
            ("민트", 204, nil), ("m", 422, "nicknameTooShort"), ("abcdefghij", 422, "nicknameTooLong"),
            ("mint1", 422, "nicknameHasDigit"), ("mi@t", 422, "nicknameCharacterForbidden"),
        ] as [(String, Int, String?)])
    func `a nickname is checked before the sign-up`(nickname: String, status: Int, code: String?) async throws {
        let body = "{\"nickname\":\"\(nickname)\"}"
        let answer = try await fixture.send(.post, "/v1/nicknames/check", body: body, key: "")
        #expect(answer.status == status)
        #expect(answer.code == code)
    }

    @Test(
        arguments: [
            #"{"chosen":{}}"#, #"{"chosen":[1]}"#, #"{"chosen":[{"collection":"sprout"}]}"#,
            #"{"chosen":[{"collection":"sprout","number":0},{"collection":"sprout","number":0}]}"#, "[]",
        ])
    func `an invalid change of the profile is refused`(body: String) async throws {
        #expect(try await change(body).code == "bodyInvalid")
    }

    private func products(_ path: String, key: String? = nil) async throws -> [ProductResource] {
        let list: List<ProductResource> = try await fixture.send(.get, path, key: key ?? token).decoded()
        return list.elements
    }

    private func wish(_ method: HTTPRequest.Method, _ product: String) async throws -> ServiceFixture.Answer {
        try await fixture.send(method, "/v1/me/wishes/com.memolease.sesac1.\(product)", key: token)
    }

    private func names(_ query: String = "") async throws -> [String] {
        try await products("/v1/me/wishes\(query)").map { String($0.productId.dropFirst(21)) }
    }

    /// A withdrawn product is in no list, even if a page has ended with it. The user can still remove it from the wishes.
    @Test func `a withdrawn product leaves the wish list`() async throws {
        for product in ["sprout1", "sprout2", "sprout3"] { #expect(try await wish(.put, product).status == 204) }
        let first = try await fixture.send(.get, "/v1/me/wishes?pageSize=1&sort=number", key: token)
        let cursor = try #require(try first.decoded(List<ProductResource>.self).nextCursor)
        let path = "/v1/catalog/products/com.memolease.sesac1.sprout1/withdrawal"
        #expect(try await fixture.send(.put, path).status == 200)
        #expect(try await names("?sort=number") == ["sprout2", "sprout3"])
        #expect(try await names("?sort=number&cursor=\(cursor)") == ["sprout2", "sprout3"])
        let refused = try await wish(.put, "sprout1")
        #expect((refused.status, refused.code) == (404, "productNotFound"))
        #expect(try await wish(.delete, "sprout1").status == 204)
        #expect(try await fixture.send(.delete, path).status == 200)
        #expect(try await names("?sort=number") == ["sprout2", "sprout3"])
    }

    @Test func `wishes are added, filtered and sorted`() async throws {
        #expect(try await names() == [])
        for product in ["sprout2", "background7", "sprout1"] {
            #expect(try await wish(.put, product).status == 204)
            fixture.shop.clock.advance(milliseconds: 1000)
        }
        // A second wish keeps the time of the first.
        #expect(try await wish(.put, "sprout2").status == 204)
        #expect(try await names() == ["sprout1", "background7", "sprout2"])
        #expect(try await names("?sort=wished") == ["sprout2", "background7", "sprout1"])
        #expect(try await names("?sort=-price").first == "background7")
        #expect(try await names("?sort=number") == ["background7", "sprout1", "sprout2"])
        #expect(try await names("?collection=background") == ["background7"])
        #expect(try await names("?search=%EB%AF%BC%ED%8A%B8") == ["sprout2"])
        #expect(try await names("?pageSize=1") == ["sprout1"])
        #expect(try await wish(.delete, "background7").status == 204)
        #expect(try await wish(.delete, "background7").status == 204)
        #expect(try await names() == ["sprout1", "sprout2"])
        #expect(try await wish(.put, "hat").code == "productNotFound")
        #expect(try await wish(.delete, "hat").status == 204)
        #expect(try await fixture.send(.get, "/v1/me/wishes?sort=taste", key: token).code == "parameterInvalid")
        let other = try issuer.token(for: "bob", at: fixture.shop.clock.now().secondsSince1970)
        #expect(try await products("/v1/me/wishes", key: other).isEmpty)
        let named = try await products("/v1/users/alice/wishes?issuer=\(TestIssuer.issuer)", key: fixture.key)
        #expect(named.count == 2)
    }

    /// A wish removed meanwhile does not shift the pages. Wishes within one second have an order.
    @Test(arguments: ["-wished", "price"]) func `a page of wishes follows the one before`(sort: String) async throws {
        for product in ["sprout1", "sprout4", "sprout2", "sprout3"] {
            #expect(try await wish(.put, product).status == 204)
            fixture.shop.clock.advance(milliseconds: 1)
        }
        let whole = try await names("?sort=\(sort)")
        if sort == "-wished" { #expect(whole == ["sprout3", "sprout2", "sprout4", "sprout1"]) }
        let path = "/v1/me/wishes?pageSize=2&sort=\(sort)"
        let first: List<ProductResource> = try await fixture.send(.get, path, key: token).decoded()
        #expect(first.elements.map(\.productId) == whole.prefix(2).map { "com.memolease.sesac1.\($0)" })
        #expect(try await wish(.delete, whole[1]).status == 204)
        let cursor = try #require(first.nextCursor)
        #expect(try await names("?pageSize=2&sort=\(sort)&cursor=\(cursor)") == Array(whole.suffix(2)))
    }

    @Test func `the catalog marks wished and owned products`() async throws {
        _ = try await redeem("sprout1")
        _ = try await wish(.put, "background3")
        let all = try await products("/v1/products?pageSize=100")
        #expect(all.filter { $0.isOwned == true }.map(\.productId) == ["com.memolease.sesac1.sprout1"])
        #expect(all.filter { $0.isWished == true }.map(\.productId) == ["com.memolease.sesac1.background3"])
        #expect(all.allSatisfy { ($0.wishedAt != nil) == ($0.isWished == true) })
        let one = try await fixture.send(.get, "/v1/products/com.memolease.sesac1.sprout1", key: token)
        #expect(try one.decoded(ProductResource.self).isOwned == true)
        #expect(one.headers[.cacheControl] == "private, no-cache")
        // A back end gets no user's data.
        let plain = try await products("/v1/products?pageSize=100", key: fixture.key)
        #expect(plain.allSatisfy { $0.isOwned == nil && $0.isWished == nil })
    }

    @Test func `erasure removes the profile`() async throws {
        _ = try await change(#"{"nickname":"민트"}"#)
        _ = try await wish(.put, "background3")
        let archive = try await fixture.send(.get, "/v1/me/export", key: token)
        let data = try archive.decoded(UserArchiveResource.self)
        #expect(data.nickname == "민트")
        #expect(data.wishes.count == 1)
        #expect(try await fixture.send(.post, "/v1/me/erasure", key: token).status == 204)
        #expect(try await profile() == Profile())
        #expect(try await names() == [])
        var text = Data()
        _ = try fixture.ledger.export { text.append($0) }
        #expect(!String(decoding: text, as: UTF8.self).contains("민트"))
    }
}
