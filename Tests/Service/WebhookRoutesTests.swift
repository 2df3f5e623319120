import Catalog
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

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
        let list = try await fixture.send(.get, "/v1/webhooks").decoded(List<WebhookResource>.self)
        #expect(list.elements.map(\.webhookId) == [identifier])
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
        // All of them are of one millisecond.
        #expect(changes.map(\.event) == [.removed, .secretReplaced, .secretReplaced, .urlChanged, .added])
        #expect(changes.map(\.detail) == [nil, "0", "86400", "https://example.org/", nil])
        #expect(Set(changes.map(\.changedBy)) == [made.createdBy])
        for (method, rest) in [
            ("GET", ""), ("DELETE", ""), ("PATCH", ""), ("GET", "/secret"), ("POST", "/secret"),
            ("GET", "/deliveries"), ("POST", "/deliveries/replay"), ("POST", "/deliveries/m/replay"),
            ("PUT", "/authorization"),
        ] {
            let answer = try await fixture.send(
                try #require(HTTPRequest.Method(method)), path + rest,
                body: ["PATCH": #"{"url":"https://example.org/"}"#, "POST": "{}", "PUT": #"{"authorization":null}"#][
                    method])
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
        let list = try await fixture.send(.get, "/v1/webhooks").decoded(List<WebhookResource>.self)
        let shown = try await fixture.send(.get, path).decoded(WebhookResource.self)
        let moved = try await fixture.send(.patch, path, body: #"{"url":"https://example.org/"}"#)
            .decoded(WebhookResource.self)
        #expect((list.elements + [shown, moved]).map(\.createdByName) == ["hooks", "hooks", "hooks"])

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
            _ = try $0.add(unknown, for: dave)
        }
        let deliveries = try await fixture.send(.get, path + "/deliveries").decoded(List<WebhookDeliveryResource>.self)
            .elements
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

    @Test func `a message has the state of the user as the routes of the user answer it`() async throws {
        let path = "/v1/webhooks/\(try await make().webhookId)/deliveries"
        let bought = try fixture.buy("sprout1")
        let proof = "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        #expect(try await fixture.send(.post, "/v1/users/alice/transactions", body: proof).status == 200)
        let delivery = try #require(
            try await fixture.send(.get, path).decoded(List<WebhookDeliveryResource>.self).elements.first)
        let message = try #require(delivery.message)
        #expect(message.type == "product.purchased" && message.data.app == "com.memolease.sesac1")
        let items = try await fixture.send(.get, "/v1/users/alice/items").decoded(JSONContent.self)
        #expect(message.data.items != nil && message.data.items == items["items"])
        let subscriptions = try await fixture.send(.get, "/v1/users/alice/subscriptions").decoded(JSONContent.self)
        #expect(message.data.subscriptions != nil && message.data.subscriptions == subscriptions["subscriptions"])
    }

    @Test func `a webhook is made and changed with an app and types`() async throws {
        let app = "com.memolease.sesac1"
        let body = #"{"url":"https://example.com","format":"slack","app":"\#(app)","types":["purchase.refunded"]}"#
        let made = try await fixture.send(.post, "/v1/webhooks", body: body).decoded(WebhookResource.self)
        #expect((made.format, made.app, made.types) == ("slack", app, ["purchase.refunded"]))
        let path = "/v1/webhooks/\(made.webhookId)"
        func change(_ body: String) async throws -> WebhookResource {
            try await fixture.send(.patch, path, body: body).decoded()
        }
        let more = try await change(#"{"types":["purchase.refunded","item.given"]}"#)
        #expect((more.app, more.types) == (app, ["item.given", "purchase.refunded"]))
        let moved = try await change(#"{"url":"https://example.org/","app":null}"#)
        #expect((moved.url, moved.app, moved.types?.count) == ("https://example.org/", nil, 2))
        #expect(try await change(#"{"types":null}"#).types == nil)
        let changes = try await fixture.ledger.read { try $0.webhookChanges(of: made.webhookId, limit: 9) }
        #expect(
            changes.map(\.event) == [
                .filterChanged, .secretReplaced, .filterChanged, .urlChanged, .filterChanged, .added,
            ])
        for (body, status, code) in [
            ("{}", 400, "bodyInvalid"), (#"{"types":[]}"#, 400, "bodyInvalid"), (#"{"types":[1]}"#, 400, "bodyInvalid"),
            (#"{"types":["RENEWAL"]}"#, 422, "webhookTypeUnknown"), (#"{"app":"x"}"#, 422, "webhookAppUnknown"),
            (#"{"url":"https://example.net/","app":"x"}"#, 422, "webhookAppUnknown"),
            (#"{"url":"https://example.net/","authorization":"Basic x","types":["x"]}"#, 422, "webhookTypeUnknown"),
            (#"{"app":null,"authorization":" "}"#, 400, "bodyInvalid"),
        ] {
            let refused = try await fixture.send(.patch, path, body: body)
            #expect((refused.status, refused.code) == (status, code), "\(body)")
        }
        let kept = try await fixture.send(.get, path).decoded(WebhookResource.self)
        #expect((kept.url, kept.app, kept.hasAuthorization) == ("https://example.org/", nil, false))
        #expect(try await fixture.ledger.read { try $0.webhookChanges(of: made.webhookId, limit: 9) } == changes)
        let whole = try await change(#"{"url":"https://example.net/","app":"\#(app)","authorization":"Basic x"}"#)
        #expect((whole.url, whole.app, whole.hasAuthorization) == ("https://example.net/", app, true))
        // The keys for an app can read the secrets.
        let secrets = try await fixture.send(.get, path + "/secret").decoded(WebhookSecretsResource.self)
        #expect(secrets.secret != made.secret && secrets.previousSecret == nil && secrets.authorization == "Basic x")
        #expect(try await !change(#"{"app":null}"#).hasAuthorization)
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
        let app = fixture.shop.catalog.bundleIdentifier
        let made = try await fixture.send(
            .post, "/v1/webhooks", body: #"{"url":"https://example.com","app":"\#(app)"}"#
        ).decoded(WebhookResource.self)
        let moved = try await fixture.send(.patch, "/v1/webhooks/\(made.webhookId)", body: #"{"app":null}"#)
        #expect((moved.status, moved.code) == (409, "webhooksTooMany"))
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
            let page = try await fixture.send(.get, path + query).decoded(List<WebhookDeliveryResource>.self)
            for delivery in page.elements {
                #expect(delivery.state == "pending")
                #expect(delivery.attempts == 0)
                users.append(delivery.message?.data.user.name ?? "")
            }
            cursor = page.nextCursor
        }
        #expect(users == ["user3", "user2", "user1"])
        let failed = try await fixture.send(.get, path + "?state=failed").decoded(List<WebhookDeliveryResource>.self)
        #expect(failed.elements.isEmpty)
        #expect(try await fixture.send(.get, path + "?state=dead").code == "parameterInvalid")
        #expect(try await fixture.send(.get, path + "?cursor=eA").code == "parameterInvalid")
        #expect(try await fixture.send(.post, path + "/replay").decoded([String: Int].self) == ["replayed": 0])
        let refused = try await fixture.send(.post, path + "/msg_1/replay")
        #expect((refused.status, refused.code) == (404, "webhookMessageNotFound"))
    }

    @Test func `messages of a user, or of a period, are listed and replayed`() async throws {
        let identifier = try await make().webhookId
        let start = fixture.shop.clock.now()
        for user in ["alice", "bob", "alice"] {
            try await grant(to: user)
            fixture.shop.clock.advance(milliseconds: 1000)
        }
        let path = "/v1/webhooks/\(identifier)/deliveries"
        let list = try await fixture.send(.get, path + "?user=alice&pageSize=1").decoded(
            List<WebhookDeliveryResource>.self)
        #expect(list.elements.map { $0.message?.data.user.name } == ["alice"])
        let cursor = try #require(list.nextCursor)
        let rest = try await fixture.send(.get, path + "?user=alice&pageSize=1&cursor=\(cursor)").decoded(
            List<WebhookDeliveryResource>.self)
        #expect(rest.elements.count == 1 && rest.nextCursor == nil)
        #expect(try await fixture.send(.get, path + "?user=alice&state=pending").code == "parameterInvalid")
        #expect(try await fixture.send(.get, path + "?user=alice&issuer=elsewhere").code == "parameterInvalid")
        #expect(try await fixture.send(.get, path + "?user=a%20b").code == "userInvalid")

        // Waiting messages stay as they are, so all are delivered first.
        let webhooks = try fixture.ledger.webhooks(of: Apps(App(fixture.shop.catalog)), clock: fixture.shop.clock)
        let due = try await webhooks.due(for: try await webhooks.endpoint(identifier), limit: 9)
        let leased = try await webhooks.lease(try #require(due))
        try await webhooks.record(leased.map { webhooks.result(of: $0, .answered(status: 204)) })
        func replay(_ body: String) async throws -> [String: Int] {
            try await fixture.send(.post, path + "/replay", body: body).decoded()
        }
        #expect(try await replay("{}") == ["replayed": 0])
        #expect(try await replay(#"{"user":"alice"}"#) == ["replayed": 2])
        let (from, until) = (start.rfc3339, start.adding(seconds: 2).rfc3339)
        #expect(try await replay(#"{"from":"\#(from)","until":"\#(until)"}"#) == ["replayed": 1])
        for body in [#"{"from":"\#(from)"}"#, #"{"from":"\#(until)","until":"\#(from)"}"#, #"{"issuer":"x"}"#] {
            #expect(try await fixture.send(.post, path + "/replay", body: body).code == "bodyInvalid")
        }
    }

    @Test func `a test message is sent once, and its answer is returned`() async throws {
        let identifier = try await make("https://hooks.invalid/till").webhookId
        let path = "/v1/webhooks/\(identifier)"
        let sent = try await fixture.send(.post, path + "/test").decoded(WebhookDeliveryResource.Attempt.self)
        #expect((sent.status, sent.error) == (nil, "hostUnknown"))
        let deliveries = try await fixture.send(.get, path + "/deliveries").decoded(List<WebhookDeliveryResource>.self)
        #expect(deliveries.elements.isEmpty)
        #expect(try await fixture.send(.post, "/v1/webhooks/wh_1/test").code == "webhookNotFound")
    }

    @Test func `a webhook has the format of its creation, and shows its authorization with the secret alone`()
        async throws
    {
        let body = #"{"url":"https://example.com/rc","format":"revenuecat","authorization":"Bearer rc-t0ken"}"#
        let answer = try await fixture.send(.post, "/v1/webhooks", body: body)
        let made = try answer.decoded(WebhookResource.self)
        #expect((answer.status, made.format, made.hasAuthorization) == (201, "revenuecat", true))
        let path = "/v1/webhooks/\(made.webhookId)"
        try await grant()
        let list = try await fixture.send(.get, path + "/deliveries")
        let delivery = try #require(try list.decoded(List<WebhookDeliveryResource>.self).elements.first)
        #expect(delivery.message == nil)
        let event = try #require(delivery.revenueCatMessage?["event"])
        #expect(event["type"]?.text == "NON_RENEWING_PURCHASE" && event["id"]?.text == delivery.messageId)
        let replayed = try await fixture.send(.post, path + "/deliveries/\(delivery.messageId)/replay")
        #expect(try replayed.decoded(WebhookDeliveryResource.self).revenueCatMessage?["event"] == event)
        let shown = try await fixture.send(.get, path)
        let all = try await fixture.send(.get, "/v1/webhooks")
        for answer in [answer, list, replayed, shown, all] {
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("t0ken"))
        }
        func authorization() async throws -> String? {
            try await fixture.send(.get, path + "/secret").decoded(WebhookSecretsResource.self).authorization
        }
        #expect(try await authorization() == "Bearer rc-t0ken")
        // A replaced secret and another address leave the rest.
        let replaced = try await fixture.send(.post, path + "/secret").decoded(WebhookSecretsResource.self)
        #expect(replaced.authorization == "Bearer rc-t0ken")
        let moved = try await fixture.send(.patch, path, body: #"{"url":"https://example.org/"}"#)
            .decoded(WebhookResource.self)
        #expect((moved.format, moved.hasAuthorization) == ("revenuecat", true))
        let other = try await fixture.send(.put, path + "/authorization", body: #"{"authorization":"Basic x"}"#)
        #expect(try other.decoded(WebhookResource.self).hasAuthorization)
        #expect(try await authorization() == "Basic x")
        let removed = try await fixture.send(.put, path + "/authorization", body: #"{"authorization":null}"#)
        #expect(try !removed.decoded(WebhookResource.self).hasAuthorization)
        #expect(try await authorization() == nil)
        let changes = try await fixture.ledger.read { try $0.webhookChanges(of: made.webhookId, limit: 9) }
        #expect(
            changes.compactMap { $0.event == .authorizationChanged ? $0.detail : nil }.prefix(2) == ["removed", "set"])
        #expect(try await make().format == "standard")
    }

    @Test(arguments: [
        ("POST", "", #"{"url":"https://example.com","format":"till"}"#),
        ("POST", "", #"{"url":"https://example.com","format":1}"#),
        ("POST", "", #"{"url":"https://example.com","authorization":" a"}"#),
        ("POST", "", #"{"url":"https://example.com","authorization":"a\nb"}"#),
        ("PUT", "/x/authorization", "{}"), ("PUT", "/x/authorization", #"{"authorization":""}"#),
        ("PUT", "/x/authorization", #"{"authorization":["a"]}"#),
    ])
    func `an invalid format or authorization is refused`(_ method: String, _ path: String, _ body: String) async throws
    {
        let refused = try await fixture.send(
            try #require(HTTPRequest.Method(method)), "/v1/webhooks" + path, body: body)
        #expect((refused.status, refused.code) == (400, "bodyInvalid"))
        #expect(try await fixture.ledger.read { try $0.webhookEndpoints() }.isEmpty)
    }

    @Test(arguments: [#"{"previousSecretSeconds":-1}"#, #"{"previousSecretSeconds":604801}"#, "[]", "x"])
    func `an invalid body is refused`(_ body: String) async throws {
        let identifier = try await make().webhookId
        let refused = try await fixture.send(.post, "/v1/webhooks/\(identifier)/secret", body: body)
        #expect((refused.status, refused.code) == (400, "bodyInvalid"))
    }
}
