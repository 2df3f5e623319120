import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Purchases of several seats, by signed statements in the forms of the App Store since September 2026.
@Suite struct SeatTests {
    let garden: TestGarden
    let chain: CertificateChain
    let clock = ManualClock(TestProofs.signedAt.adding(days: 10))
    let service: EntitlementService
    let alice: User
    let bob: User

    private static let plus = Item(collection: "plus", number: 1)
    private static let tiers: JSONValue = .array([
        .object(["price": .integer(9_990), "quantity": .integer(5)]),
        .object(["price": .integer(7_990), "quantity": .integer(3)]),
    ])

    init() throws {
        garden = try TestGarden()
        chain = try TestChains.ellipticCurve.get()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)),
            verifier: ProofVerifier(anchors: try TestChains.anchors(chain), clock: clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: clock)
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    /// A transaction of the monthly subscription with eight seats, from its purchase on a day until day 30.
    private func payload(
        _ transaction: String = "1",
        original: String = "1",
        on day: Int64 = 0,
        signedOn signed: Int64? = nil,
        quantity: Int = 8,
        seats: [String: JSONValue] = [:],
        changing changes: [String: JSONValue?] = [:]
    ) -> JSONObject {
        func date(_ day: Int64) -> JSONValue {
            .integer(TestProofs.signedAt.adding(days: day).millisecondsSince1970)
        }
        let seats = ["invitationManagement": "APPLE", "priceTiers": Self.tiers].merging(seats) { $1 }
        return TestProofs.transactionPayload(
            transactionId: transaction, productId: "garden.basic.monthly",
            changing: [
                "bundleId": .string(garden.bundleIdentifier), "originalTransactionId": .string(original),
                "type": "Auto-Renewable Subscription", "purchaseDate": date(day), "expiresDate": date(30),
                "signedDate": date(signed ?? day), "inAppOwnershipType": "PURCHASED",
                "quantity": .integer(quantity), "price": .integer(9_240), "currency": "USD",
                "multiSeatInfo": .object(JSONObject(seats)),
            ].merging(changes) { $1 })
    }

    private func redeem(_ payload: JSONObject, for user: User) async throws -> Redemption.Outcome {
        try await service.redeem(try TestProofs.transaction(payload, chain: chain), for: user).outcome
    }

    private func notify(
        _ type: String,
        _ subtype: String? = nil,
        body: String = "data",
        with fields: JSONObject = [:],
        about transaction: JSONObject? = nil,
        renewal: JSONObject? = nil
    ) async throws -> NotificationOutcome {
        var content: JSONObject = ["bundleId": .string(garden.bundleIdentifier), "environment": "Sandbox"]
        for (name, part) in [("signedTransactionInfo", transaction), ("signedRenewalInfo", renewal)] {
            guard let part else { continue }
            let signed = try SignedJSON.sign(.object(part), with: chain.leaf.key, chain: chain.certificates)
            _ = content.add(name, .string(signed))
        }
        for member in fields.members { _ = content.add(member.key, member.value) }
        let signed = try TestProofs.notification(
            type, subtype: subtype, uuid: "\(type) \(subtype ?? "")", body: (body, content),
            signedAt: clock.now(), with: chain.leaf.key, chain: chain.certificates)
        return try await service.receive(notification: Array(signed.utf8))
    }

    private func owns(_ user: User) async throws -> Bool {
        try await service.items(of: user).contains { $0.item == Self.plus }
    }

    private func lastNotification() async throws -> [String?] {
        let shown = try await service.ledger.read {
            try $0.notifications(before: nil, limit: 1)
        }.shown
        return [shown.first?.notification.type, shown.first?.notification.subtype]
    }

    @Test func `a purchaser and a member with a seat own the item, each by an own transaction`() async throws {
        #expect(try await redeem(payload(), for: alice) == .granted)
        let seat = payload("2", original: "2", changing: ["inAppOwnershipType": "ASSIGNED"])
        #expect(try await redeem(seat, for: bob) == .granted)
        #expect(try await owns(alice))
        #expect(try await owns(bob))
        #expect(try await service.explanation(of: Self.plus, for: alice).cause == .owned)
        let explanation = try await service.explanation(of: Self.plus, for: bob)
        #expect(explanation.cause == .assigned)
        #expect(!explanation.sentence.contains("bought"))
    }

    @Test func `the end of a seat takes it from its member only`() async throws {
        _ = try await redeem(payload(), for: alice)
        _ = try await redeem(payload("2", original: "2", changing: ["inAppOwnershipType": "ASSIGNED"]), for: bob)
        let revoked = payload(
            "2", original: "2", signedOn: 5,
            changing: [
                "inAppOwnershipType": "ASSIGNED",
                "revocationDate": .integer(TestProofs.signedAt.adding(days: 5).millisecondsSince1970),
                "revocationType": "ASSIGNMENT_SOMETHING_NEW",
            ])
        #expect(try await notify("REVOKE", about: revoked) == .revoked)
        #expect(try await owns(alice))
        #expect(try await !owns(bob))
    }

    @Test func `a refund of some seats takes nothing from the purchaser`() async throws {
        _ = try await redeem(payload(), for: alice)
        let refunded = payload(signedOn: 5, seats: ["revokedSeatQuantity": .integer(2)])
        #expect(try await notify("REFUND", "SEATS", about: refunded) == .recorded)
        #expect(try await owns(alice))
        #expect(try await service.subscriptions(of: alice).map(\.state) == [.active])
        #expect(try await lastNotification() == ["REFUND", "SEATS"])
    }

    @Test func `added seats belong to the period, and their refund leaves the others`() async throws {
        let reason: [String: JSONValue?] = ["additionalTransactionReason": "SEAT_ADDITION"]
        func refunded(_ transaction: String, on day: Int64, signedOn signed: Int64) -> JSONObject {
            payload(
                transaction, on: day, signedOn: signed,
                changing: reason.merging([
                    "revocationDate": .integer(TestProofs.signedAt.adding(days: signed).millisecondsSince1970),
                    "revocationType": "REFUND_FULL",
                ]) { $1 })
        }
        #expect(try await redeem(payload(), for: alice) == .granted)
        #expect(try await redeem(payload("2", on: 4, quantity: 2, changing: reason), for: alice) == .granted)
        #expect(try await notify("DID_CHANGE_RENEWAL_PREF", about: payload(signedOn: 4, changing: reason)) == .recorded)
        let kept = try await service.transactions(of: alice, before: nil, limit: 9)
        #expect(kept.map(\.quantity).sorted() == [2, 8])
        #expect(kept.allSatisfy { $0.facts.text(.additionalTransactionReason) == "SEAT_ADDITION" })
        #expect(kept.allSatisfy { $0.facts.seats?.map(\.quantity) == [5, 3] })

        #expect(try await notify("REFUND", about: refunded("2", on: 4, signedOn: 5)) == .revoked)
        #expect(try await owns(alice))
        #expect(try await service.subscriptions(of: alice).map(\.state) == [.active])
        #expect(try await notify("REFUND", "UNREPORTED", about: refunded("1", on: 0, signedOn: 6)) == .revoked)
        #expect(try await !owns(alice))
        #expect(try await service.subscriptions(of: alice).map(\.state) == [.revoked])
    }

    @Test func `unclaimed seats are recorded, and take nothing from the purchaser`() async throws {
        _ = try await redeem(payload(seats: ["invitationManagement": "DEVELOPER"]), for: alice)
        let seats: JSONValue = .array(["6d1e1f0a-0c2e-4c5f-9a52-0b8f7a2d3c11"])
        #expect(
            try await notify("UNCLAIM_SEATS", body: "unclaimInfo", with: ["unclaimSeatIds": seats]) == .recorded)
        #expect(try await owns(alice))
        #expect(try await lastNotification() == ["UNCLAIM_SEATS", nil])
    }

    @Test(arguments: ["INCREASE_QUANTITY", "DECREASE_QUANTITY", "SOMETHING_NEW"])
    func `a notification of an unknown detail is recorded`(subtype: String) async throws {
        #expect(try await notify("DID_CHANGE_RENEWAL_PREF", subtype) == .recorded)
        #expect(try await lastNotification() == ["DID_CHANGE_RENEWAL_PREF", subtype])
    }

    @Test func `an unknown ownership is granted, and stays recorded`() async throws {
        #expect(try await redeem(payload(changing: ["inAppOwnershipType": "LENT"]), for: alice) == .granted)
        let transaction = try #require(try await service.transactions(of: alice, before: nil, limit: 1).first)
        #expect(transaction.facts.text(.inAppOwnershipType) == "LENT")
    }

    @Test(arguments: [(0, false), (1, true)])
    func `the setting of a commitment tells if a subscription renews`(status: Int, renews: Bool) async throws {
        _ = try await redeem(payload(), for: alice)
        let renewal: JSONObject = [
            "originalTransactionId": "1", "productId": "garden.basic.monthly", "autoRenewStatus": .integer(1),
            "autoRenewProductId": "garden.basic.monthly", "environment": "Sandbox",
            "signedDate": .integer(TestProofs.signedAt.adding(days: 5).millisecondsSince1970),
            "commitmentInfo": .object(["commitmentAutoRenewStatus": .integer(status)]),
        ]
        _ = try await notify("DID_CHANGE_RENEWAL_STATUS", about: payload(signedOn: 5), renewal: renewal)
        #expect(try await service.subscriptions(of: alice).map(\.renews) == [renews])
        let item = try #require(try await service.items(of: alice).first { $0.item == Self.plus })
        #expect(item.renews == renews)
        #expect(item.state == (renews ? .active : .willNotRenew))
    }
}
