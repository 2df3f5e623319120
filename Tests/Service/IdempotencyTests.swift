import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite struct IdempotencyTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func body(_ product: String) throws -> String {
        let bought = try fixture.buy(product)
        return "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
    }

    private func post(
        _ body: String,
        under idempotencyKey: String,
        user: String = "alice",
        key: String? = nil
    ) async throws -> ServiceFixture.Answer {
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        return try await fixture.send(
            .post, "/v1/users/\(user)/transactions", body: body, key: key, headers: [name: idempotencyKey])
    }

    private func isReplayed(_ answer: ServiceFixture.Answer) throws -> Bool {
        answer.headers[try #require(HTTPField.Name("Idempotent-Replayed"))] == "true"
    }

    @Test func `a retry of a request gets the same answer`() async throws {
        let body = try body("sprout1")
        let first = try await post(body, under: "k1")
        #expect(try first.decoded(Redemption.self).outcome == .granted)
        #expect(try !isReplayed(first))
        let again = try await post(body, under: "k1")
        #expect(again.body == first.body)
        #expect(again.status == 200)
        #expect(try isReplayed(again))
        #expect(try await post(body, under: "k2").decoded(Redemption.self).outcome == .unchanged)
    }

    @Test func `a redemption and its stored answer are one commit, and so are a grant and its answer`() async throws {
        let body = try body("sprout1")
        let commits = Atomic(0)
        let count = { commits.load(ordering: .sequentiallyConsistent) }
        fixture.ledger.observeCommits { _ in commits.add(1, ordering: .sequentiallyConsistent) }
        #expect(try await post(body, under: "k1").status == 200)
        await expectEventually { count() > 0 }
        #expect(count() == 1)
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let grant = "{\"item\":{\"collection\":\"sprout\",\"number\":3},\"reason\":\"Spring gift\"}"
        for _ in 0..<2 {
            let given = try await fixture.send(
                .post, "/v1/users/alice/grants", body: grant, headers: [name: "k2"])
            #expect(given.status == 201)
        }
        #expect(count() == 2)
    }

    @Test func `another request under the same idempotency key is refused`() async throws {
        let (one, two) = (try body("sprout1"), try body("sprout2"))
        _ = try await post(one, under: "k1")
        let other = try await post(two, under: "k1")
        #expect(other.status == 422)
        #expect(other.code == "idempotencyKeyReused")
        #expect(try await post(one, under: "k1", user: "bob").code == "idempotencyKeyReused")
        let list = try await fixture.send(.get, "/v1/users/alice/items").decoded(List<OwnedItemResource>.self)
        #expect(list.elements.count == 3)
    }

    @Test func `an idempotency key belongs to its caller`() async throws {
        let body = try body("sprout1")
        _ = try await post(body, under: "k1")
        let other = try await fixture.keys.make(name: "other", scopes: [.redeem]).key
        let answer = try await post(body, under: "k1", key: other)
        #expect(try answer.decoded(Redemption.self).outcome == .unchanged)
        #expect(try !isReplayed(answer))
    }

    @Test func `a refusal is stored and replayed too`() async throws {
        let body = try body("sprout1")
        _ = try await post(body, under: "k1")
        let refused = try await post(body, under: "k2", user: "bob")
        #expect(refused.code == "ownedByAnotherUser")
        let again = try await post(body, under: "k2", user: "bob")
        #expect(again.body == refused.body)
        #expect(again.status == 409)
        #expect(again.contentType == "application/problem+json")
        #expect(try isReplayed(again))
    }

    @Test func `an answer is stored for a day`() async throws {
        let body = try body("sprout1")
        _ = try await post(body, under: "k1")
        fixture.shop.clock.advance(milliseconds: 86_400_000)
        #expect(try isReplayed(try await post(body, under: "k1")))
        fixture.shop.clock.advance(milliseconds: 1)
        let late = try await post(body, under: "k1")
        #expect(try !isReplayed(late))
        #expect(try late.decoded(Redemption.self).outcome == .unchanged)
    }

    @Test func `concurrent requests with one idempotency key get one answer`() async throws {
        let body = try body("sprout1")
        let answers = try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let answer = try await post(body, under: "k1")
                    return (answer.status, answer.body)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.0 == 200 || $0.0 == 409 })
        #expect(Set(answers.filter { $0.0 == 200 }.map(\.1)).count == 1)
    }

    private func commits() async throws -> Int {
        let metrics = String(decoding: try await fixture.send(.get, "/metrics").body, as: UTF8.self)
        let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("till_commit_seconds_count ") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    /// With two commits, a crash between them would tell the app "unchanged" about a new grant.
    @Test func `a redemption and its stored answer are one commit, and a replay is none`() async throws {
        let body = try body("sprout1")
        let before = try await commits()
        _ = try await post(body, under: "k1")
        #expect(try await commits() == before + 1)
        #expect(try isReplayed(try await post(body, under: "k1")))
        #expect(try await commits() == before + 1)
    }

    @Test(arguments: ["", " ", "a b", "é", String(repeating: "k", count: 256)])
    func `an invalid idempotency key is refused`(key: String) async throws {
        let answer = try await post(try body("sprout1"), under: key)
        // White space around a header's value is not part of it.
        #expect(answer.code == "idempotencyKeyInvalid")
        #expect(answer.status == 400)
    }
}
