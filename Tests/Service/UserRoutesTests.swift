import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Hummingbird
import Service
import StoreHTTP
import Testing
import TestSupport
import Wire

@Suite struct UserRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func redeem(_ product: String, for user: String) async throws -> ServiceFixture.Answer {
        let bought = try fixture.buy(product)
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        return try await fixture.send(
            .post, "/v1/users/\(user)/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
    }

    @Test func theAnswerSaysWhatMayBeFinished() async throws {
        let answer = try await redeem("sprout1", for: "alice")
        let lines = try #require(try answer.object()["transactions"] as? [[String: Any]])
        #expect(lines.count == 1)
        #expect(lines.first?["mayFinish"] as? Bool == true)
    }

    @Test func transactionsAreListedNewestFirst() async throws {
        for product in ["sprout1", "sprout2", "background1"] { _ = try await redeem(product, for: "alice") }
        let first = try await fixture.send(.get, "/v1/users/alice/transactions?pageSize=2").object()
        let shown = try #require(first["transactions"] as? [[String: Any]])
        #expect(
            shown.map { $0["productId"] as? String } == [
                "com.memolease.sesac1.background1", "com.memolease.sesac1.sprout2",
            ])
        #expect(shown.allSatisfy { $0["origin"] as? String == "local/Sandbox" && $0["revocationDate"] == nil })
        let cursor = try #require(first["nextCursor"] as? String)
        let second = try await fixture.send(.get, "/v1/users/alice/transactions?pageSize=2&cursor=\(cursor)").object()
        #expect((second["transactions"] as? [[String: Any]])?.count == 1)
        #expect(second["nextCursor"] == nil)
        #expect(try await fixture.send(.get, "/v1/users/alice/transactions?cursor=YQ").code == "parameterInvalid")
    }

    @Test func aUserHasOneAccountToken() async throws {
        let made = try await fixture.send(.get, "/v1/users/alice").object()["appAccountToken"] as? String
        let token = try #require(made)
        #expect(token == token.lowercased())
        #expect(try await fixture.send(.get, "/v1/users/alice").object()["appAccountToken"] as? String == token)
        let own = UUID().uuidString
        func put(_ user: String, _ body: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(.put, "/v1/users/\(user)", body: body)
        }
        #expect(try await put("alice", "{\"appAccountToken\":\"\(own)\"}").code == "appAccountTokenSet")
        #expect(try await put("bob", "{\"appAccountToken\":\"\(token)\"}").code == "appAccountTokenTaken")
        #expect(try await put("bob", "{\"appAccountToken\":\"\(own)\"}").status == 200)
        #expect(try await put("bob", "{\"appAccountToken\":\"\(own)\"}").status == 200)
        #expect(
            try await fixture.send(.get, "/v1/users/bob").object()["appAccountToken"] as? String == own.lowercased())
        #expect(try await put("carol", "{\"appAccountToken\":\"x\"}").code == "bodyInvalid")
    }

    @Test func verifyingRedeemsNothing() async throws {
        let bought = try fixture.buy("sprout1")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let verdict = try await fixture.send(.post, "/v1/proofs/verify", body: "{\"proof\":\"\(signed)\"}").object()
        #expect(verdict["origin"] as? String == "local/Sandbox")
        #expect(
            (verdict["purchases"] as? [[String: Any]])?.first?["productId"] as? String == "com.memolease.sesac1.sprout1"
        )
        let list = try await fixture.send(.get, "/v1/users/alice/transactions").object()
        #expect((list["transactions"] as? [Any])?.isEmpty == true)
        let refused = try await fixture.send(.post, "/v1/proofs/verify", body: "{\"proof\":\"\(signed.dropLast(4))\"}")
        #expect(refused.status == 422)
        #expect(refused.code == "signatureInvalid" || refused.code == "encodingInvalid")
    }
}
