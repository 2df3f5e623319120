import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A parent's withdrawal of consent, from the local App Store to the customer's history.
@Suite struct RescindedConsentTests {
    private let garden: TestGarden
    private let service: EntitlementService

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    /// Buys products at the store, and redeems them for the user of the same name.
    private func buy(_ products: [String], for name: String) async throws -> User {
        let user = try #require(User(name: name))
        for product in products {
            let bought = try garden.buy(product, account: name)
            _ = try await service.redeem(Array(try garden.store.signedTransaction(bought.identifier).utf8), for: user)
        }
        return user
    }

    /// Withdraws the consent to the use of the app by an account, and lets the service apply it.
    ///
    /// - Returns: True if there was something to do.
    private func rescind(
        _ account: String, by policy: ConsentPolicy, logger: Logger = ServiceFixture.logger
    ) async throws -> Bool {
        let demanded = try NotificationOnDemand(type: "RESCIND_CONSENT", subtype: nil)
        let told = try garden.store.write { try $0.notify(demanded, account: account) }
        #expect(try await service.receive(notification: Array(told.signedPayload.utf8)) == .recorded)
        let (service, answer) = (service, Answer())
        try await garden.withStore { client in
            let work = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
                .consentResponder(by: policy, logger: logger)
            await answer.set(try await work.perform())
            // It is applied once.
            #expect(try await !work.perform())
        }
        return await answer.value
    }

    private actor Answer {
        private(set) var value = false

        func set(_ value: Bool) { self.value = value }
    }

    /// The events of a user after the first redemptions, each with its actor, its subject and its reason.
    private func events(of user: User) async throws -> [String] {
        try await service.ledger.read { try $0.audit(of: user, after: 0, limit: 100) }.map(\.entry)
            .filter { $0.event != .granted }
            .map { entry in
                ["\(entry.event.rawValue) by \(entry.actor): \(entry.subject)", entry.reason].compactMap(\.self)
                    .joined(separator: ", ")
            }
    }

    private func gates(of user: User) async throws -> Int {
        try await service.items(of: user).count { $0.item.collection == "gate" }
    }

    @Test func `a withdrawn consent is told, and takes nothing by default`() async throws {
        let (alice, bob) = (try await buy(["garden.gate"], for: "alice"), try await buy(["garden.gate"], for: "bob"))
        #expect(try await rescind("alice", by: .keep))
        #expect(try await events(of: alice) == ["consentRescinded by App Store: keep"])
        #expect(try await gates(of: alice) == 1)
        #expect(try await events(of: bob).isEmpty)
        let stored = try await service.ledger.read { try $0.notifications(before: nil, limit: 1) }.shown.first
        #expect(stored?.notification.content?.contains("\"appTransactionId\"") == true)
    }

