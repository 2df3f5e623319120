import AppStore
import Foundation
import Proofs
import TestSupport
import Testing

/// Notifications that only a tester brings about.
@Suite struct NotificationOnDemandTests {
    let garden: TestGarden
    private let subscription: String

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
        subscription = try #require(try garden.buy("garden.basic.monthly").purchase).transactionIdentifier
    }

    @Test(arguments: NotificationOnDemand.allCases)
    func `a notification has the part that Apple documents for its type`(demanded: NotificationOnDemand) throws {
        let sent = try garden.store.notify(demanded, about: subscription, or: "bob")
        #expect((sent.type, sent.subtype, sent.date) == (demanded.type, demanded.subtype, garden.store.now))
        #expect(sent.transactionIdentifier == (demanded.subject == .subscription ? subscription : nil))
        let told = try #require(try garden.notifications().last)
        #expect((told.notificationType, told.subtype) == (demanded.type.rawValue, demanded.subtype?.rawValue))
        #expect((told.bundleId, told.appAppleId) == (garden.bundleIdentifier, nil))
        guard case .object(let part)? = told.fields[told.subject.rawValue] else {
            Issue.record("\(demanded.name) has no part")
            return
        }
        switch demanded.subject {
        case .subscription:
            #expect(told.subject == .data)
            guard case .string(let transaction)? = part["signedTransactionInfo"],
                case .string(let renewal)? = part["signedRenewalInfo"]
            else {
                Issue.record("\(demanded.name) lacks its transaction or its renewal")
                return
            }
            #expect(try garden.transaction(transaction).transactionId == subscription)
            #expect(try garden.renewalInfo(renewal).originalTransactionId == subscription)
        case .account:
            #expect(told.subject == .appData)
            guard case .string(let compact)? = part["signedAppTransactionInfo"],
                case .appTransaction(let app) = try garden.verify(compact)
            else {
                Issue.record("\(demanded.name) lacks the app")
                return
            }
            #expect(app.appTransactionId?.count == 18)
        case nil:
            #expect(told.subject == .externalPurchaseToken)
            guard case .string(let identifier)? = part["externalPurchaseId"] else {
                Issue.record("\(demanded.name) lacks the token")
                return
            }
            #expect(identifier.hasPrefix("SANDBOX_"))
            let days: Int64 = demanded.subtype == .unreported ? 10 : 0
            #expect(
                part["tokenCreationDate"]
                    == .integer(garden.store.now.adding(days: -days).millisecondsSince1970))
        }
    }

    @Test func `a token of production has no prefix`() throws {
        let garden = try TestGarden(environment: .production)
        try garden.store.notify(
            try NotificationOnDemand(type: "EXTERNAL_PURCHASE_TOKEN", subtype: "CREATED"), about: "", or: "")
        let signed = try #require(try garden.store.notifications().first).signedPayload
        guard case .notification(let told) = try garden.verify(signed) else {
            Issue.record("The token is in no notification")
            return
        }
        #expect(told.environment == "Production")
    }

    @Test(
        arguments: [
            ("REFUND", nil), ("price_change", nil), ("", nil), ("PRICE_CHANGE", "PENDING"),
            ("EXTERNAL_PURCHASE_TOKEN", nil), ("EXTERNAL_PURCHASE_TOKEN", "SUMMARY"),
        ] as [(String, String?)])
    func `another type or subtype is not sent on demand`(type: String, subtype: String?) throws {
        let error = #expect(throws: StoreError.self) { try NotificationOnDemand(type: type, subtype: subtype) }
        #expect(error?.code == "notificationInvalid")
    }

    @Test(arguments: NotificationOnDemand.allCases)
    func `a notification with another subject is not sent`(demanded: NotificationOnDemand) throws {
        let before = try garden.store.notifications().count
        for (transaction, account) in [(subscription, "bob"), (subscription, nil), (nil, "bob"), (nil, nil)] {
            let isRight =
                (transaction != nil) == (demanded.subject == .subscription)
                && (account != nil) == (demanded.subject == .account)
            guard !isRight else { continue }
            let error = #expect(throws: StoreError.self) {
                try garden.store.write {
                    try $0.notify(demanded, transactionIdentifier: transaction, account: account)
                }
            }
            #expect(error?.code == "notificationInvalid")
        }
        #expect(try garden.store.notifications().count == before)
    }

    @Test func `a subject that the store does not have is refused`() throws {
        let change = try NotificationOnDemand(type: "PRICE_CHANGE", subtype: nil)
        let seeds = try #require(try garden.buy("garden.seeds").purchase).transactionIdentifier
        for (transaction, expected) in [
            ("1", StoreError.saleNotFound("1")), (seeds, StoreError.subscriptionNotFound(seeds)),
        ] {
            #expect(throws: expected) { try garden.store.notify(change, about: transaction, or: "") }
        }
        let consent = try NotificationOnDemand(type: "RESCIND_CONSENT", subtype: nil)
        #expect(throws: StoreError.accountInvalid("")) { try garden.store.notify(consent, about: "", or: "") }
    }

    @Test func `a notification on demand is due at once, and takes the next fault`() throws {
        _ = try garden.store.update { $0.notificationsURL = URL(string: "http://127.0.0.1:1/apple") }
        try garden.store.add([.drop])
        let change = try NotificationOnDemand(type: "MIGRATION", subtype: nil)
        #expect(try garden.store.notify(change, about: subscription, or: "").nextAttemptDate == nil)
        let second = try garden.store.notify(change, about: subscription, or: "")
        #expect(second.nextAttemptDate == garden.store.now)
        #expect(try garden.store.nextDelivery()?.notificationUUID == second.notificationUUID)
    }
}
