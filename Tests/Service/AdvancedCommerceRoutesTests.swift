import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchases that a back end has described, changed by the service at a local App Store, over HTTP on both sides.
@Suite struct AdvancedCommerceRoutesTests {
    private let garden: TestGarden
    private let service: EntitlementService
    private let keys: APIKeys
    private let alice: User
    /// Alice's subscription to a bench, which the service has redeemed.
    private let sale: String

    init() async throws {
        garden = try TestGarden()
        let ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock)
        keys = ledger.apiKeys(clock: garden.store.clock)
        alice = try #require(User(name: "alice"))
        let charge = AdvancedCommerceCharge(
            items: [.init(sku: "bench", displayName: "Bench", description: "A bench", price: 9990)],
            terms: .init(displayName: "Tools", description: "All tools", period: .oneMonth), currency: "USD",
            taxCode: "C003-00-2", requestReferenceIdentifier: UUID().uuidString)
        let added = try garden.store.add(
            Payment(productIdentifier: "garden.basic.yearly").with(charge), account: "alice")
        let bought = try #require(try garden.store.process(account: "alice").first)
        sale = try #require(bought.purchase).transactionIdentifier
        _ = try await service.redeem(Array(try garden.store.signedTransaction(added.identifier).utf8), for: alice)
    }

    private struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        var code: String? { try? decoded(ProblemResource.self).code }
        var content: JSONContent? { try? decoded(JSONContent.self) }
    }

    private func send(
        _ operation: String, _ request: String, asking clients: [AppStoreServerClient],
        of transaction: String? = nil, scopes: Set<APIKeyScope> = [.stores], app: String? = nil,
        approving approved: Set<StoreAction.Kind> = []
    ) async throws -> Answer {
        var stores = StoreClients()
        stores.appStores = clients.map {
            service.reconciler(of: service.apps.first, asking: $0, about: [.localSandbox])
        }
        let till = Till(service) { $0.storeActions = StoreActionService(service, approving: approved) }
        let routes = ServiceRoutes(till, stores: stores, RouteSettings(.apiKeys(keys)))
        let key = try await keys.make(name: "shop", scopes: scopes, app: app).key
        let body = ByteBuffer(string: #"{"request":\#(request),"reason":"Asked by phone"}"#)
        return try await Application(router: routes.router()).test(.router) { [sale] client in
            try await client.execute(
                uri: "/v1/transactions/\(transaction ?? sale)/advanced-commerce/\(operation)", method: .post,
                headers: [.authorization: "Bearer \(key)"], body: body
            ) { Answer(status: $0.status.code, jsonData: Data($0.body.readableBytesView)) }
        }
    }

    /// The audit log's words about requests, without the identifiers of requests.
    private func audited() async throws -> [String] {
        let log = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 100) }
        return log.map(\.entry).filter { $0.event == .commerceRequested }.map { entry in
            let words = (entry.reason ?? "").split(separator: " ").map(String.init)
            #expect(entry.reference == sale && entry.actor.keyIdentifier != nil)
            return ([words.first ?? ""] + words.dropFirst(2)).joined(separator: " ")
        }
    }

    @Test func `a back end cancels at the App Store, whose notification tells the service`() async throws {
        try await garden.withStore { client in
            let answer = try await send("cancel", "{}", asking: [client])
            #expect(answer.status == 200)
            let renewal = try garden.renewalInfo(try #require(answer.content?["signedRenewalInfo"]?.text))
            #expect(renewal.facts.integer(.autoRenewStatus) == 0)
            let reference = answer.content?["requestReferenceId"]?.text
            #expect(reference.flatMap(UUID.init(uuidString:)) != nil)
        }
        #expect(try await audited() == ["cancel requested: Asked by phone", "cancel accepted"])
        let told = try #require(
            try garden.store.notifications().first { $0.type == .didChangeRenewalStatus })
        _ = try await service.receive(notification: Array(told.signedPayload.utf8))
        let log = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 100) }
        #expect(log.last?.entry.event == .autoRenewDisabled)
    }

    @Test(arguments: [
        ("changePrice", #"{"items":[{"SKU":"bench","price":8990}]}"#, "PRICE_CHANGE"),
        ("changeMetadata", #"{"descriptors":{"displayName":"Bench","effective":"IMMEDIATELY"}}"#, "METADATA_UPDATE"),
        ("revoke", #"{"refundType":"FULL","refundReason":"LEGAL","refundRiskingPreference":false}"#, "REFUND"),
        (
            "requestRefund",
            #"{"requestInfo":{"requestReferenceId":"0b0c3f9e-2f3c-4b35-9d10-6f5f1f6f0f11"},"refundRiskingPreference":false,"items":[{"SKU":"bench","refundType":"FULL","refundReason":"OTHER","revoke":false}]}"#,
            "REFUND"
        ),
    ])
    func `each request reaches its endpoint`(operation: String, request: String, told: String) async throws {
        try await garden.withStore { client in
            let answer = try await send(operation, request, asking: [client])
            #expect(answer.status == 200)
        }
        #expect(try garden.store.notifications().contains { $0.type.rawValue == told })
    }

    /// Each new identifier could pay a part of the money back again.
    @Test func `a refund without an identifier is refused, and nobody is asked`() async throws {
        try await garden.withStore { client in
            let answer = try await send("requestRefund", #"{"refundRiskingPreference":false}"#, asking: [client])
            #expect(answer.status == 400 && answer.code == "bodyInvalid")
        }
        #expect(try await audited().isEmpty)
    }

    @Test(arguments: [
        ("cancel", StoreAction.Kind.cancel), ("revoke", .revoke), ("requestRefund", .refund),
        ("changePrice", .changePrice),
    ])
    func `a request that a second person must approve is refused`(
        operation: String, kind: StoreAction.Kind
    ) async throws {
        try await garden.withStore { client in
            let answer = try await send(operation, "{}", asking: [client], approving: [kind])
            #expect(answer.status == 422 && answer.code == "commerceApprovalNeeded")
        }
        #expect(try await audited().isEmpty)
    }

    /// A performer of Apple's requests, whose service ends at a step.
    private func actions(
        _ client: AppStoreServerClient, approving approved: Set<StoreAction.Kind> = [],
        endingAt step: InterruptedPerformer.Step? = nil
    ) -> StoreActionService {
        let reconciler = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
        return StoreActionService(
            service, at: [InterruptedPerformer(performer: AppStoreActions(by: reconciler), step: step)],
            approving: approved)
    }

    private func request(
        _ kind: StoreAction.Kind, _ request: JSONObject, as identifier: String = UUID().uuidString.lowercased(),
        isAdditional: Bool = false
    ) -> StoreActionRequest {
        StoreActionRequest(
            identifier, kind, of: sale, origin: nil, app: nil, reason: "Asked by phone",
            [.request: .object(request)], isAdditional: isAdditional)
    }

    private static let price: JSONObject = ["items": .array([.object(["SKU": "bench", "price": .integer(8990)])])]
    private static let refund: JSONObject = [
        "refundRiskingPreference": .bool(false),
        "items": .array([
            .object(["SKU": "bench", "refundType": "FULL", "refundReason": "OTHER", "revoke": .bool(false)])
        ]),
    ]

    @Test(arguments: [
        (StoreAction.Kind.cancel, JSONObject(), "DID_CHANGE_RENEWAL_STATUS", StoreAction.State.confirmed),
        (.changePrice, price, "PRICE_CHANGE", .confirmed),
        (
            .changeMetadata,
            ["descriptors": .object(["displayName": "Bench", "effective": "IMMEDIATELY"])] as JSONObject,
            "METADATA_UPDATE", .confirmed
        ),
        (
            .revoke,
            ["refundType": "FULL", "refundReason": "LEGAL", "refundRiskingPreference": .bool(false)] as JSONObject,
            "REFUND", .confirmed
        ),
        (.refund, refund, "REFUND", .accepted),
    ])
    func `a second person approves a request of Apple's`(
        kind: StoreAction.Kind, content: JSONObject, told: String, state: StoreAction.State
    ) async throws {
        try await garden.withStore { client in
            let actions = actions(client, approving: [kind])
            let asked = try await actions.request(request(kind, content), by: AuditActor.caller(member: "ada"))
            #expect(asked.state == .awaitingApproval)
            #expect(try !garden.store.notifications().contains { $0.type.rawValue == told })
            let approved = try await actions.decide(
                asked.identifier, approving: true, by: AuditActor.caller(member: "bob"))
            let done = try await actions.perform(approved)
            #expect(done.state == state, "\(done.lastError ?? "")")
            #expect(done.answer?["signedTransactionInfo"] != nil)
            #expect(try garden.store.notifications().contains { $0.type.rawValue == told })
        }
    }

    @Test(arguments: InterruptedPerformer.Step.allCases, [StoreAction.Kind.changePrice, .refund])
    func `a request of Apple's happens once if the service ends at a step`(
        step: InterruptedPerformer.Step, kind: StoreAction.Kind
    ) async throws {
        try await garden.withStore { client in
            let ended = actions(client, endingAt: step)
            let content = kind == .refund ? Self.refund : Self.price
            let asked = try await ended.request(request(kind, content), by: "K")
            await #expect(throws: InterruptedPerformer.Ended.self) { try await ended.perform(asked) }
            _ = try garden.store.advance(seconds: 100)
            let actions = actions(client)
            let done = try await actions.perform(try await actions.action(asked.identifier))
            #expect(done.state == (kind == .refund ? .accepted : .confirmed), "\(done.lastError ?? "")")
            guard kind == .refund else { return }
            #expect(try garden.store.notifications().count { $0.type == .refund } == 1)
            // A part that is left could be paid back by another request, if somebody wants it so.
            for notification in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            }
            _ = try garden.store.advance(seconds: 86_400)
            let confirmed = try await actions.perform(try await actions.action(asked.identifier))
            #expect(confirmed.state == .confirmed)
            let answered = try #require(confirmed.answeredAt)
            await #expect(throws: StoreActionError.repeated(asked.identifier, at: answered)) {
                try await actions.request(request(kind, content), by: "K")
            }
        }
    }

    @Test func `a refund that the App Store declines is over, and another one can be asked for`() async throws {
        try await garden.withStore { client in
            let actions = actions(client)
            let declined: JSONObject = [
                "refundRiskingPreference": .bool(false),
                "items": .array([
                    .object([
                        "SKU": "bench", "refundType": "FULL", "refundReason": "SIMULATE_REFUND_DECLINE",
                        "revoke": .bool(false),
                    ])
                ]),
            ]
            let asked = try await actions.perform(try await actions.request(request(.refund, declined), by: "K"))
            #expect(asked.state == .accepted)
            await #expect(throws: StoreActionError.underWay(asked.identifier)) {
                try await actions.request(request(.refund, Self.refund), by: "K")
            }
            for notification in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            }
            _ = try garden.store.advance(seconds: 3600)
            let ended = try await actions.perform(asked)
            #expect(ended.state == .refused && ended.lastError == "The App Store declined the refund.")
            let next = try await actions.request(request(.refund, Self.refund), by: "K")
            #expect(next.identifier != asked.identifier)
            #expect(try await actions.perform(next).state == .accepted)
        }
    }

    /// Lets the service receive all notifications, and an hour pass.
    private func receive() async throws {
        for notification in try garden.store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        _ = try garden.store.advance(seconds: 3600)
    }

    @Test func `a refusal of the customer's own request does not end a refund that the App Store takes later`()
        async throws
    {
        let refund: JSONObject = [
            "refundRiskingPreference": .bool(true),
            "items": .array([
                .object(["SKU": "bench", "refundType": "FULL", "refundReason": "OTHER", "revoke": .bool(false)])
            ]),
        ]
        try await garden.withStore { client in
            let actions = actions(client)
            try garden.store.requestRefund(of: sale)
            let asked = try await actions.request(request(.refund, refund), by: "K")
            _ = try garden.store.advance(seconds: 3600)
            try garden.store.declineRefund(of: sale)
            try await receive()
            let accepted = try await actions.perform(asked)
            #expect(accepted.state == .accepted)
            await #expect(throws: StoreActionError.underWay(asked.identifier)) {
                try await actions.request(request(.refund, Self.refund), by: "K")
            }
            // The App Store decides about the action.
            try garden.store.declineRefund(of: sale)
            try await receive()
            let ended = try await actions.perform(accepted)
            #expect(ended.state == .refused && ended.lastError == "The App Store declined the refund.")
        }
    }

    @Test func `a request of Apple's has no identifier besides that of its action`() async throws {
        try await garden.withStore { client in
            let content: JSONObject = [
                "requestInfo": .object(["requestReferenceId": .string(UUID().uuidString)])
            ]
            await #expect(throws: StoreActionError.self) {
                try await actions(client).request(request(.cancel, content), by: "K")
            }
        }
    }

    @Test func `a migrated subscription stays with its owner, without an account token`() async throws {
        let bought = try garden.buy("garden.premium.monthly", account: "bob")
        let former = try #require(bought.purchase).transactionIdentifier
        let bob = try #require(User(name: "bob"))
        _ = try await service.redeem(Array(try garden.store.signedTransaction(bought.identifier).utf8), for: bob)
        let request = """
            {"targetProductId":"garden.basic.yearly","taxCode":"C003",
            "descriptors":{"displayName":"Tools","description":"All tools"},
            "items":[{"SKU":"bench","displayName":"Bench","description":"A bench"}]}
            """
        try await garden.withStore { client in
            let answer = try await send("migrate", request, asking: [client], of: former)
            #expect(answer.status == 200)
        }
        let told = try #require(try garden.store.notifications().first { $0.type == .migration })
        #expect(try await service.receive(notification: Array(told.signedPayload.utf8)) == .granted)
        let migrated = try #require(told.originalTransactionIdentifier)
        #expect(try await service.purchases(ofTransaction: migrated).map(\.owner) == [bob])
        // Nobody else can take it.
        let last = try #require(try garden.store.history(of: "bob").last)
        let proof = try garden.store.readOrThrow {
            try $0.allSubscriptionStatuses(last.transactionIdentifier, statuses: [])
        }
        let signed = try #require(proof.data.first?.lastTransactions.first).signedTransactionInfo
        await #expect(throws: RedemptionError.purchaseRefused(.ownedByAnotherUser)) {
            try await service.redeem(Array(signed.utf8), for: alice)
        }
    }

    @Test func `Apple's refusal is the answer, and in the audit log`() async throws {
        try await garden.withStore { client in
            let answer = try await send("changePrice", #"{"items":[{"SKU":"rake","price":1}]}"#, asking: [client])
            #expect((answer.status, answer.code) == (422, "commerceRefused"))
            #expect(answer.content?["detail"]?.text?.contains("4000220") == true)
        }
        #expect(try await audited() == ["changePrice requested: Asked by phone", "changePrice refused: 4000220"])
    }

    @Test func `a request that the App Store does not answer is in the audit log`() async throws {
        try await garden.withServer(Router(context: BasicRequestContext.self)) { client in
            let answer = try await send("cancel", "{}", asking: [client])
            #expect((answer.status, answer.code) == (502, "appStoreRefused"))
        }
        #expect(try await audited() == ["cancel requested: Asked by phone", "cancel not answered: appStoreRefused"])
    }

    @Test func `a request needs the scope, the app, a key of the store, and a redeemed purchase`() async throws {
        #expect(try await send("cancel", "{}", asking: [], scopes: [.grant]).code == "scopeMissing")
        #expect(try await send("cancel", "{}", asking: [], app: "com.example.other").code == "transactionNotFound")
        #expect(try await send("cancel", "{}", asking: []).code == "commerceKeyMissing")
        #expect(try await send("cancel", "{}", asking: [], of: "7").code == "transactionNotFound")
        #expect(try await send("upgrade", "{}", asking: []).status == 404)
        #expect(try await send("cancel", "[]", asking: []).code == "bodyInvalid")
        #expect(
            try await send("cancel", #"{"requestInfo":{"requestReferenceId":"1"}}"#, asking: []).code == "bodyInvalid")
        #expect(try await audited().isEmpty)
    }
}
