import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

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

    @Test func `the answer states which transactions may be finished`() async throws {
        let answer = try await redeem("sprout1", for: "alice")
        let lines = try answer.decoded(Redemption.self).transactions
        #expect(lines.count == 1)
        #expect(lines.first?.mayFinish == true)
    }

    @Test func `transactions are listed newest first`() async throws {
        for product in ["sprout1", "sprout2", "background1"] { _ = try await redeem(product, for: "alice") }
        let first = try await fixture.send(.get, "/v1/users/alice/transactions?pageSize=2")
        let shown = try first.decoded(List<TransactionResource>.self)
        #expect(
            shown.elements.map(\.productId) == [
                "com.memolease.sesac1.background1", "com.memolease.sesac1.sprout2",
            ])
        #expect(shown.elements.allSatisfy { $0.origin == .localSandbox })
        let facts = try #require(shown.elements.first).facts
        #expect(facts["environment"]?.text == "Sandbox")
        #expect(facts["type"]?.text == "Non-Consumable")
        #expect(facts["inAppOwnershipType"]?.text == "PURCHASED")
        #expect(facts["transactionReason"]?.text == "PURCHASE")
        #expect(facts["currency"]?.text == "KRW")
        #expect(facts["price"] != nil && facts["price"] != .integer(0))
        #expect(facts["storefront"]?.text == "KOR")
        #expect(facts["signedDate"]?.text != nil)
        #expect(facts["offerType"] == nil)
        #expect(!String(decoding: first.body, as: UTF8.self).contains("revocationDate"))
        let cursor = try #require(shown.nextCursor)
        let second = try await fixture.send(.get, "/v1/users/alice/transactions?pageSize=2&cursor=\(cursor)")
        #expect(try second.decoded(List<TransactionResource>.self).elements.count == 1)
        #expect(try second.decoded([String: JSONContent].self)["nextCursor"] == nil)
        #expect(try await fixture.send(.get, "/v1/users/alice/transactions?cursor=YQ").code == "parameterInvalid")
    }

    @Test func `a user has one account token`() async throws {
        func accountToken(of user: String) async throws -> String {
            try await fixture.send(.put, "/v1/users/\(user)/account-token").decoded(AppAccountTokenResource.self)
                .appAccountToken
        }
        #expect(try await fixture.send(.get, "/v1/users/alice").code == "userNotFound")
        let token = try await accountToken(of: "alice")
        #expect(
            try await fixture.send(.get, "/v1/users/alice").decoded(AppAccountTokenResource.self).appAccountToken
                == token)
        #expect(token == token.lowercased())
        #expect(try await accountToken(of: "alice") == token)
        let own = UUID().uuidString
        func put(_ user: String, _ body: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(.put, "/v1/users/\(user)", body: body)
        }
        #expect(try await put("alice", "{\"appAccountToken\":\"\(own)\"}").code == "appAccountTokenSet")
        #expect(try await put("bob", "{\"appAccountToken\":\"\(token)\"}").code == "appAccountTokenTaken")
        #expect(try await put("bob", "{\"appAccountToken\":\"\(own)\"}").status == 200)
        #expect(try await put("bob", "{\"appAccountToken\":\"\(own)\"}").status == 200)
        #expect(try await accountToken(of: "bob") == own.lowercased())
        for invalid in ["x", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            #expect(try await put("carol", "{\"appAccountToken\":\"\(invalid)\"}").code == "bodyInvalid")
        }
        #expect(try await put("carol", "{\"appAccountToken\":\"\(own)\",\"isCorrection\":1}").code == "bodyInvalid")
        #expect(try await put("carol", "{\"appAccountToken\":\"\(own)\",\"isCorrection\":true}").status == 200)
        #expect(try await accountToken(of: "carol") == own.lowercased())
        #expect(try await accountToken(of: "bob") != own.lowercased())
    }

    @Test(arguments: ["null", "Undefined", "0", "guest", "(null)", "00000000-0000-0000-0000-000000000000"])
    func `nothing is written for a name that stands for no user`(name: String) async throws {
        #expect(try await redeem("sprout1", for: name).code == "userInvalid")
        #expect(try await fixture.send(.put, "/v1/users/\(name)/account-token").code == "userInvalid")
        #expect(try await fixture.send(.get, "/v1/users/\(name)").code == "userNotFound")
        let token = UUID().uuidString
        let answer = try await fixture.send(.put, "/v1/users/\(name)", body: "{\"appAccountToken\":\"\(token)\"}")
        #expect(answer.code == "userInvalid")
        #expect(try await fixture.send(.get, "/v1/users/\(name)/items").status == 200)
    }

    @Test func `the longest id of an app's customer has routes of its own`() async throws {
        let customer = try #require(CustomerIdentifier(String(repeating: " ", count: CustomerIdentifier.maximumLength)))
        let name = customer.user.name.replacing("%", with: "%25")
        let token = try await fixture.send(.get, "/v1/users/\(name)a?issuer=customer")
        #expect(token.code == "userInvalid")
        let items = try await fixture.send(.get, "/v1/users/\(name)/items?issuer=customer")
        #expect(items.status == 200)
    }

    @Test func `verifying a proof redeems nothing`() async throws {
        let bought = try fixture.buy("sprout1")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let verified = try await fixture.send(.post, "/v1/proofs/verify", body: "{\"proof\":\"\(signed)\"}")
        let proof = try verified.decoded(ProofResource.self)
        #expect(proof.origin == .localSandbox)
        #expect(proof.purchases?.first?.productId == "com.memolease.sesac1.sprout1")
        let list = try await fixture.send(.get, "/v1/users/alice/transactions").decoded(List<TransactionResource>.self)
        #expect(list.elements.isEmpty)
        let refused = try await fixture.send(.post, "/v1/proofs/verify", body: "{\"proof\":\"\(signed.dropLast(4))\"}")
        #expect(refused.status == 422)
        #expect(refused.code == "signatureInvalid" || refused.code == "encodingInvalid")
    }
}
