import AppStore
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Grants and revocations by a team.
@Suite struct GrantRoutesTests {
    let fixture: ServiceFixture
    let chain: CertificateChain

    init() async throws {
        chain = try TestChains.ellipticCurve.get()
        fixture = try await ServiceFixture(trusting: chain)
    }

    private func grant(
        _ number: Int = 3,
        for user: String = "alice",
        endsAt: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> ServiceFixture.Answer {
        let end = endsAt.map { ",\"endsAt\":\"\($0)\"" } ?? ""
        let body = "{\"item\":{\"collection\":\"sprout\",\"number\":\(number)},\"reason\":\"Spring gift\"\(end)}"
        return try await fixture.send(.post, "/v1/users/\(user)/grants", body: body, headers: headers)
    }

    /// The items of a user, without those that everybody owns.
    private func items(of user: String = "alice") async throws -> [String] {
        let list = try await fixture.send(.get, "/v1/users/\(user)/items").decoded(List<OwnedItemResource>.self)
        return list.elements.map(\.item).filter { $0.number != 0 }.map(\.description)
    }

    @Test func `an item is granted and revoked with reasons`() async throws {
        let answer = try await grant()
        #expect(answer.status == 201)
        let given = try answer.decoded(GrantResource.self)
        let identifier = given.grantId
        #expect(given.reason == "Spring gift")
        #expect(given.grantedBy == String(fixture.key.split(separator: "_")[1]))
        let fields = try answer.decoded([String: JSONContent].self)
        #expect(fields["revocation"] == nil && fields["endsAt"] == nil)
        #expect(try await items() == ["sprout 3"])
        #expect(try await items(of: "bob") == [])

        let path = "/v1/users/alice/grants/\(identifier)/revocation"
        let revoked = try await fixture.send(.put, path, body: "{\"reason\":\"A mistake\"}")
        #expect(try revoked.decoded(GrantResource.self).revocation?.reason == "A mistake")
        #expect(try await items() == [])
        // The first revocation is kept.
        let again = try await fixture.send(.put, path, body: "{\"reason\":\"Another\"}")
        #expect(again.body == revoked.body)
        let list = try await fixture.send(.get, "/v1/users/alice/grants").decoded(List<GrantResource>.self)
        #expect(list.elements.count == 1)
        #expect(list.elements.first?.revocation?.reason == "A mistake")
        // Another user's grant is not found.
        let others = try await fixture.send(
            .put, "/v1/users/bob/grants/\(identifier)/revocation", body: "{\"reason\":\"x\"}")
        #expect(others.code == "grantNotFound")
    }

    @Test func `grants and revocations name the API key, also after the key was revoked`() async throws {
        let desk = try await fixture.keys.make(name: "support desk", scopes: [.grant])
        let path = "/v1/users/alice/grants"
        let body = #"{"item":{"collection":"sprout","number":3},"reason":"Sorry"}"#
        let given = try await fixture.send(.post, path, body: body, key: desk.key).decoded(GrantResource.self)
        #expect((given.grantedBy, given.grantedByName) == (desk.record.identifier, "support desk"))
        let revoked = try await fixture.send(
            .put, "\(path)/\(given.grantId)/revocation", body: #"{"reason":"A mistake"}"#
        ).decoded(GrantResource.self)
        #expect(revoked.revocation?.revokedByName == "tests")
        #expect(try await fixture.keys.revoke(desk.record.identifier))
        // A key that the ledger does not have.
        let grant = Grant(
            identifier: "g", item: Item(collection: "sprout", number: 1), reason: "r", grantedBy: "unknown",
            grantedAt: fixture.shop.clock.now(), endsAt: nil)
        let alice = try #require(User(name: "alice"))
        try await fixture.ledger.write {
            _ = try $0.add(grant, for: alice)
        }
        let grants = try await fixture.send(.get, path).decoded(List<GrantResource>.self).elements
        #expect(grants.map(\.grantedByName) == [nil, "support desk"])
        #expect(grants.first?.grantedBy == "unknown")
    }

    @Test func `a grant ends on its date`() async throws {
        let end = Timestamp(millisecondsSince1970: fixture.shop.clock.now().millisecondsSince1970 + 60_000).rfc3339
        let written = end.replacing("Z", with: ".999z")
        #expect(try await grant(endsAt: written).decoded(GrantResource.self).endsAt == end)
        fixture.shop.clock.advance(milliseconds: 59_999)
        #expect(try await items() == ["sprout 3"])
        fixture.shop.clock.advance(milliseconds: 1)
        #expect(try await items() == [])
        #expect(try await grant(endsAt: end).code == "endPassed")
    }

    @Test func `revoking a grant leaves a purchase of the same item`() async throws {
        let bought = try fixture.buy("sprout3")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        _ = try await fixture.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        let identifier = try await grant().decoded(GrantResource.self).grantId
        #expect(try await items() == ["sprout 3"])
        _ = try await fixture.send(
            .put, "/v1/users/alice/grants/\(identifier)/revocation", body: "{\"reason\":\"x\"}")
        #expect(try await items() == ["sprout 3"])
    }

    @Test func `a retry of a request grants once`() async throws {
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let first = try await grant(headers: [name: "gift-1"])
        let second = try await grant(headers: [name: "gift-1"])
        #expect(first.status == 201)
        #expect(second.status == 201)
        #expect(first.body == second.body)
        // For another user it is another request.
        #expect(try await grant(for: "bob", headers: [name: "gift-1"]).code == "idempotencyKeyReused")
        let list = try await fixture.send(.get, "/v1/users/alice/grants").decoded(List<GrantResource>.self)
        #expect(list.elements.count == 1)
    }

    @Test func `grants are listed in pages, newest first`() async throws {
        for number in 1...3 { #expect(try await grant(number).status == 201) }
        func page(_ query: String) async throws -> List<GrantResource> {
            try await fixture.send(.get, "/v1/users/alice/grants?pageSize=2\(query)").decoded()
        }
        let first = try await page("")
        #expect(first.elements.map(\.item.number) == [3, 2])
        let cursor = try #require(first.nextCursor)
        _ = try await grant(4)
        let second = try await page("&cursor=\(cursor)")
        #expect(second.elements.map(\.item.number) == [1])
        #expect(second.nextCursor == nil)
    }

    @Test(arguments: [
        ("{}", "bodyInvalid", "/item"),
        ("{\"item\":\"sprout 1\",\"reason\":\"x\"}", "bodyInvalid", "/item"),
        ("{\"item\":{\"number\":1},\"reason\":\"x\"}", "bodyInvalid", "/item/collection"),
        ("{\"item\":{\"collection\":\"sprout\"},\"reason\":\"x\"}", "bodyInvalid", "/item/number"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1.5},\"reason\":\"x\"}", "bodyInvalid", "/item/number"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":\"1\"},\"reason\":\"x\"}", "bodyInvalid", "/item/number"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1}}", "bodyInvalid", "/reason"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"\"}", "bodyInvalid", "/reason"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"a\\nb\"}", "bodyInvalid", "/reason"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"a\\u202eb\"}", "bodyInvalid", "/reason"),
        (
            "{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"a\(String(repeating: "\u{301}", count: 500))\"}",
            "bodyInvalid", "/reason"
        ),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"x\",\"endsAt\":1}", "bodyInvalid", "/endsAt"),
        (
            "{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"x\",\"endsAt\":\"soon\"}", "bodyInvalid",
            "/endsAt"
        ),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":99},\"reason\":\"x\"}", "itemUnknown", "sprout 99"),
        ("{\"item\":{\"collection\":\"sprout\",\"number\":-1},\"reason\":\"x\"}", "itemUnknown", "sprout -1"),
        ("{\"item\":{\"collection\":\"tree\",\"number\":1},\"reason\":\"x\"}", "itemUnknown", "tree 1"),
    ])
    func `an invalid field is named by its path`(body: String, code: String, part: String) async throws {
        let answer = try await fixture.send(.post, "/v1/users/alice/grants", body: body)
        #expect(answer.code == code)
        #expect(try answer.decoded(ProblemResource.self).detail.contains(part))
        #expect(try await items() == [])
    }

    @Test func `a team's revocation stays, regardless of the App Store`() async throws {
        func signed(secondsLater: Int64, changing changes: [String: Int64] = [:]) throws -> String {
            let date = TestProofs.signedAt.millisecondsSince1970 + secondsLater * 1000
            let payload = TestProofs.transactionPayload(
                changing: changes.mapValues { .integer($0) }.merging(["signedDate": .integer(date)]) { $1 })
            return String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
        }
        func redeem(_ proof: String) async throws -> Redemption {
            try await fixture.send(
                .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(proof)\"}"
            ).decoded()
        }
        let bought = try await redeem(signed(secondsLater: 0))
        #expect(bought.outcome == .granted)
        let identifier = try #require(bought.transactions.first).transactionId
        let owned = try await items()
        #expect(owned.count == 1)

        let path = "/v1/users/alice/transactions/\(identifier)/revocation"
        let revoked = try await fixture.send(.put, path, body: "{\"reason\":\"Stolen card\"}")
        #expect(try revoked.decoded(TransactionResource.self).revocation?.reason == "Stolen card")
        #expect(try revoked.decoded([String: JSONContent].self)["revocationDate"] == nil)
        #expect(try await items() == [])
        // The purchase is redeemed again, refunded, and the refund reversed. The team's revocation stays.
        #expect(try await redeem(signed(secondsLater: 0)).outcome == .revoked)
        let date = TestProofs.signedAt.millisecondsSince1970
        #expect(
            try await redeem(signed(secondsLater: 1, changing: ["revocationDate": date])).outcome == .revoked)
        #expect(try await redeem(signed(secondsLater: 2)).outcome == .revoked)
        // A transaction that restores the purchase is revoked as well.
        let original = ["originalTransactionId": JSONValue.string(identifier), "transactionId": "2000000000000077"]
        let date2 = TestProofs.signedAt.millisecondsSince1970 + 3000
        let restored = TestProofs.transactionPayload(
            changing: original.mapValues { $0 }.merging(["signedDate": .integer(date2)]) { $1 })
        let proof = String(decoding: try TestProofs.transaction(restored, chain: chain), as: UTF8.self)
        #expect(try await redeem(proof).outcome == .revoked)
        #expect(try await items() == [])
        let way = "/v1/users/alice/transactions/\(identifier)/reinstatement"
        let reason = "{\"reason\":\"Settled\"}"
        for (query, code) in [
            ("?origin=apple/Production", "transactionNotFound"), ("?origin=nowhere", "parameterInvalid"),
        ] {
            #expect(try await fixture.send(.put, way + query, body: reason).code == code)
        }
        #expect(try await fixture.send(.put, way, body: "{\"reason\":\"\"}").code == "bodyInvalid")
        let again = try await fixture.send(.put, way, body: reason)
        #expect(again.status == 200)
        #expect(try again.decoded([String: JSONContent].self)["revocation"] == nil)
        #expect(try await items() == owned)
        #expect(try await fixture.send(.get, "/v1/users/alice/transactions?cursor=x").code == "parameterInvalid")
        for change in ["revocation", "reinstatement"] {
            let none = try await fixture.send(
                .put, "/v1/users/bob/transactions/\(identifier)/\(change)", body: "{\"reason\":\"x\"}")
            #expect(none.code == "transactionNotFound")
        }
    }

    @Test func `a purchase is moved to a known user, with a reason`() async throws {
        let proof = String(
            decoding: try TestProofs.transaction(TestProofs.transactionPayload(), chain: chain), as: UTF8.self)
        let bought: Redemption = try await fixture.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(proof)\"}"
        ).decoded()
        let identifier = try #require(bought.transactions.first).transactionId
        let path = "/v1/users/alice/transactions/\(identifier)/owner"
        let body = #"{"user":"bob","reason":"A new phone"}"#
        // A misspelled name makes no user.
        #expect(try await fixture.send(.put, path, body: body).code == "userNotFound")
        _ = try await fixture.send(.put, "/v1/users/bob/account-token")
        #expect(try await fixture.send(.put, path, body: #"{"user":"bob"}"#).status != 200)
        let moved = try await fixture.send(.put, path, body: body)
        #expect(moved.status == 200)
        #expect(try moved.decoded(TransactionResource.self).transactionId == identifier)
        #expect(try await items() == [])
        let story = try await fixture.send(.get, "/v1/users/bob/story")
        #expect(String(decoding: story.body, as: UTF8.self).contains("The team moved purchase \(identifier)"))
        #expect(try await fixture.send(.put, path, body: body).code == "transactionNotFound")
    }

    @Test(arguments: ["/v1/users/x/transactions", "/v1/transactions"])
    func `the purchase of an erased user is moved without the name of its owner`(path: String) async throws {
        let proof = String(
            decoding: try TestProofs.transaction(TestProofs.transactionPayload(), chain: chain), as: UTF8.self)
        let body = "{\"signedTransaction\":\"\(proof)\"}"
        let bought: Redemption = try await fixture.send(.post, "/v1/users/alice/transactions", body: body).decoded()
        let identifier = try #require(bought.transactions.first).transactionId
        _ = try await fixture.send(.put, "/v1/users/bob/account-token")
        let (way, request) = ("\(path)/\(identifier)/owner", #"{"user":"bob","reason":"Alice is bob now"}"#)
        if path.contains("users") {
            // The name of another user moves no purchase of somebody who was not erased.
            #expect(try await fixture.send(.put, way, body: request).code == "transactionNotFound")
        }
        #expect(try await fixture.send(.post, "/v1/users/alice/erasure").status == 204)
        #expect(
            try await fixture.send(.post, "/v1/users/bob/transactions", body: body).code == "ownedByAnotherUser")
        let known = try await fixture.send(.get, "/v1/transactions/\(identifier)")
        let words = String(decoding: known.body, as: UTF8.self)
        #expect(words.contains("\"ownerErased\":true") && words.contains("\"ownerErasedBy\":\""))
        #expect(words.contains("\"ownerErasedAt\":\""))
        let moved = try await fixture.send(.put, way, body: request)
        #expect(moved.status == 200)
        #expect(try moved.decoded(TransactionResource.self).transactionId == identifier)
        #expect(try await !items(of: "bob").isEmpty)
        // The reason may name somebody, so the erased user's log leaves it out.
        let moves = try await fixture.ledger.read { transaction in
            try transaction.audit(of: try #require(User(name: "bob")))
        }.map(\.entry).filter { $0.event == .moved }
        #expect(moves.map(\.reason) == ["Alice is bob now"])
    }

    @Test func `a grant and its stored answer are one commit`() async throws {
        let ledger = try Ledger(file: fixture.shop.folder.file("own.sqlite"))
        let alice = try #require(User(name: "alice"))
        let moment = fixture.shop.clock.now()
        let key = IdempotencyKey(caller: "c", key: "k")
        func give(_ identifier: String) async throws -> KeptAnswer? {
            let grant = Grant(
                identifier: identifier, item: Item(collection: "sprout", number: 1), reason: "r", grantedBy: "c",
                grantedAt: moment, endsAt: nil)
            let answer = key.answer(Array(identifier.utf8), to: [UInt8](repeating: 1, count: 32))
            return try await ledger.write {
                try $0.add(grant, for: alice, keeping: answer)
            }
        }
        #expect(try await give("first") == nil)
        // A retry after a crash, or at another process, gets the first answer and grants nothing more.
        #expect(try await give("second")?.bytes == Array("first".utf8))
        #expect(
            try await ledger.read { try $0.grants(of: alice, before: nil, limit: 10) }.map(\.identifier) == ["first"])
    }

    @Test func `a grant does not set the account token`() async throws {
        _ = try await grant(for: "newcomer")
        let token = UUID().uuidString.lowercased()
        let set = try await fixture.send(.put, "/v1/users/newcomer", body: "{\"appAccountToken\":\"\(token)\"}")
        #expect(set.status == 200)
        let account = try await fixture.send(.get, "/v1/users/newcomer").decoded(AppAccountTokenResource.self)
        #expect(account.appAccountToken == token)
        #expect(
            try await fixture.send(
                .put, "/v1/users/newcomer", body: "{\"appAccountToken\":\"\(UUID().uuidString)\"}"
            ).code == "appAccountTokenSet")
    }

    @Test func `granting needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "shop", scopes: APIKeyScope.standard).key
        for (method, path) in [
            (HTTPRequest.Method.post, "grants"), (.put, "grants/1/revocation"), (.put, "transactions/1/revocation"),
            (.put, "transactions/1/reinstatement"),
        ] {
            let answer = try await fixture.send(method, "/v1/users/alice/\(path)", body: "{}", key: key)
            #expect(answer.code == "scopeMissing", "\(path)")
        }
        #expect(try await fixture.send(.get, "/v1/users/alice/grants", key: key).status == 200)
    }
}
