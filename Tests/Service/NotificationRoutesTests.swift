import AppStore
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service
import TestSupport
import Testing

/// Notifications of the App Store, and their outcomes.
@Suite struct NotificationRoutesTests {
    let fixture: ServiceFixture
    let chain: CertificateChain

    init() async throws {
        chain = try TestChains.ellipticCurve.get()
        fixture = try await ServiceFixture(trusting: chain)
    }

    private func payload(_ changes: [String: JSONValue?] = [:], signedSecondsLater seconds: Int64 = 0) -> JSONObject {
        let signedDate = TestProofs.signedAt.millisecondsSince1970 + seconds * 1000
        return TestProofs.transactionPayload(
            changing: changes.merging(["signedDate": .integer(signedDate)]) { $1 })
    }

    /// Sends a notification as the App Store does: without a key.
    private func notify(
        _ type: String,
        uuid: String = UUID().uuidString,
        about transaction: JSONObject?
    ) async throws -> ServiceFixture.Answer {
        let signed = try TestProofs.notification(
            type, uuid: uuid, about: transaction, with: chain.leaf.key, chain: chain.certificates)
        return try await fixture.send(
            .post, "/v1/notifications/apple", body: "{\"signedPayload\":\"\(signed)\"}", key: "")
    }

    private func items() async throws -> Int {
        let list = try await fixture.send(.get, "/v1/users/alice/items").decoded(List<OwnedItemResource>.self)
        // Everybody owns two of them.
        return list.elements.count - 2
    }

    @Test func `a refund revokes an item, and its reversal restores it`() async throws {
        let signed = String(
            decoding: try TestProofs.transaction(payload(), chain: chain), as: UTF8.self)
        _ = try await fixture.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(try await items() == 1)

        let refunded = payload(
            ["revocationDate": .integer(TestProofs.signedAt.millisecondsSince1970), "revocationReason": .integer(1)],
            signedSecondsLater: 1)
        let uuid = UUID().uuidString
        let first = try await notify("REFUND", uuid: uuid, about: refunded)
        #expect(first.status == 200)
        #expect(try first.decoded(NotificationReceipt.self).outcome == "revoked")
        let second = try await notify("REFUND", uuid: uuid, about: refunded)
        #expect(try second.decoded(NotificationReceipt.self).outcome == "duplicate")
        #expect(try await items() == 0)
        let list = try await fixture.send(.get, "/v1/users/alice/transactions").decoded(List<TransactionResource>.self)
        let transaction = try #require(list.elements.first)
        #expect(transaction.revocationReason == 1)
        #expect(transaction.revocationDate == TestProofs.signedAt.rfc3339)

        let reversed = try await notify("REFUND_REVERSED", about: payload(signedSecondsLater: 2))
        #expect(try reversed.decoded(NotificationReceipt.self).outcome == "granted")
        #expect(try await items() == 1)
    }

    @Test func `a purchase is granted to the user of its account token`() async throws {
        let account = try await fixture.send(.put, "/v1/users/alice/account-token").decoded(
            AppAccountTokenResource.self)
        let token = JSONValue.string(account.appAccountToken)
        let answer = try await notify("ONE_TIME_CHARGE", about: payload(["appAccountToken": token]))
        #expect(try answer.decoded(NotificationReceipt.self).outcome == "granted")
        #expect(try await items() == 1)
        let signed = String(
            decoding: try TestProofs.transaction(payload(["appAccountToken": token]), chain: chain), as: UTF8.self)
        let other = try await fixture.send(
            .post, "/v1/users/bob/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(other.status == 409)
        #expect(other.code == "appAccountTokenMismatch")
    }

    @Test(arguments: ["TEST", "CONSUMPTION_REQUEST", "SOMETHING_NEW"])
    func `other notifications are recorded`(type: String) async throws {
        let answer = try await notify(type, about: nil)
        #expect(answer.status == 200)
        #expect(try answer.decoded(NotificationReceipt.self).outcome == "recorded")
    }

    /// Without places for unknown chains, only a notification with a known chain passes.
    @Test func `a notification with a known chain bypasses the limit for unknown chains`() async throws {
        let full = try await ServiceFixture(trusting: chain, maximumUncachedChains: 0)
        func notify(_ uuid: String) async throws -> ServiceFixture.Answer {
            let signed = try TestProofs.notification(
                "TEST", uuid: uuid, about: nil, with: chain.leaf.key, chain: chain.certificates)
            return try await full.send(
                .post, "/v1/notifications/apple", body: "{\"signedPayload\":\"\(signed)\"}", key: "")
        }
        #expect(try await notify("1").status == 503)
        let proof = String(decoding: try TestProofs.transaction(payload(), chain: chain), as: UTF8.self)
        let redeemed = try await full.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(proof)\"}")
        #expect(redeemed.status == 200)
        #expect(try await notify("2").status == 200)
    }

    @Test func `an unsigned body and a proof of another kind are refused`() async throws {
        func send(_ payload: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(
                .post, "/v1/notifications/apple", body: "{\"signedPayload\":\"\(payload)\"}", key: "")
        }
        let stranger = try TestChains.make(name: "Stranger")
        let forged = try TestProofs.notification(
            "REFUND", uuid: "1", about: nil, with: stranger.leaf.key, chain: stranger.certificates)
        #expect(try await send(forged).code == "chainUntrusted")
        #expect(try await send("x").status == 422)
        let transaction = String(decoding: try TestProofs.transaction(payload(), chain: chain), as: UTF8.self)
        #expect(try await send(transaction).code == "noNotification")
        #expect(try await fixture.send(.post, "/v1/notifications/apple", body: "{}", key: "").status == 400)
    }
}