    @Test
    func `with block, the child's purchases are revoked, except what may be spent, until the team reinstates them`()
        async throws
    {
        let alice = try await buy(["garden.gate", "garden.seeds", "garden.basic.monthly"], for: "alice")
        let bob = try await buy(["garden.gate"], for: "bob")
        #expect(try await rescind("alice", by: .block))
        let told = try await events(of: alice)
        #expect(told.first == "consentRescinded by App Store: block")
        #expect(
            Set(told.dropFirst().filter { $0.hasPrefix("revoked") }) == [
                "revoked by till: garden.gate, A parent withdrew the consent.",
                "revoked by till: garden.basic.monthly, A parent withdrew the consent.",
            ])
        #expect(try await gates(of: alice) == 0)
        #expect(try await service.balances(of: alice) == [Credit(balance: "seeds", amount: 10)])
        #expect(try await gates(of: bob) == 1)
        let gate = try #require(
            try await service.transactions(of: alice, before: nil, limit: 9).first {
                $0.productIdentifier == "garden.gate"
            })
        _ = try await service.change(
            .reinstate(reason: "The parent consents again"), ofTransaction: gate.transactionIdentifier, origin: nil,
            of: alice, by: "K")
        #expect(try await gates(of: alice) == 1)
    }

    @Test(arguments: ["garden.seeds": true, "garden.gate": false])
    func `with block, the catalog has the type of a purchase that states none`(
        product: String, stays: Bool
    ) async throws {
        let alice = try #require(User(name: "alice"))
        let identifier = try #require(try garden.buy(product, account: "alice").purchase?.transactionIdentifier)
        let now = service.clock.now()
        let claim = Claim(
            app: TestGarden.bundleIdentifier, origin: .localSandbox, transactionIdentifier: identifier,
            originalTransactionIdentifier: identifier, productIdentifier: product, quantity: 1, purchaseDate: now,
            revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "gate", number: 1))
        _ = try await service.ledger.write { try $0.redeem([claim], for: alice, at: now) }
        #expect(try await rescind("alice", by: .block))
        #expect(try await gates(of: alice) == (stays ? 1 : 0))
    }

    @Test func `a child who has bought nothing is no customer, and the log says so`() async throws {
        let alice = try await buy(["garden.gate"], for: "alice")
        let log = RecordedLog()
        #expect(try await rescind("carol", by: .block, logger: log.logger))
        #expect(try await events(of: alice).isEmpty)
        #expect(log.lines.contains { $0.hasPrefix("warning withdrawn consent of no known customer") })
    }

    @Test func `a withdrawal that names no account is applied to nobody, and the log says so`() async throws {
        _ = try await service.store(withdrawal("1", ofAccount: nil))
        let log = RecordedLog()
        try await garden.withStore { client in
            let work = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
                .consentResponder(by: .keep, logger: log.logger)
            for isFirst in [true, false] {
                let wasOpen = try await work.perform()
                #expect(wasOpen == isFirst)
            }
        }
        let told = log.lines.filter { $0.hasPrefix("warning") }
        #expect(told.count == 1 && told.first?.contains("the notification has no appTransactionId") == true)
    }

    @Test func `withdrawals whose histories cannot be verified do not block the one behind them`() async throws {
        let bought = try garden.buy("garden.gate", account: "alice")
        let proof = try garden.store.signedTransaction(bought.identifier)
        let alice = try #require(User(name: "alice"))
        _ = try await service.redeem(Array(proof.utf8), for: alice)
        // More than the work reads at once.
        for number in 0..<100 { _ = try await service.store(withdrawal("a\(number)", ofAccount: "forged")) }
        _ = try await service.store(withdrawal("b", ofAccount: "alice"))
        let router = Router()
        router.get("/inApps/v2/history/:id") { _, context in
            let signed = context.parameters.get("id") == "alice" ? proof : String(proof.dropLast(4)) + "AAAA"
            return #"{"hasMore":false,"signedTransactions":["\#(signed)"]}"#
        }
        try await garden.withServer(router) { client in
            let work = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
                .consentResponder(by: .keep, logger: ServiceFixture.logger)
            await #expect(throws: ReconciliationError.refusedByService(code: "signatureInvalid")) {
                try await work.perform()
            }
        }
        #expect(try await events(of: alice) == ["consentRescinded by App Store: keep"])
    }

    /// A stored withdrawal, which the App Store has dated now.
    private func withdrawal(_ identifier: String, ofAccount account: String?) -> NotificationRecord {
        NotificationRecord(
            app: TestGarden.bundleIdentifier, origin: .localSandbox, notificationUUID: identifier,
            type: "RESCIND_CONSENT", subtype: nil, signedAt: service.clock.now(),
            proofDigest: [UInt8](repeating: 9, count: 32),
            content: account.map { #"{"appData":{"appTransactionId":"\#($0)"}}"# } ?? #"{"appData":{}}"#)
    }

    @Test func `a withdrawal waits for an App Store that does not answer`() async throws {
        let alice = try await buy(["garden.gate"], for: "alice")
        let told = try garden.store.write {
            try $0.notify(try NotificationOnDemand(type: "RESCIND_CONSENT", subtype: nil), account: "alice")
        }
        _ = try await service.receive(notification: Array(told.signedPayload.utf8))
        _ = try garden.store.update { $0.serverAPIError = 5_000_001 }
        try await garden.withStore { client in
            let work = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
                .consentResponder(by: .keep, logger: ServiceFixture.logger)
            await #expect(throws: ReconciliationError.self) { try await work.perform() }
            _ = try garden.store.update { $0.serverAPIError = nil }
            #expect(try await work.perform())
        }
        #expect(try await events(of: alice) == ["consentRescinded by App Store: keep"])
    }
}
