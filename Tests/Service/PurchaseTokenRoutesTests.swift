import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchase tokens, redeemed over HTTP by a service that asks a local Google Play over a socket.
@Suite struct PurchaseTokenRoutesTests {
    @Test func `a token is redeemed by one user, with what Google Play states of it`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let gate = try fixture.buy("garden.gate")
            let first = try await service.redeem(gate.token)
            #expect(first.status == 200)
            #expect(try first.redemption.outcome == .granted)
            let name = try await service.name(of: gate.token)
            #expect(try first.redemption.transactions.map(\.transactionId) == [name])
            #expect(try await service.items("gate") == [1])
            #expect(try await service.redeem(gate.token).redemption.outcome == .unchanged)
            let other = try await service.redeem(gate.token, for: "bob")
            #expect(other.status == 409 && other.code == "ownedByAnotherUser")
            let transaction = try #require(try await service.transactions().first)
            #expect(transaction.origin == .localPlayProduction)
            #expect(transaction.facts["orderId"] == gate.orderId.map { .string($0) })
            #expect(transaction.facts["price"] != nil && transaction.facts["storefront"] != nil)
            // The signed form of the same purchase is the same transaction.
            let signed = try fixture.play.perform { try $0.signed($0.purchase(gate.number)) }
            #expect(try await service.redeem(signed).redemption.outcome == .unchanged)
            #expect(try await service.transactions().count == 1)
        }
    }

    @Test func `a product bought with Play Points tells what was paid, where, and by which offer`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let points = try JSONDecoder().decode(
                Order.PointsDetails.self,
                from: Data(
                    #"{"pointsSpent":"500","pointsCouponValue":{"currencyCode":"USD","units":"5"}}"#.utf8))
            let gate = try fixture.buy("garden.gate") {
                ($0.pointsDetails, $0.salesChannel, $0.offerToken) = (points, .nativePC, "AbC-_")
            }
            let coupon = try #require(points.pointsCouponValue?.price.milliunits)
            let paid = gate.terms.price.price.milliunits - coupon
            #expect(coupon == 5000 && paid > 0)
            #expect(try await service.redeem(gate.token).redemption.outcome == .granted)
            #expect(try await service.items("gate") == [1])
            let facts = try #require(try await service.transactions().first).facts
            #expect(facts["price"] == .integer(paid) && facts["currency"] == .string("USD"))
            #expect(facts["salesChannel"] == .string("NATIVE_PC") && facts["offerToken"] == .string("AbC-_"))
            #expect(facts["pointsDetails"]?["pointsSpent"] == .string("500"))
            #expect(facts["pointsDetails"]?["pointsCouponValue"]?["units"] == .string("5"))
            // A refund pays back what was paid, and no points.
            _ = try fixture.play.perform { try $0.refund(gate.number, source: .developer) }
            _ = try await service.app.refresh(gate.token)
            #expect(try await service.items("gate").isEmpty)
            #expect(try await service.transactions().first?.facts["refundedAmount"] == .integer(paid))
        }
    }

    @Test func `a subscription tells where it was bought, and a cancellation the customer's choice but no words`()
        async throws
    {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let monthly = try fixture.subscribe { $0.salesChannel = .playStore }
            #expect(try await service.redeem(monthly.token).redemption.outcome == .granted)
            #expect(try await service.transactions().first?.facts["salesChannel"] == .string("PLAY_STORE"))
            let survey = SubscriptionPurchaseV2.CancelSurveyResult(
                reason: .others, reasonUserInput: "I move to the sea.")
            _ = try fixture.play.perform { try $0.perform(.cancel, on: monthly.number, survey: survey) }
            _ = try await service.app.refresh(monthly.token)
            let archive = try await service.send(.get, "/v1/users/alice/export")
            let renewal = try archive.decoded(JSONContent.self)["renewalInfos"]
            guard case .array(let statements)? = renewal, let facts = statements.first?["facts"] else {
                Issue.record("The archive has no statement about the renewal.")
                return
            }
            #expect(facts["cancelSurveyReason"] == .string("CANCEL_SURVEY_REASON_OTHERS"))
            #expect(facts["canceledBy"] == .string("user"))
            #expect(!String(decoding: archive.jsonData, as: UTF8.self).contains("move to the sea"))
            #expect(try await service.items("plus") == [1])
        }
    }

    @Test func `a token is verified by asking, and nothing is redeemed`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            func verify(_ token: String) async throws -> PlayService.Answer {
                let proof = JSONValue.object(["purchaseToken": .string(token)]).compactText
                return try await service.send(.post, "/v1/proofs/verify", .object(["proof": .string(proof)]))
            }
            let gate = try fixture.buy("garden.gate")
            let verified = try await verify(gate.token).decoded(ProofResource.self)
            #expect(verified.kind == .purchaseToken && verified.origin == .localPlayProduction)
            #expect(verified.bundleId == TestGarden.bundleIdentifier)
            #expect(verified.purchases?.map(\.productId) == ["garden.gate"])
            #expect(verified.purchases?.map(\.transactionId) == [try await service.name(of: gate.token)])
            #expect(try await service.transactions().isEmpty)
            try await service.acknowledge()
            #expect(try !fixture.purchase(gate.number).isAcknowledged)
            let pending = try fixture.buy("garden.seeds") { $0.isPending = true }
            #expect(try await verify(pending.token).code == "purchasePending")
            #expect(try await verify("aaaabbbbccccddddeeeeffff.AO-J1Oz_-").code == "googlePlayTokenUnknown")
            #expect(try await verify("a b").code == "encodingInvalid")
        }
    }

    @Test func `a pending payment is refused until it is made, and one that is canceled gives nothing`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let paid = try fixture.buy("garden.gate") { $0.isPending = true }
            let canceled = try fixture.buy("garden.seeds") { $0.isPending = true }
            let answer = try await service.redeem(paid.token)
            #expect(answer.status == 422 && answer.code == "purchasePending")
            try await service.acknowledge()
            _ = try fixture.play.perform { try $0.complete(paid.number) }
            _ = try fixture.play.perform { try $0.cancel(canceled.number) }
            #expect(try await service.redeem(paid.token).code == "purchasePending")
            // An answer counts for ten seconds.
            fixture.advance(seconds: 10)
            #expect(try await service.redeem(paid.token).redemption.outcome == .granted)
            let refused = try await service.redeem(canceled.token)
            #expect(refused.status == 409 && refused.code == "purchaseNotOwned")
            #expect(try await service.transactions().count == 1)
        }
    }

    @Test func `a token that cannot be asked about is neither granted nor refused`() async throws {
        try await GooglePlayFixture.run { fixture in
            let gate = try fixture.buy("garden.gate")
            let offline = try await fixture.service(isReachable: false)
            let headers: HTTPFields = [try #require(HTTPField.Name("Idempotency-Key")): "one"]
            let answer = try await offline.redeem(gate.token, headers: headers)
            #expect(answer.status == 503 && answer.code == "googlePlayUnreachable")
            #expect(try await offline.app.purchases.purchase(of: gate.token) == nil)
            #expect(try await offline.transactions().isEmpty)
            let service = try await fixture.service()
            #expect(try await service.redeem(gate.token, headers: headers).redemption.outcome == .granted)
        }
    }

    @Test func `callers who send tokens without end leave Google Play's limit to what the service owes`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service(presentedPerMinute: 2)
            let (gate, seeds) = (try fixture.buy("garden.gate"), try fixture.buy("garden.seeds"))
            #expect(try await service.redeem(gate.token).redemption.outcome == .granted)
            #expect(try await service.redeem("aaaabbbbccccddddeeeeffff.AO-J1Oz_-").code == "googlePlayTokenUnknown")
            let limited = try await service.redeem(seeds.token)
            #expect(limited.status == 503 && limited.code == "googlePlayLimited")
            // What a user has redeemed needs no question.
            fixture.advance(seconds: 10)
            #expect(try await service.redeem(gate.token).redemption.outcome == .unchanged)
            #expect(try await service.redeem(gate.token, for: "bob").code == "ownedByAnotherUser")
            try await service.acknowledge()
            #expect(try fixture.purchase(gate.number).isAcknowledged)
            #expect(try await service.app.refresh(gate.token).count == 1)
            fixture.advance(seconds: 60)
            #expect(try await service.redeem(seeds.token).redemption.outcome == .granted)
        }
    }

    @Test func `a wrong token, app or form is refused`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let unknown = try await service.redeem("aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
            #expect(unknown.status == 422 && unknown.code == "googlePlayTokenUnknown")
            #expect(try unknown.decoded(ProblemResource.self).couldSucceedLater)
            #expect(try await service.redeem("a b").code == "bodyInvalid")
            let gate = try fixture.buy("garden.gate")
            for (name, code) in [("com.example.other", "bundleIdentifierMismatch"), ("nonsense", "bodyInvalid")] {
                let body = JSONValue.object(["purchaseToken": .string(gate.token), "packageName": .string(name)])
                #expect(try await service.send(.post, "/v1/users/alice/transactions", body).code == code)
            }
            let both = JSONValue.object(["purchaseToken": .string(gate.token), "signedTransaction": "a.b.c"])
            #expect(try await service.send(.post, "/v1/users/alice/transactions", both).code == "bodyInvalid")
            #expect(try await service.transactions().isEmpty)
        }
    }

    @Test func `a subscription is granted by its state, also from its signed form`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let monthly = try fixture.subscribe()
            let signed = try fixture.play.perform { try $0.signed($0.subscription(monthly.number)) }
            #expect(try await service.redeem(signed).redemption.outcome == .granted)
            #expect(try await service.redeem(monthly.token).redemption.outcome == .unchanged)
            #expect(try await service.items("plus") == [1])
            try await service.acknowledge()
            #expect(try fixture.subscription(monthly.number).isAcknowledged)

            // A declined renewal keeps the item in the grace period, and takes it on hold.
            _ = try fixture.play.perform { try $0.perform(.declinePayments, on: monthly.number) }
            fixture.advance(days: 31)
            _ = try await service.app.refresh(monthly.token)
            #expect(try await service.items("plus") == [1])
            fixture.advance(days: 3)
            _ = try await service.app.refresh(monthly.token)
            #expect(try await service.items("plus").isEmpty)
            _ = try fixture.play.perform { try $0.perform(.acceptPayments, on: monthly.number) }
            _ = try await service.app.refresh(monthly.token)
            #expect(try await service.items("plus") == [1])
            #expect(try await service.transactions().map(\.transactionId).count == 2)
            let name = try await service.name(of: monthly.token)
            #expect(Set(try await service.transactions().map(\.originalTransactionId)) == [name])
        }
    }

    @Test func `a subscription that is bought again belongs to its chain, and to its owner`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let first = try fixture.subscribe()
            #expect(try await service.redeem(first.token).redemption.outcome == .granted)
            try await service.acknowledge()
            _ = try fixture.play.perform { try $0.perform(.cancel, on: first.number) }
            fixture.advance(days: 10)
            let second = try fixture.subscribe()
            #expect(second.linkedToken == first.token)
            #expect(try await service.redeem(second.token, for: "bob").code == "ownedByAnotherUser")
            // What somebody has presented in vain belongs to the owner of the chain, who pays for it.
            #expect(try await service.transactions().count == 2)
            #expect(try await service.app.refresh(second.token).allSatisfy { $0 == .recorded })
            #expect(try await service.redeem(second.token).redemption.outcome == .unchanged)
            let old = try #require(try await service.app.purchases.purchase(of: first.token))
            #expect(old.isFinal && old.successorToken == second.token)
            #expect(try await service.app.purchases.purchasesToAsk(limit: 9).isEmpty)
            let name = try await service.name(of: first.token)
            #expect(try await service.transactions().map(\.originalTransactionId) == [name, name])
            #expect(try await service.items("plus") == [1])
        }
    }

    @Test func `the first token of an unknown chain is asked for`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            // An app may acknowledge by itself, and a purchase is replaced only then.
            func acknowledgeAndCancel(_ bought: RecurringPurchase) async throws {
                try await service.app.client.acknowledge(bought.token, of: bought.terms.productId, as: .subscription)
                _ = try fixture.play.perform { try $0.perform(.cancel, on: bought.number) }
                fixture.advance(days: 1)
            }
            let first = try fixture.subscribe()
            try await acknowledgeAndCancel(first)
            let second = try fixture.subscribe()
            try await acknowledgeAndCancel(second)
            let third = try fixture.subscribe()
            #expect(try await service.redeem(third.token).redemption.outcome == .granted)
            #expect(
                try await service.transactions().map(\.originalTransactionId)
                    == [try await service.name(of: first.token)])
            #expect(try await service.redeem(first.token, for: "bob").code == "ownedByAnotherUser")
        }
    }

    @Test func `a refund at Google Play takes the purchase back`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let gate = try fixture.buy("garden.gate")
            let monthly = try fixture.subscribe()
            for token in [gate.token, monthly.token] {
                #expect(try await service.redeem(token).redemption.outcome == .granted)
            }
            try await service.acknowledge()
            fixture.advance(days: 1)
            _ = try fixture.play.perform { try $0.refund(gate.number) }
            _ = try fixture.play.perform { try $0.perform(.refund, on: monthly.number) }
            #expect(try await service.app.refresh(gate.token) == [.revoked])
            #expect(try await service.app.refresh(monthly.token) == [.revoked])
            #expect(try await service.items("gate").isEmpty)
            #expect(try await service.items("plus").isEmpty)
            #expect(try await service.redeem(gate.token).redemption.outcome == .revoked)
        }
    }

    @Test func `an ended subscription that was bought again in the Play Store is still answered by its first token`()
        async throws
    {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let first = try fixture.subscribe()
            #expect(try await service.redeem(first.token).redemption.outcome == .granted)
            try await service.acknowledge()
            _ = try fixture.play.perform { try $0.perform(.cancel, on: first.number) }
            fixture.advance(days: 32)
            let ended = try await service.redeem(first.token).redemption
            #expect(ended.outcome == .unchanged && ended.transactions.count == 1)
            let second = try fixture.play.perform { try $0.perform(.resubscribe, on: first.number) }
            #expect(try await service.redeem(second.token).redemption.outcome == .granted)
            fixture.advance(seconds: 60)
            let again = try await service.redeem(first.token).redemption
            #expect(again.outcome == .unchanged)
            #expect(again.transactions.map(\.transactionId) == ended.transactions.map(\.transactionId))
            #expect(try await service.redeem(first.token, for: "bob").code == "ownedByAnotherUser")
        }
    }

    @Test func `the quantity counts, and a consumed purchase answers as the first time`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let first = try fixture.buy("garden.seeds") { $0.quantity = 3 }
            #expect(try await service.redeem(first.token).redemption.outcome == .granted)
            #expect(try await service.seeds() == 30)
            try await service.acknowledge()
            #expect(try fixture.purchase(first.number).isConsumed)
            let second = try fixture.buy("garden.seeds")
            #expect(try await service.redeem(second.token).redemption.outcome == .granted)
            #expect(try await service.redeem(first.token).redemption.outcome == .unchanged)
            #expect(try await service.redeem(first.token, for: "bob").code == "ownedByAnotherUser")
            #expect(try await service.seeds() == 40)
        }
    }

    /// A purchase that the app has consumed, or not, before or after the moment of the setting, if it is set.
    @Test(
        arguments: [
            (true, nil, "granted"), (true, -1, "granted"), (true, 0, "granted"), (true, 1, "purchaseConsumed"),
            (false, 1, "granted"), (false, nil, "granted"),
        ] as [(Bool, Int64?, String)])
    func `a purchase that is consumed at its first redemption is refused if it was bought before the setting's moment`(
        isConsumed: Bool, secondsOfMoment: Int64?, answer: String
    ) async throws {
        try await GooglePlayFixture.run { fixture in
            let bought = fixture.garden.clock.now()
            let service = try await fixture.service(
                refusingConsumedBefore: secondsOfMoment.map { bought.adding(seconds: $0) })
            let seeds = try fixture.buy("garden.seeds")
            if isConsumed { try await service.app.client.consume(seeds.token, of: "garden.seeds") }
            fixture.advance(seconds: 10)
            let first = try await service.redeem(seeds.token)
            #expect(try first.code ?? first.redemption.outcome.rawValue == answer)
            #expect(try await service.seeds() == (answer == "granted" ? 10 : 0))
            #expect(try await service.transactions().count == (answer == "granted" ? 1 : 0))
            if answer != "granted" { return }
            // The service has consumed it by now, which refuses no second redemption.
            try await service.acknowledge()
            fixture.advance(seconds: 10)
            #expect(try await service.redeem(seeds.token).redemption.outcome == .unchanged)
            #expect(try await service.redeem(seeds.token, for: "bob").code == "ownedByAnotherUser")
        }
    }

    @Test func `what the door refuses as consumed is granted by no question of the service, and explained`()
        async throws
    {
        try await GooglePlayFixture.run { fixture in
            let moment = fixture.garden.clock.now().adding(days: 1)
            let service = try await fixture.service(refusingConsumedBefore: moment)
            let alice = try await service.entitlements.appAccountToken(of: service.alice).uuidString.lowercased()
            let gate = try fixture.buy("garden.gate") { $0.obfuscatedAccountId = alice }
            try await service.app.client.consume(gate.token, of: "garden.gate")
            // As a notification, and as the schedule asks.
            #expect(try await service.app.refresh(gate.token).isEmpty)
            #expect(try await service.redeem(gate.token).code == "purchaseConsumed")
            fixture.advance(seconds: 10)
            #expect(try await service.app.refresh(gate.token).isEmpty)
            #expect(try await service.items("gate").isEmpty)
            #expect(try await service.unclaimed() == nil)
            let item = Item(collection: "gate", number: 1)
            let explained = try await service.entitlements.explanation(of: item, for: service.alice)
            #expect(explained.cause == .refused && explained.reason == "purchaseConsumed")
            #expect(explained.remedy?.contains("add to the balance") == true)
            let proof = JSONValue.object(["purchaseToken": .string(gate.token)]).compactText
            let verified = try await service.send(.post, "/v1/proofs/verify", .object(["proof": .string(proof)]))
            #expect(verified.code == "purchaseConsumed")
            let unset = try await fixture.service()
            #expect(try await unset.redeem(gate.token).redemption.outcome == .granted)
        }
    }

    @Test
    func `units that are refunded before the redemption are not redeemed, and later ones stay until they are listed`()
        async throws
    {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let seeds = try fixture.buy("garden.seeds") { $0.quantity = 3 }
            _ = try fixture.play.perform { try $0.refund(seeds.number, quantity: 1) }
            #expect(try await service.redeem(seeds.token).redemption.outcome == .granted)
            #expect(try await service.seeds() == 20)
            fixture.advance(seconds: 10)
            _ = try fixture.play.perform { try $0.refund(seeds.number, quantity: 1) }
            #expect(try await service.redeem(seeds.token).redemption.outcome == .unchanged)
            #expect(try await service.seeds() == 20)
        }
    }

    @Test func `an account identifier gives a purchase to its user without a token`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let alice = try #require(User(name: "alice"))
            let token = try await service.entitlements.appAccountToken(of: alice)
            let gate = try fixture.buy("garden.gate") { $0.obfuscatedAccountId = token.uuidString.lowercased() }
            #expect(try await service.redeem(gate.token, for: "bob").code == "appAccountTokenMismatch")
            #expect(try await service.app.refresh(gate.token) == [.granted])
            try await service.acknowledge()
            #expect(try fixture.purchase(gate.number).isAcknowledged)
        }
    }
}
