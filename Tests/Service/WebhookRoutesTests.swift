import Commerce
import Entitlements
import Foundation
import HTTPTypes
import TestSupport
import Testing
import Webhooks
import Wire

/// The administration of webhooks over HTTP, and its refusals.
@Suite struct WebhookRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func make(_ url: String = "https://example.com/hooks") async throws -> WebhookResource {
        let made = try await fixture.send(.post, "/v1/webhooks", body: "{\"url\":\"\(url)\"}")
        #expect(made.status == 201)
        #expect(made.headers[.cacheControl] == "no-store")
        return try made.decoded()
    }

    private func grant(to user: String = "alice") async throws {
        let body = #"{"item":{"collection":"sprout","number":1},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/\(user)/grants", body: body).status == 201)
    }

    @Test func `a webhook is created, shown, changed and deleted`() async throws {
        let made = try await make()
        let identifier = made.webhookId
        let secret = try #require(made.secret)
        #expect(secret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        let path = "/v1/webhooks/\(identifier)"
        let shown = try await fixture.send(.get, path).decoded(WebhookResource.self)
        #expect(shown.url == "https://example.com/hooks")
        #expect(shown.secret == nil)
        let list = try await fixture.send(.get, "/v1/webhooks").decoded(WebhookList.self)
        #expect(list.webhooks.map(\.webhookId) == [identifier])
        #expect(
            try await fixture.send(.get, path + "/secret").decoded([String: String].self) == ["secret": secret])
        let moved = try await fixture.send(.patch, path, body: #"{"url":"https://example.org/"}"#)
        #expect(try moved.decoded(WebhookResource.self).url == "https://example.org/")

        let replaced = try await fixture.send(.post, path + "/secret").decoded(WebhookSecretsResource.self)
        #expect(replaced.previousSecret == secret)
        #expect(replaced.previousSecretEndsAt == "2026-09-22T14:13:20Z")
        #expect(try await fixture.send(.post, path + "/secret", body: "{}").code == "webhookSecretBeingReplaced")
        let ended = try await fixture.send(.post, path + "/secret", body: #"{"previousSecretSeconds":0}"#)
        #expect(Set(try ended.decoded([String: String].self).keys) == ["secret"])
        #expect(try await fixture.send(.delete, path).status == 204)
        let changes = try await fixture.ledger.read { try $0.webhookChanges(of: identifier, limit: 9) }
        #expect(Set(changes.map(\.event)) == [.added, .urlChanged, .secretReplaced, .removed])
        #expect(changes.first { $0.event == .urlChanged }?.detail == "https://example.org/")
        #expect(Set(changes.compactMap { $0.event == .secretReplaced ? $0.detail : nil }) == ["86400", "0"])
        #expect(Set(changes.map(\.changedBy)) == [made.createdBy])
        for (method, rest) in [
            ("GET", ""), ("DELETE", ""), ("PATCH", ""), ("GET", "/secret"), ("POST", "/secret"),
            ("GET", "/deliveries"), ("POST", "/deliveries/replay"), ("POST", "/deliveries/m/replay"),
        ] {
            let answer = try await fixture.send(
                try #require(HTTPRequest.Method(method)), path + rest,
                body: method == "PATCH" ? #"{"url":"https://example.org/"}"# : method == "POST" ? "{}" : nil)
            #expect((answer.status, answer.code) == (404, "webhookNotFound"), "\(method) \(rest)")
        }
    }

    @Test(arguments: [
        ("http://example.com", "webhookURLInvalid"), ("https://u:p@example.com", "webhookURLInvalid"),
        ("https://localhost/x", "webhookAddressPrivate"), ("https://a.localhost", "webhookAddressPrivate"),
        ("https://127.0.0.1", "webhookAddressPrivate"), ("https://[::1]:8443/", "webhookAddressPrivate"),
        ("https://169.254.169.254/latest", "webhookAddressPrivate"), ("https://10.1.2.3", "webhookAddressPrivate"),
    ])
    func `forbidden addresses are refused`(_ url: String, code: String) async throws {
        let refused = try await fixture.send(.post, "/v1/webhooks", body: "{\"url\":\"\(url)\"}")
        #expect((refused.status, refused.code) == (422, code))
        let identifier = try await make().webhookId
        let moved = try await fixture.send(.patch, "/v1/webhooks/\(identifier)", body: "{\"url\":\"\(url)\"}")
        #expect((moved.status, moved.code) == (422, code))
    }

    @Test func `webhooks and their messages name the API keys`() async throws {
        let hooks = try await fixture.keys.make(name: "hooks", scopes: [.webhooks])
        let made = try await fixture.send(
            .post, "/v1/webhooks", body: #"{"url":"https://example.com/hooks"}"#, key: hooks.key
        ).decoded(WebhookResource.self)
        #expect((made.createdBy, made.createdByName) == (hooks.record.identifier, "hooks"))
        #expect(try await fixture.keys.revoke(hooks.record.identifier))
        let path = "/v1/webhooks/\(made.webhookId)"
        let list = try await fixture.send(.get, "/v1/webhooks").decoded(WebhookList.self)
        let shown = try await fixture.send(.get, path).decoded(WebhookResource.self)
        let moved = try await fixture.send(.patch, path, body: #"{"url":"https://example.org/"}"#)
            .decoded(WebhookResource.self)
        #expect((list.webhooks + [shown, moved]).map(\.createdByName) == ["hooks", "hooks", "hooks"])

        let desk = try await fixture.keys.make(name: "support desk", scopes: [.grant])
        let body = #"{"item":{"collection":"sprout","number":1},"reason":"a prize"}"#
        #expect(try await fixture.send(.post, "/v1/users/alice/grants", body: body, key: desk.key).status == 201)
        try await grant(to: "bob")
        // A redemption by a back end.
        let bought = try fixture.buy("sprout1")
        let proof = "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        #expect(try await fixture.send(.post, "/v1/users/carol/transactions", body: proof).status == 200)
        // A key that the ledger does not have.
        let unknown = Grant(
            identifier: "g", item: Item(collection: "sprout", number: 1), reason: "r", grantedBy: "unknown",
            grantedAt: fixture.shop.clock.now(), endsAt: nil)
        let dave = try #require(User(name: "dave"))
        try await fixture.ledger.write {
            _ = try $0.add(unknown, for: dave, keeping: nil, for: nil, deletingBefore: unknown.grantedAt)
        }
        let deliveries = try await fixture.send(.get, path + "/deliveries").decoded(WebhookDeliveryList.self).deliveries
        let messages = Dictionary(
            uniqueKeysWithValues: deliveries.compactMap(\.message?.data).map { ($0.user.name, $0) })
        #expect(messages.count == 4)
        #expect(messages["alice"]?.actor == "key \(desk.record.identifier)")
        #expect(messages["alice"]?.actorName == "support desk")
        #expect(messages["bob"]?.actorName == "tests" && messages["carol"]?.actorName == "tests")
        #expect(messages["dave"]?.actor == "key unknown" && messages["dave"]?.actorName == nil)
        let delivery = try #require(deliveries.first { $0.message?.data.user.name == "alice" })
        let replayed = try await fixture.send(.post, path + "/deliveries/\(delivery.messageId)/replay")
            .decoded(WebhookDeliveryResource.self)
        #expect(replayed.message?.data.actorName == "support desk")
    }

    @Test func `reading webhooks needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "other", scopes: [.read, .redeem, .grant, .export]).key
        #expect(try await fixture.send(.get, "/v1/webhooks", key: key).code == "scopeMissing")
        #expect(try await fixture.send(.get, "/v1/webhooks", key: "").code == "unauthenticated")
    }

    @Test func `at most ten webhooks exist`() async throws {
        for _ in 1...10 { _ = try await make() }
        let refused = try await fixture.send(.post, "/v1/webhooks", body: #"{"url":"https://example.com"}"#)
        #expect((refused.status, refused.code) == (409, "webhooksTooMany"))
    }

    @Test func `deliveries are listed by state, in pages`() async throws {
        let identifier = try await make().webhookId
        for number in 1...3 {
            try await grant(to: "user\(number)")
            fixture.shop.clock.advance(milliseconds: 1000)
        }
        let path = "/v1/webhooks/\(identifier)/deliveries"
        var (users, cursor): ([String], String?) = ([], "")
        while let last = cursor {
            let query = "?pageSize=2&state=pending" + (last.isEmpty ? "" : "&cursor=\(last)")
            let page = try await fixture.send(.get, path + query).decoded(WebhookDeliveryList.self)
            for delivery in page.deliveries {
                #expect(delivery.state == "pending")
                #expect(delivery.attempts == 0)
                users.append(delivery.message?.data.user.name ?? "")
            }
            cursor = page.nextCursor
        }
        #expect(users == ["user3", "user2", "user1"])
        let failed = try await fixture.send(.get, path + "?state=failed").decoded(WebhookDeliveryList.self)
        #expect(failed.deliveries.isEmpty)
        #expect(try await fixture.send(.get, path + "?state=dead").code == "parameterInvalid")
        #expect(try await fixture.send(.get, path + "?cursor=eA").code == "parameterInvalid")
        #expect(try await fixture.send(.post, path + "/replay").decoded([String: Int].self) == ["replayed": 0])
        let refused = try await fixture.send(.post, path + "/msg_1/replay")
        #expect((refused.status, refused.code) == (404, "webhookMessageNotFound"))
    }

    @Test(arguments: [#"{"previousSecretSeconds":-1}"#, #"{"previousSecretSeconds":604801}"#, "[]", "x"])
    func `an invalid body is refused`(_ body: String) async throws {
        let identifier = try await make().webhookId
        let refused = try await fixture.send(.post, "/v1/webhooks/\(identifier)/secret", body: body)
        #expect((refused.status, refused.code) == (400, "bodyInvalid"))
    }
}
