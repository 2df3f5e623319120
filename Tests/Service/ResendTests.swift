import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// Requests that are sent again with nothing changed, and what `couldSucceedLater` said about them.
@Suite struct ResendTests {
    private let fixture: ServiceFixture
    private let issuer: TestIssuer

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        var limits = RequestLimits()
        limits.perUser = 1
        fixture = try await ServiceFixture(
            limits: limits, tokens: issuer.settings(keptIn: folder), keeping: folder)
    }

    private var now: Int64 { fixture.shop.clock.now().millisecondsSince1970 / 1000 }

    private func seconds(_ count: Int64) { fixture.shop.clock.advance(milliseconds: count * 1000) }

    /// Sends a request that is refused, lets time pass, and sends it again.
    private func resend(
        _ code: String, after wait: Int64, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil,
        key: String? = nil
    ) async throws {
        let first = try await fixture.send(method, path, body: body, key: key)
        let problem = try first.decoded(ProblemResource.self)
        #expect(problem.code == code && problem.couldSucceedLater, "\(problem.code)")
        seconds(wait)
        let second = try await fixture.send(method, path, body: body, key: key)
        #expect(second.status < 300, "\(code): \(String(decoding: second.body, as: UTF8.self))")
    }

    @Test func `time alone lets a request succeed that could succeed later`() async throws {
        let bought = try fixture.buy("sprout1")
        let proof = "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        seconds(-3600)
        try await resend("signedInFuture", after: 3600, .post, "/v1/users/alice/transactions", proof)

        let early = try issuer.token(at: now, claims: ["nbf": .integer(now + 1800), "exp": .integer(now + 7200)])
        try await resend("tokenInvalid", after: 1800, .get, "/v1/me/items", key: early)

        let token = try issuer.token(for: "bob", at: now)
        #expect(try await fixture.send(.get, "/v1/me/items", key: token).status == 200)
        try await resend("tooManyRequests", after: 60, .get, "/v1/me/items", key: token)

        let hook = try await fixture.send(.post, "/v1/webhooks", body: #"{"url":"https://a.example/hooks"}"#)
            .decoded(WebhookResource.self)
        let secret = "/v1/webhooks/\(hook.webhookId)/secret"
        let body = #"{"previousSecretSeconds":600}"#
        #expect(try await fixture.send(.post, secret, body: body).status == 200)
        try await resend("webhookSecretBeingReplaced", after: 600, .post, secret, body)

        let account = #"{"email":"mint@example.com","password":"correct horse"}"#
        let signedUp = try await fixture.send(.post, "/v1/accounts", body: account, key: "")
        #expect(signedUp.status == 201)
        let wrong = #"{"email":"mint@example.com","password":"battery staple"}"#
        var answer = try await fixture.send(.post, "/v1/sessions", body: wrong, key: "")
        while answer.code == "credentialsWrong" {
            answer = try await fixture.send(.post, "/v1/sessions", body: wrong, key: "")
        }
        try await resend("tooManyAttempts", after: 86_400, .post, "/v1/sessions", account, key: "")
    }

    @Test func `time changes nothing about a refusal that could not succeed later`() async throws {
        let bought = try fixture.buy("sprout1")
        let proof = try fixture.shop.store.signedTransaction(bought.identifier)
        let sprout = #"{"collection":"sprout","number":1}"#
        #expect(
            try await fixture.send(
                .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(proof)\"}"
            ).status == 200)
        let refused: [(String, HTTPRequest.Method, String, String?)] = [
            ("ownedByAnotherUser", .post, "/v1/users/bob/transactions", "{\"signedTransaction\":\"\(proof)\"}"),
            ("signatureInvalid", .post, "/v1/proofs/verify", "{\"proof\":\"\(proof.dropLast(6))AAAAAA\"}"),
            ("encodingInvalid", .post, "/v1/users/bob/receipts", #"{"receipt":"x"}"#),
            ("bodyInvalid", .post, "/v1/users/bob/receipts", "{}"),
            ("parameterInvalid", .get, "/v1/users/alice/items?colour=red", nil),
            ("userInvalid", .get, "/v1/users/a%20b/items", nil), ("notFound", .get, "/v1/nothing", nil),
            ("methodNotAllowed", .delete, "/v1/products", nil), ("productNotFound", .get, "/v1/products/none", nil),
            ("balanceUnknown", .post, "/v1/users/alice/balances/x/spendings", #"{"amount":1,"reason":"r"}"#),
            ("transactionUnknown", .get, "/v1/transactions/1", nil),
            ("transactionNotFound", .put, "/v1/users/alice/transactions/1/revocation", #"{"reason":"r"}"#),
            ("grantNotFound", .put, "/v1/users/alice/grants/x/revocation", #"{"reason":"r"}"#),
            (
                "endPassed", .post, "/v1/users/alice/grants",
                "{\"item\":\(sprout),\"reason\":\"r\",\"endsAt\":\"2020-01-01T00:00:00Z\"}"
            ),
            (
                "itemUnknown", .post, "/v1/users/alice/grants",
                #"{"item":{"collection":"none","number":1},"reason":"r"}"#
            ),
            ("unclaimedPurchaseNotFound", .post, "/v1/unclaimed/1/assignment", #"{"user":"bob","reason":"r"}"#),
            ("webhookNotFound", .get, "/v1/webhooks/x", nil), ("figureUnknown", .get, "/v1/figures/x", nil),
            ("exportUnknown", .get, "/v1/exports/x", nil), ("changeNotFound", .post, "/v1/catalog/changes/9/undo", nil),
            ("rightNotFound", .get, "/v1/catalog/rights/x", nil),
            ("offeringNotFound", .get, "/v1/catalog/offerings/x", nil),
            ("pictureNotFound", .get, "/v1/pictures/none/1", nil),
            ("userNotFound", .get, "/v1/users/nobody/export", nil),
        ]
        for wait: Int64 in [0, 7 * 86_400] {
            seconds(wait)
            for (code, method, path, body) in refused {
                let answer = try await fixture.send(method, path, body: body)
                let problem = try answer.decoded(ProblemResource.self)
                #expect(problem.code == code && !problem.couldSucceedLater, "\(problem.code) for \(code)")
            }
        }
    }
}
