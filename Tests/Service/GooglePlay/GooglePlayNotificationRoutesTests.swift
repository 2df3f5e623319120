import Entitlements
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// Pushed messages at the route, beside a local Google Play that the service asks.
@Suite struct GooglePlayNotificationRoutesTests {
    private let issuer: TestPushIssuer

    init() throws {
        issuer = try TestPushIssuer.shared.get()
    }

    private func run(
        isReachable: Bool = true, _ body: @Sendable @escaping (PlayService) async throws -> Void
    ) async throws {
        try await PlayService.run(.issuer(issuer), isReachable: isReachable, body)
    }

    @Test func `the state is asked for, whatever the notification says`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let token = try played.play.perform { try $0.subscribe(order).token }
            // The notification says that the subscription has expired.
            let answer = try await played.push(PlayService.ofSubscription(token, type: 13))
            #expect(answer.status == 200)
            #expect(try answer.decoded(NotificationReceipt.self).outcome == "granted")
            #expect(try await played.items() == ["plus 2"])
            #expect(try await played.received().map(\.type) == ["SUBSCRIPTION_EXPIRED"])
        }
    }

    @Test func `a message is applied once, and noted when it comes again`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let bought = try played.play.perform { try $0.buy(order) }
            let data = PlayService.ofProduct(bought.token)
            #expect(try await played.push(data).decoded(NotificationReceipt.self).outcome == "granted")
            _ = try played.play.perform { try $0.refund(bought.number) }
            // The repeated message changes nothing, and Google Play is not asked.
            #expect(try await played.push(data).decoded(NotificationReceipt.self).outcome == "duplicate")
            #expect(try await played.items() == ["gate 1"])
            let list = try await played.entitlements.ledger.read { try $0.notifications(before: nil, limit: 10).shown }
            #expect(list.count == 1 && list.first?.repeatedAt != nil)
            #expect(list.first?.owner == played.alice)
            // A publisher's second copy has another identifier, and tells of the state of now.
            #expect(
                try await played.push(data, identifier: "2").decoded(NotificationReceipt.self).outcome == "revoked")
            #expect(try await played.items() == [])
        }
    }

    @Test func `messages may come in any order`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let subscription = try played.play.perform { try $0.subscribe(order) }
            try await played.acknowledgeAtOnce(subscription.token)
            _ = try played.play.perform { try $0.perform(.refund, on: subscription.number) }
            for (index, type) in [12, 2, 4].enumerated() {
                let answer = try await played.push(
                    PlayService.ofSubscription(subscription.token, type: type), identifier: "\(index)")
                #expect(answer.status == 200)
                #expect(try await played.items() == [])
            }
        }
    }

    @Test(arguments: [4, 21, 99, 2_147_483_647]) func `an unknown number is recorded, and its purchase asked about`(
        type: Int
    ) async throws {
        try await run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let token = try played.play.perform { try $0.subscribe(order).token }
            #expect(try await played.push(PlayService.ofSubscription(token, type: type)).status == 200)
            #expect(try await played.items() == ["plus 2"])
            let content = try #require(try await played.received().first?.content)
            #expect(content.contains("\"notificationType\":\(type)") && !content.contains(token))
        }
    }

    @Test func `only a genuine token of the subscription's account is accepted`() async throws {
        let now = try #require(Timestamp(rfc3339: "2026-10-01T12:00:00Z")).secondsSince1970
        let stranger = try TestPushIssuer(chain: try TestChains.make(.rsa, name: "Stranger"))
        let forged = [
            "", "x", try stranger.token(at: now),
            try issuer.token(at: now, claims: ["iss": "https://evil.example.com"]),
            try issuer.token(at: now, claims: ["aud": "https://evil.example.com"]),
            try issuer.token(at: now, claims: ["email": "push@evil.iam.gserviceaccount.com"]),
            try issuer.token(at: now, claims: ["email_verified": .bool(false)]),
            try issuer.token(at: now, header: ["alg": "none"], signature: .none),
            try issuer.token(at: now, header: ["alg": "HS256"], signature: .sharedSecret),
            try issuer.token(at: now - 3600), try issuer.token(at: now + 61),
        ]
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let data = PlayService.ofProduct(try played.play.perform { try $0.buy(order).token })
            for token in forged {
                let answer = try await played.push(data, token: token)
                #expect(answer.status == 401)
                #expect(["unauthenticated", "tokenInvalid", "tokenExpired"].contains(answer.code))
            }
            #expect(try await played.received().isEmpty)
            #expect(try await played.items() == [])
            #expect(try await played.push(data).status == 200)
            #expect(try await played.items() == ["gate 1"])
        }
    }

    @Test func `while Google Play does not answer, the message is to come again, and nothing is stored`() async throws {
        try await run(isReachable: false) { played async throws in
            let order = try await played.order("garden.gate")
            let token = try played.play.perform { try $0.buy(order).token }
            let answer = try await played.push(PlayService.ofProduct(token))
            #expect(answer.status == 503 && answer.code == "googlePlayUnreachable")
            #expect(try await played.received().isEmpty)
            #expect(try await played.items() == [])
        }
    }

    @Test func `a purchase that Google Play does not know is recorded, and answered with success`() async throws {
        try await run { played async throws in
            let unknown = String(repeating: "a", count: 24)
            // Google Play would know a new purchase by now.
            try played.advance(days: 0, seconds: 600)
            for (index, data) in [
                PlayService.ofProduct(unknown), PlayService.ofSubscription(unknown),
                PlayService.ofProduct("not-a-token"),
            ].enumerated() {
                let answer = try await played.push(data, identifier: "\(index)")
                #expect(answer.status == 200)
                #expect(try answer.decoded(NotificationReceipt.self).outcome == "recorded")
                #expect(
                    try await played.push(data, identifier: "\(index)").decoded(NotificationReceipt.self).outcome
                        == "duplicate")
            }
            #expect(try await played.received().count == 3)
        }
    }

    @Test func `a new purchase that Google Play does not know yet is to come again for ten minutes`() async throws {
        try await run { played async throws in
            let data = PlayService.ofProduct(String(repeating: "a", count: 24))
            for seconds: Int64 in [0, 599] {
                try played.advance(days: 0, seconds: seconds)
                let answer = try await played.push(data)
                #expect(answer.status == 503 && answer.code == "googlePlayTokenUnknown")
                #expect(try await played.received().isEmpty)
            }
            try played.advance(days: 0, seconds: 1)
            #expect(try await played.push(data).decoded(NotificationReceipt.self).outcome == "recorded")
        }
    }

    @Test func `a token that is over is an end, not an outage`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.premium.monthly")
            let subscription = try played.play.perform { try $0.subscribe(order) }
            #expect(try await played.push(PlayService.ofSubscription(subscription.token)).status == 200)
            _ = try played.play.perform { try $0.perform(.cancel, on: subscription.number) }
            try played.advance(days: 120)
            let answer = try await played.push(
                PlayService.ofSubscription(subscription.token, type: 13), identifier: "2")
            #expect(answer.status == 200)
            #expect(try await played.items() == [])
        }
    }

    @Test func `what is no notification is recorded, so that it does not come for a week`() async throws {
        try await run { played async throws in
            for (index, data) in [
                "", "{}", "[1]", PlayService.data(#""subscriptionNotification":{"notificationType":2}"#),
            ].enumerated() {
                let answer = try await played.push(data, identifier: "\(index)")
                #expect(answer.status == 200)
            }
            #expect(try await played.received().map(\.type) == Array(repeating: "UNREADABLE", count: 4))
        }
    }

    @Test func `a notification about another app is recorded, and nobody is asked`() async throws {
        try await run { played async throws in
            let order = try await played.order("garden.gate")
            let token = try played.play.perform { try $0.buy(order).token }
            let data = PlayService.data(
                #""oneTimeProductNotification":{"notificationType":1,"purchaseToken":"\#(token)"}"#,
                package: "com.example.other")
            #expect(try await played.push(data).decoded(NotificationReceipt.self).outcome == "recorded")
            #expect(try await played.items() == [])
        }
    }

    @Test func `notifications about no purchase are recorded`() async throws {
        try await run { played async throws in
            for (index, member) in [
                #""testNotification":{"version":"1.0"}"#,
                #""pendingRefundReviewNotification":{"pendingRefundToken":"r","orderId":"GPA.1","refundReason":7}"#,
                #""somethingNewNotification":{}"#,
            ].enumerated() {
                #expect(try await played.push(PlayService.data(member), identifier: "\(index)").status == 200)
            }
            let types = Set(try await played.received().map(\.type))
            #expect(types == ["TEST", "PENDING_REFUND_REVIEW", "SOMETHING_NEW"])
        }
    }

    @Test(arguments: [
        "", "{}", #"{"message":{"messageId":"1"}}"#, #"{"message":{"data":"e30="}}"#,
        // A subscription that unwraps its messages is set up wrongly, which the team can correct within a week.
        #"{"version":"1.0","packageName":"com.example.garden","eventTimeMillis":"1","testNotification":{}}"#,
    ]) func `a body that is no message is refused`(body: String) async throws {
        try await run { played async throws in
            let answer = try await played.push(body: body)
            #expect(answer.status == 400 && answer.code == "bodyInvalid")
            #expect(try await played.received().isEmpty)
        }
    }

    @Test func `a body has a limit`() async throws {
        try await run { played async throws in
            let body = String(repeating: " ", count: PubSubMessage.maximumSize + 1)
            let answer = try await played.push(body: body)
            #expect(answer.status == 413)
        }
    }
}

extension PlayService {
    /// Acknowledges a subscription at the Play, as an app does.
    func acknowledgeAtOnce(_ token: String) async throws {
        try await app.client.acknowledge(token, of: "garden.premium.monthly", as: .subscription)
    }
}
