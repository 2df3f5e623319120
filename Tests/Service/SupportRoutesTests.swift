import AppStore
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The routes of the support team.
@Suite struct SupportRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    /// - Returns: The identifier of the transaction.
    private func redeem(_ product: String, for user: String, account: String) async throws -> String {
        let bought = try fixture.buy(product, account: account)
        _ = try await hand(bought, to: user)
        return try #require(bought.purchase).transactionIdentifier
    }

    private func hand(_ bought: PaymentTransaction, to user: String) async throws -> ServiceFixture.Answer {
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        return try await fixture.send(
            .post, "/v1/users/\(user)/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
    }

    private func notify() async throws {
        for notification in try fixture.shop.store.notifications() {
            let body = "{\"signedPayload\":\"\(notification.signedPayload)\"}"
            #expect(try await fixture.send(.post, "/v1/notifications/apple", body: body, key: "").status == 200)
        }
    }

    private func explanation(_ user: String, _ item: String) async throws -> ExplanationResource {
        try await fixture.send(.get, "/v1/users/\(user)/items/\(item)/explanation").decoded()
    }

    private func story(_ user: String) async throws -> [StoryEntryResource] {
        try await fixture.send(.get, "/v1/users/\(user)/story").decoded(List<StoryEntryResource>.self).elements
    }

    @Test func `users are found by a part of their name and by their account token, the newest first`() async throws {
        for user in ["alba", "alice", "bob"] { _ = try await redeem("sprout1", for: user, account: user) }
        let found = try await fixture.send(.get, "/v1/users?search=AL&pageSize=1").decoded(List<KnownUserResource>.self)
        #expect(found.elements.map(\.user.name) == ["alice"])
        let cursor = try #require(found.nextCursor)
        let next = try await fixture.send(.get, "/v1/users?search=AL&cursor=\(cursor)").decoded(
            List<KnownUserResource>.self)
        #expect(next.elements.map(\.user.name) == ["alba"] && next.nextCursor == nil)
        let token = try #require(next.elements.first).appAccountToken
        let named = try await fixture.send(.get, "/v1/users?search=\(token)").decoded(List<KnownUserResource>.self)
        #expect(named.elements.map(\.user.name) == ["alba"])
        let part = try await fixture.send(.get, "/v1/users?search=lic").decoded(List<KnownUserResource>.self)
        #expect(part.elements.map(\.user.name) == ["alice"])
        #expect(
            try await fixture.send(.get, "/v1/users?search=zoe").decoded(List<KnownUserResource>.self).elements.isEmpty)
        #expect(try await fixture.send(.get, "/v1/users").code == "parameterInvalid")
    }

    @Test func `users are found by their whole address, number or display name, and lists do not tell it`() async throws
    {
        let body = #"{"email":"Mint@example.com","password":"correct horse"}"#
        let account = try await fixture.send(.post, "/v1/accounts", body: body, key: "")
        #expect(account.status == 201)
        let attributes =
            #"{"attributes": [{"name": "$email", "value": "alice@example.com"}, {"name": "$displayName", "value": "Alice A."}]}"#
        #expect(try await fixture.send(.put, "/v1/users/alice/attributes", body: attributes).status == 204)
        func names(_ text: String) async throws -> [String] {
            let answer = try await fixture.send(.get, "/v1/users?search=\(text)")
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("example.com"))
            return try answer.decoded(List<KnownUserResource>.self).elements.map(\.user.name)
        }
        let entrance = try account.decoded(EntranceResource.self)
        #expect(try await names("mint%40EXAMPLE.com") == [entrance.account.accountId])
        for text in ["ALICE%40example.com", "alice%20a."] { #expect(try await names(text) == ["alice"], "\(text)") }
        _ = try await redeem("sprout2", for: "bob", account: "b")
        let day = CalendarDay(fixture.shop.clock.now())
        #expect(try await names("\(day)%20sprout2") == ["bob"])
        for text in ["mint%40example", "example.com", "nobody%40example.com", "%25", "\(day)%20sprout1"] {
            #expect(try await names(text).isEmpty, "\(text)")
        }
    }

    @Test func `a transaction leads to its owner and the statements about it`() async throws {
        let transaction = try await redeem("sprout1", for: "alice", account: "a")
        _ = try fixture.shop.store.advance(seconds: 1)
        try fixture.shop.store.refund(transaction)
        try await notify()
        let found = try await fixture.send(.get, "/v1/transactions/\(transaction)").decoded(PurchaseLookup.self)
        let purchase = try #require(found.purchases.first)
        #expect(found.purchases.count == 1 && found.unclaimed.isEmpty)
        #expect(purchase.owner?.name == "alice" && found.charges == [transaction])
        #expect(purchase.state == "refunded")
        #expect(purchase.items == [Item(collection: "sprout", number: 1)])
        #expect(purchase.transactions.map(\.transactionId) == [transaction])
        let refund = try #require(purchase.notifications.first { $0.type == "REFUND" })
        #expect(refund.outcome == "revoked")
        #expect(refund.content != nil)
        #expect(try await fixture.send(.get, "/v1/transactions/1").code == "transactionUnknown")
    }

    @Test func `a story lists the actions of the store, the user and the team`() async throws {
        let transaction = try await redeem("sprout1", for: "alice", account: "a")
        fixture.shop.clock.advance(milliseconds: 1000)
        let grant = #"{"item":{"collection":"sprout","number":3},"reason":"Spring gift"}"#
        #expect(try await fixture.send(.post, "/v1/users/alice/grants", body: grant).status == 201)
        fixture.shop.clock.advance(milliseconds: 1000)
        // Bob presents alice's purchase.
        let again = try #require(try fixture.shop.store.transactions(account: "a").first).transaction
        #expect(try await hand(again, to: "bob").code == "ownedByAnotherUser")
        fixture.shop.clock.advance(milliseconds: 1000)
        try fixture.shop.store.refund(transaction)
        try await notify()

        let alice = try await story("alice")
        #expect(alice.map(\.kind).filter { $0 != "notification" } == ["revoked", "itemGiven", "granted"])
        let given = try #require(alice.first { $0.kind == "itemGiven" })
        #expect(given.reason == "Spring gift")
        #expect(given.actor.hasPrefix("key ") && given.actorName == "tests")
        #expect(alice.allSatisfy { $0.actorName == nil || $0.actor.hasPrefix("key ") })
        #expect(alice.contains { $0.notification?.type == "REFUND" && $0.text.contains("REFUND") })
        #expect(alice.allSatisfy { $0.otherOwner == nil })
        let refused = try #require(try await story("bob").first)
        #expect(refused.kind == "refused")
        #expect(refused.cause != nil && refused.remedy != nil)
        #expect(refused.otherOwner?.name == "alice")
        // The pages have each entry once and in order.
        var (paged, cursor): ([String], String?) = ([], nil)
        repeat {
            let query = "pageSize=1" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try await fixture.send(.get, "/v1/users/alice/story?\(query)").decoded(
                List<StoryEntryResource>.self)
            #expect(page.elements.count == 1)
            paged += page.elements.map(\.text)
            cursor = page.nextCursor
        } while cursor != nil
        #expect(paged == alice.map(\.text))
        let month = try #require(alice.first).happenedAt.prefix(7)
        for (query, kinds) in [
            ("kind=team", ["itemGiven"]), ("kind=refunds", ["revoked"]), ("kind=purchases&month=\(month)", ["granted"]),
            ("kind=refusals", []), ("month=2020-01", []),
        ] as [(String, [String])] {
            let part = try await fixture.send(.get, "/v1/users/alice/story?\(query)").decoded(
                List<StoryEntryResource>.self)
            #expect(part.elements.map(\.kind) == kinds, "\(query)")
        }
        for invalid in ["kind=dogs", "month=2027-13", "month=March"] {
            #expect(try await fixture.send(.get, "/v1/users/alice/story?\(invalid)").code == "parameterInvalid")
        }
        #expect(try await story("nobody").isEmpty)
    }

    @Test func `an explanation states why a user owns an item or does not`() async throws {
        #expect(try await explanation("alice", "sprout/0").cause == "ownedByEverybody")
        #expect(try await explanation("alice", "sprout/1").cause == "neverBought")
        #expect(try await explanation("alice", "hat/1").cause == "notInCatalog")
        #expect(try await explanation("alice", "sprout/1").isUserUnknown == true)
        let transaction = try await redeem("sprout1", for: "alice", account: "a")
        let owned = try await explanation("alice", "sprout/1")
        #expect(owned.isOwned && owned.cause == "owned" && owned.reference == transaction)
        #expect(owned.isUserUnknown == nil)
        #expect(try await explanation("alice", "sprout/2").isUserUnknown == nil)
        let again = try #require(try fixture.shop.store.transactions(account: "a").first).transaction
        _ = try await hand(again, to: "bob")
        let refused = try await explanation("bob", "sprout/1")
        #expect(refused.cause == "refused" && refused.otherOwner?.name == "alice")
        _ = try fixture.shop.store.advance(seconds: 1)
        try fixture.shop.store.refund(transaction)
        try await notify()
        let refunded = try await explanation("alice", "sprout/1")
        #expect(!refunded.isOwned && refunded.cause == "refunded")
        #expect(refunded.remedy?.contains("Only Apple refunds") == true)
        #expect(try await fixture.send(.get, "/v1/users/alice/items/sprout/x/explanation").status == 404)
    }

    @Test func `an unclaimed purchase is listed, searched, and assigned with a reason, once`() async throws {
        let bought = try fixture.buy("sprout2", account: "a")
        let transaction = try #require(bought.purchase).transactionIdentifier
        try await notify()
        let listed = try await fixture.send(.get, "/v1/unclaimed").decoded(List<UnclaimedPurchaseResource>.self)
            .elements
        #expect(listed.map(\.transactionId) == [transaction])
        #expect(listed.first?.item == Item(collection: "sprout", number: 2))
        #expect(
            try await fixture.send(.get, "/v1/unclaimed?search=1").decoded(List<UnclaimedPurchaseResource>.self)
                .elements.isEmpty
        )
        #expect(try await explanation("alice", "sprout/2").cause == "unclaimed")
        let found = try await fixture.send(.get, "/v1/transactions/\(transaction)").decoded(PurchaseLookup.self)
        #expect(found.unclaimed.count == 1 && found.charges == [transaction])

        let path = "/v1/unclaimed/\(transaction)/assignment"
        #expect(try await fixture.send(.post, path, body: #"{"user":"alice"}"#).code == "bodyInvalid")
        let assigned = try await fixture.send(.post, path, body: #"{"user":"alice","reason":"Invoice 7"}"#)
        #expect(try assigned.decoded(AssignmentResource.self).result == "granted")
        let again = try await fixture.send(.post, path, body: #"{"user":"bob","reason":"Invoice 7"}"#)
        #expect(again.code == "unclaimedPurchaseNotFound")
        #expect(try await explanation("alice", "sprout/2").cause == "owned")
        #expect(try await story("alice").contains { $0.kind == "assigned" && $0.reason == "Invoice 7" })
    }

    @Test func `only keys with the scope may ask`() async throws {
        let read = try await fixture.keys.make(name: "shop", scopes: [.read, .redeem, .grant]).key
        for path in [
            "/v1/users?search=a", "/v1/transactions/1", "/v1/users/alice/story",
            "/v1/users/alice/items/sprout/1/explanation", "/v1/unclaimed",
        ] {
            #expect(try await fixture.send(.get, path, key: read).code == "scopeMissing", "\(path)")
        }
        let support = try await fixture.keys.make(name: "support", scopes: [.support]).key
        let body = #"{"user":"alice","reason":"x"}"#
        #expect(
            try await fixture.send(.post, "/v1/unclaimed/1/assignment", body: body, key: support).code == "scopeMissing"
        )
    }
}
