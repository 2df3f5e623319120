import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A performer that ends its service at a step, or does not look for the store's statement by itself.
struct InterruptedPerformer: StoreActionPerformer {
    /// A step at which a service ends: before it asks, before the action, and before the answer is recorded.
    enum Step: CaseIterable {
        case begun, prepared, sent
    }

    struct Ended: Error {}

    let performer: any StoreActionPerformer
    var step: Step?
    var looks = true
    /// True for a store that does not answer.
    var isSilent = false

    var app: String { performer.app }
    var origins: Set<Origin> { performer.origins }

    func has(_ target: StoreActionTarget) async throws -> Bool { try await performer.has(target) }

    func prepare(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> StoreActionPreparation {
        if step == .begun { throw Ended() }
        if isSilent { throw StoreActionFailure(StoreActionError.keyMissing(store: .appStore).rule, isFinal: false) }
        return try await performer.prepare(action, target)
    }

    func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject {
        if step == .prepared { throw Ended() }
        let answer = try await performer.perform(action, target, after: before)
        if step == .sent { throw Ended() }
        return answer
    }

    func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? {
        looks ? try await performer.look(at: action, target) : nil
    }
}

extension StoreActionService {
    /// Does what is due at all stores.
    func performDue() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in work(logger: ServiceFixture.logger) { group.addTask { _ = try await lane.perform() } }
            try await group.waitForAll()
        }
    }
}

/// A store that answers no question before it is let go.
private struct HeldStore: StoreActionPerformer {
    let performer: any StoreActionPerformer
    let asked: AsyncStream<Void>.Continuation
    let letGo: AsyncStream<Void>

    var app: String { performer.app }
    var origins: Set<Origin> { performer.origins }

    func has(_ target: StoreActionTarget) async throws -> Bool { true }

    func prepare(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> StoreActionPreparation {
        asked.yield()
        for await _ in letGo { break }
        return try await performer.prepare(action, target)
    }

    func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject { try await performer.perform(action, target, after: before) }

    func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? {
        try await performer.look(at: action, target)
    }
}

/// Actions at a local Google Play, over HTTP.
@Suite struct GooglePlayActionTests {
    private static let path = "/v1/store-actions"
    private static let first = "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10"
    private static let second = "5d3f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d11"

    private static func body(
        _ kind: String, of transaction: String, _ fields: [String: JSONValue] = [:]
    ) -> JSONValue {
        var object: JSONObject = [
            "kind": .string(kind), "transaction": .string(transaction), "reason": "Bought by mistake",
        ]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { _ = object.add(name, value) }
        return .object(object)
    }

    private static func ask(
        _ service: PlayService, _ body: JSONValue, as identifier: String = first, key: String? = nil
    ) async throws -> StoreActionResource {
        let answer = try await service.send(.put, "\(path)/\(identifier)", body, key: key)
        #expect(answer.status == 200, "\(answer.code ?? "")")
        return try answer.decoded(StoreActionResource.self)
    }

    private static func redeemed(_ token: String, at service: PlayService) async throws -> TransactionResource {
        #expect(try await service.redeem(token).status == 200)
        return try #require(try await service.transactions().first)
    }

    @Test(arguments: [false, true])
    func `an order is refunded, and the goods stay or go`(takesGoods: Bool) async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            let action = try await Self.ask(
                service, Self.body("refund", of: charge.transactionId, ["takesGoods": .bool(takesGoods)]))
            #expect(action.state == "confirmed" && action.attempts == 0 && action.lastError == nil)
            let refund = try #require(try fixture.purchase(bought.number).refunds.first)
            #expect(refund.isRevoking == takesGoods && refund.source == .developer)
            #expect(try await service.items("gate") == (takesGoods ? [] : [1]))
            #expect(try await service.transactions().first?.facts["refundedAmount"] != nil)
        }
    }

    @Test(arguments: [false, true])
    func `an explanation names the action by which support refunds, if the service can ask`(hasKey: Bool) async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service {
                hasKey ? $0 : UnaskedStore(app: TestGarden.bundleIdentifier)
            }
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            _ = try fixture.play.perform { try $0.refund(bought.number, isRevoking: true, source: .developer) }
            _ = try await service.app.refresh(bought.token)
            let explained = try await service.send(.get, "/v1/users/alice/items/gate/1/explanation").decoded(
                ExplanationResource.self)
            #expect(!explained.isOwned && ["refunded", "revokedByAppStore"].contains(explained.cause))
            let command = "`till actions request refund \(charge.transactionId)` has the order refunded"
            #expect(explained.remedy?.contains(hasKey ? command : "refunded in the Play Console, or by Google") == true)
            #expect(explained.remedy?.contains("Only Google") == false)
        }
    }

    @Test func `a repeated request refunds nothing twice`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            let body = Self.body("refund", of: charge.transactionId)
            for identifier in [Self.first, Self.first.uppercased(), Self.second] {
                #expect(try await Self.ask(service, body, as: identifier).actionId == Self.first)
            }
            #expect(try fixture.purchase(bought.number).refunds.count == 1)
            let other = Self.body("refund", of: charge.transactionId, ["takesGoods": .bool(true)])
            #expect(try await service.send(.put, "\(Self.path)/\(Self.first)", other).code == "storeActionDiffers")
            #expect(try await service.send(.put, "\(Self.path)/\(Self.second)", other).code == "storeActionUnderWay")
            let listed = try await service.send(.get, "\(Self.path)?state=confirmed").decoded(
                List<StoreActionResource>.self)
            #expect(listed.elements.map(\.actionId) == [Self.first])
        }
    }

    @Test func `who has asked, and why, is in the story`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let charge = try await Self.redeemed(try fixture.buy("garden.gate").token, at: service)
            let action = try await Self.ask(service, Self.body("refund", of: charge.transactionId))
            #expect(action.requestedByName == "tests" && action.reason == "Bought by mistake")
            let story = try await service.send(.get, "/v1/users/alice/story?kind=team").decoded(
                List<StoryEntryResource>.self
            ).elements
            #expect(story.map(\.kind) == ["storeAnswered", "storeAsked"])
            #expect(story.map(\.reason) == ["refund accepted", "refund: Bought by mistake"])
            #expect(story.last?.actorName == "tests" && story.first?.actor == "Google Play")
            #expect(story.allSatisfy { $0.reference == charge.transactionId })
        }
    }

    @Test func `a renewal is turned off, and a charge is moved by days`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.subscribe()
            let charge = try await Self.redeemed(bought.token, at: service)
            let moved = try await Self.ask(
                service, Self.body("extend", of: charge.transactionId, ["days": .integer(30)]))
            // The first version of the method, which Google has deprecated, answers `newExpiryTimeMillis`.
            #expect(moved.state == "confirmed" && moved.answer?["itemExpiryTimeDetails"] != nil)
            #expect(try fixture.subscription(bought.number).expiryTime == bought.expiryTime.adding(days: 30))
            let end = try #require(
                try await service.transactions().first?.expiresDate.flatMap { Timestamp(rfc3339: $0) })
            #expect(end == bought.expiryTime.adding(days: 30))
            // Another identifier may come from a person whose connection broke. Only a word makes it another extension.
            for days in [30, 1] {
                let retry = Self.body("extend", of: charge.transactionId, ["days": .integer(days)])
                let refused = try await service.send(.put, "\(Self.path)/\(Self.second)", retry)
                #expect(refused.code == "storeActionRepeated")
                #expect(try refused.decoded(ProblemResource.self).detail.contains(Self.first))
            }
            #expect(try fixture.subscription(bought.number).expiryTime == bought.expiryTime.adding(days: 30))
            let again = Self.body(
                "extend", of: charge.transactionId, ["days": .integer(1), "isAdditional": .bool(true)])
            _ = try await Self.ask(service, again, as: Self.second)
            #expect(try fixture.subscription(bought.number).expiryTime == bought.expiryTime.adding(days: 31))

            let canceled = try await Self.ask(
                service, Self.body("cancel", of: charge.transactionId, ["stops": "payments"]), as: UUID().uuidString)
            #expect(canceled.state == "confirmed")
            let purchase = try fixture.subscription(bought.number)
            #expect(purchase.state == .canceled && purchase.cancellation == .developer)
            #expect(try await service.items("plus") == [1])
        }
    }

    @Test(arguments: ["full", "prorated", "item"])
    func `a subscription ends at once, and its last charge is paid back`(share: String) async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.subscribe()
            let charge = try await Self.redeemed(bought.token, at: service)
            // Google Play refunds a purchase that is not acknowledged in three days.
            try await service.acknowledge()
            fixture.advance(days: 10)
            let action = try await Self.ask(
                service, Self.body("revoke", of: charge.transactionId, ["share": .string(share)]))
            #expect(action.state == "confirmed")
            let period = try #require(try fixture.subscription(bought.number).periods.last)
            #expect((period.refunded == period.price) == (share != "prorated"))
            #expect(try await service.items("plus").isEmpty)
            // It is over, so nothing is left to turn off.
            let late = try await Self.ask(
                service, Self.body("cancel", of: charge.transactionId), as: Self.second)
            #expect(late.state == "refused" && late.lastError?.contains("invalidPurchaseState") == true)
        }
    }

    /// The cases of an interrupted attempt: the action, and the effects that the Play must show once.
    @Test(
        arguments: InterruptedPerformer.Step.allCases, [StoreAction.Kind.refund, .revoke, .cancel, .extend])
    func `nothing is lost and nothing happens twice if the service ends at a step`(
        step: InterruptedPerformer.Step, kind: StoreAction.Kind
    ) async throws {
        try await GooglePlayFixture.run { fixture in
            let ended = try await fixture.service { InterruptedPerformer(performer: $0, step: step) }
            let bought = try fixture.subscribe()
            let charge = try await Self.redeemed(bought.token, at: ended)
            let fields: [String: JSONValue] = kind == .extend ? ["days": .integer(30)] : [:]
            let body = Self.body(kind.rawValue, of: charge.transactionId, fields)
            #expect(try await ended.send(.put, "\(Self.path)/\(Self.first)", body).status == 500)

            // Before the pause is over, the next service leaves it alone.
            let service = try await fixture.service()
            try await service.actions.performDue()
            #expect(try await Self.action(service).state == "waiting")
            fixture.advance(seconds: 100)
            try await service.actions.performDue()
            #expect(try await Self.action(service).state == "confirmed")
            let purchase = try fixture.subscription(bought.number)
            switch kind {
            case .refund, .revoke: #expect(purchase.periods.map(\.refunded) == [purchase.periods[0].price])
            case .cancel: #expect(purchase.state == .canceled)
            default: #expect(purchase.expiryTime == bought.expiryTime.adding(days: 30))
            }
            let story = try await service.send(.get, "/v1/users/alice/story?kind=team").decoded(
                List<StoryEntryResource>.self
            ).elements
            #expect(story.map(\.kind) == ["storeAnswered", "storeAsked"])
        }
    }

    private static func action(_ service: PlayService, _ identifier: String = first) async throws -> StoreActionResource
    {
        try await service.send(.get, "\(path)/\(identifier)").decoded(StoreActionResource.self)
    }

    @Test func `an extension that a renewal hides is told, and not repeated`() async throws {
        try await GooglePlayFixture.run { fixture in
            let ended = try await fixture.service { InterruptedPerformer(performer: $0, step: .sent) }
            let bought = try fixture.subscribe()
            let charge = try await Self.redeemed(bought.token, at: ended)
            try await ended.acknowledge()
            let body = Self.body("extend", of: charge.transactionId, ["days": .integer(30)])
            #expect(try await ended.send(.put, "\(Self.path)/\(Self.first)", body).status == 500)
            let service = try await fixture.service()
            try service.advance(days: 62)
            try await service.actions.performDue()
            let action = try await Self.action(service)
            #expect(action.state == "refused" && action.lastError?.contains("nobody can tell") == true)
        }
    }

    @Test func `the notification of the Play confirms an accepted action`() async throws {
        try await GooglePlayFixture.run { fixture in
            let issuer = try TestPushIssuer.shared.get()
            let service = try await fixture.service(notifiedBy: .issuer(issuer)) {
                InterruptedPerformer(performer: $0, looks: false)
            }
            let bought = try fixture.subscribe()
            let charge = try await Self.redeemed(bought.token, at: service)
            let action = try await Self.ask(service, Self.body("cancel", of: charge.transactionId))
            #expect(action.state == "accepted" && action.nextAttemptAt != nil)
            // 3 is SUBSCRIPTION_CANCELED (developer.android.com/google/play/billing/rtdn-reference).
            #expect(try await service.push(PlayService.ofSubscription(bought.token, type: 3)).status == 200)
            fixture.advance(seconds: 1)
            try await service.actions.performDue()
            #expect(try await Self.action(service).state == "confirmed")
        }
    }

    @Test func `a second person approves what the operator lists`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service(approving: [.refund])
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            let body = Self.body("refund", of: charge.transactionId)
            #expect(try await Self.ask(service, body).state == "awaitingApproval")
            try await service.actions.performDue()
            #expect(try fixture.purchase(bought.number).refunds.isEmpty)
            let decision = "\(Self.path)/\(Self.first)/decision"
            let approval: JSONValue = .object(["isApproved": .bool(true)])
            #expect(try await service.send(.put, decision, approval).code == "storeActionOwnApproval")
            let approved = try await service.send(.put, decision, approval, key: service.bobsKey).decoded(
                StoreActionResource.self)
            #expect(approved.state == "confirmed" && approved.decidedByName == "bob's")
            #expect(try fixture.purchase(bought.number).refunds.count == 1)
            #expect(
                try await service.send(.put, decision, approval, key: service.bobsKey).code == "storeActionDecided")
            let story = try await service.send(.get, "/v1/users/alice/story?kind=team").decoded(
                List<StoryEntryResource>.self
            ).elements
            #expect(story.map(\.kind) == ["storeAnswered", "storeRequestDecided", "storeAsked"])
            #expect(story[1].actorName == "bob's" && story[1].reason == "approved refund: Bought by mistake")
        }
    }

    @Test func `a declined action is not performed, and can be asked for again`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service(approving: [.refund])
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            let body = Self.body("refund", of: charge.transactionId)
            _ = try await Self.ask(service, body)
            let declined = try await service.send(
                .put, "\(Self.path)/\(Self.first)/decision", .object(["isApproved": .bool(false)])
            ).decoded(StoreActionResource.self)
            #expect(declined.state == "declined" && declined.nextAttemptAt == nil)
            #expect(try await Self.ask(service, body, as: Self.second).state == "awaitingApproval")
            #expect(try fixture.purchase(bought.number).refunds.isEmpty)
        }
    }

    @Test func `a store that does not answer is asked again, after a question if it was done`() async throws {
        try await GooglePlayFixture.run { fixture in
            let bought = try fixture.buy("garden.gate")
            let service = try await fixture.service()
            let charge = try await Self.redeemed(bought.token, at: service)
            let offline = try await fixture.service(isReachable: false)
            let waiting = try await Self.ask(offline, Self.body("refund", of: charge.transactionId))
            #expect(waiting.state == "waiting" && waiting.lastError?.contains("does not answer") == true)
            let decline: JSONValue = .object(["isApproved": .bool(false)])
            let late = try await offline.send(.put, "\(Self.path)/\(Self.first)/decision", decline)
            #expect(late.code == "storeActionDecided")
            // Somebody refunds it in the Play Console meanwhile: the order says so.
            _ = try fixture.play.perform { try $0.refund(bought.number, isRevoking: false, source: .developer) }
            fixture.advance(seconds: 100)
            try await service.actions.performDue()
            #expect(try await Self.action(service).state == "confirmed")
            #expect(try fixture.purchase(bought.number).refunds.count == 1)
        }
    }

    @Test func `two keys of one person, and keys of nobody, approve nothing`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service(approving: [.refund])
            let bought = try fixture.buy("garden.gate")
            let charge = try await Self.redeemed(bought.token, at: service)
            let body = Self.body("refund", of: charge.transactionId)
            #expect(try await Self.ask(service, body, key: service.adasKey).state == "awaitingApproval")
            let decision = "\(Self.path)/\(Self.first)/decision"
            let approval: JSONValue = .object(["isApproved": .bool(true)])
            let second = try await service.keys.make(name: "ada's second", scopes: [.stores], person: "ada").key
            #expect(try await service.send(.put, decision, approval, key: second).code == "storeActionOwnApproval")
            #expect(try await service.send(.put, decision, approval).code == "storeActionPersonMissing")
            await #expect(throws: StoreActionError.ownApproval) {
                try await service.actions.decide(
                    Self.first, approving: true, by: AuditActor.caller(member: "ada"))
            }
            #expect(try fixture.purchase(bought.number).refunds.isEmpty)
            let approved = try await service.send(.put, decision, approval, key: service.bobsKey)
            #expect(try approved.decoded(StoreActionResource.self).state == "confirmed")
        }
    }

    @Test func `what the store refuses is told with its reason, and not asked again`() async throws {
        try await GooglePlayFixture.run { fixture in
            let bought = try fixture.buy("garden.gate")
            let service = try await fixture.service()
            let charge = try await Self.redeemed(bought.token, at: service)
            _ = try fixture.play.perform { try $0.refund(bought.number, isRevoking: false, source: .developer) }
            let refused = try await Self.ask(service, Self.body("refund", of: charge.transactionId))
            #expect(refused.state == "refused" && refused.lastError?.contains("400 invalidValue") == true)
            #expect(refused.nextAttemptAt == nil)
            // A refused action does not stand in the way of another one.
            let again = try await Self.ask(service, Self.body("refund", of: charge.transactionId), as: Self.second)
            #expect(again.actionId == Self.second && again.state == "refused")
        }
    }

    @Test func `requests that the store cannot perform are refused before they are recorded`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let gate = try await Self.redeemed(try fixture.buy("garden.gate").token, at: service)
            let cases: [(JSONValue, String)] = [
                (Self.body("extendAll", of: gate.transactionId), "bodyInvalid"),
                (Self.body("cancel", of: gate.transactionId), "storeActionNotOfSubscription"),
                (Self.body("refund", of: "unknown"), "transactionNotFound"),
                (Self.body("give", of: gate.transactionId), "bodyInvalid"),
                (Self.body("refund", of: gate.transactionId, ["days": .integer(3)]), "storeActionTermsInvalid"),
                (Self.body("refund", of: gate.transactionId, ["takesGoods": "yes"]), "storeActionTermsInvalid"),
            ]
            for (body, code) in cases {
                #expect(try await service.send(.put, "\(Self.path)/\(Self.first)", body).code == code, "\(body)")
            }
            let monthly = try await Self.redeemed(try fixture.subscribe().token, at: service)
            for days in [0, 366] {
                let body = Self.body("extend", of: monthly.transactionId, ["days": .integer(days)])
                #expect(
                    try await service.send(.put, "\(Self.path)/\(Self.first)", body).code == "storeActionTermsInvalid")
            }
            #expect(try await service.send(.put, "\(Self.path)/x", cases[1].0).code == "parameterInvalid")
            #expect(try await service.send(.get, "\(Self.path)/\(Self.first)").code == "storeActionUnknown")
            #expect(
                try await service.send(.get, Self.path).decoded(List<StoreActionResource>.self).elements.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `an order that nobody has redeemed is refunded`(takesGoods: Bool) async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.buy("garden.gate")
            #expect(try await service.app.refresh(bought.token) == [.parked])
            let order = try #require(try await service.unclaimed())
            let action = try await Self.ask(
                service, Self.body("refund", of: order, ["takesGoods": .bool(takesGoods)]))
            #expect(action.state == "confirmed" && action.transaction == order)
            #expect(try fixture.purchase(bought.number).refunds.map(\.isRevoking) == [takesGoods])
            let again = try await Self.ask(
                service, Self.body("refund", of: order, ["takesGoods": .bool(takesGoods)]), as: Self.second)
            #expect(again.actionId == Self.first)
            #expect(try fixture.purchase(bought.number).refunds.count == 1)
            #expect(try await service.send(.get, "/v1/users/alice/story").code == nil)
        }
    }

    @Test(arguments: [StoreAction.Kind.revoke, .cancel, .extend])
    func `a subscription that nobody has redeemed is ended, canceled and moved`(kind: StoreAction.Kind) async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let bought = try fixture.subscribe()
            #expect(try await service.app.refresh(bought.token) == [.parked])
            let charge = try #require(try await service.unclaimed())
            let fields: [String: JSONValue] = kind == .extend ? ["days": .integer(30)] : [:]
            let action = try await Self.ask(service, Self.body(kind.rawValue, of: charge, fields))
            #expect(action.state == "confirmed", "\(action.lastError ?? "")")
            let purchase = try fixture.subscription(bought.number)
            switch kind {
            case .revoke: #expect(purchase.periods.map(\.refunded) == [purchase.periods[0].price])
            case .cancel: #expect(purchase.state == .canceled)
            default: #expect(purchase.expiryTime == bought.expiryTime.adding(days: 30))
            }
        }
    }

    @Test func `an erasure removes the reason`() async throws {
        try await GooglePlayFixture.run { fixture in
            let service = try await fixture.service()
            let charge = try await Self.redeemed(try fixture.buy("garden.gate").token, at: service)
            _ = try await Self.ask(service, Self.body("refund", of: charge.transactionId))
            #expect(try await service.send(.post, "/v1/users/alice/erasure").status == 204)
            let action = try await Self.action(service)
            #expect(action.reason == "erased" && action.state == "confirmed")
        }
    }
}

/// Actions at a local App Store, by the use cases.
@Suite struct AppStoreActionTests {
    let garden: TestGarden
    let service: EntitlementService
    let alice: User

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock,
            accepted: AcceptedOrigins([.localSandbox]))
        alice = try #require(User(name: "alice"))
    }

    private func actions(
        _ client: AppStoreServerClient, step: InterruptedPerformer.Step? = nil, looks: Bool = true,
        isSilent: Bool = false
    ) -> StoreActionService {
        let reconciler = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
        let performer = InterruptedPerformer(
            performer: AppStoreActions(by: reconciler), step: step, looks: looks, isSilent: isSilent)
        return StoreActionService(service, at: [performer])
    }

    /// Buys a subscription without a free trial, which would not qualify, and redeems it.
    ///
    /// - Returns: The transaction.
    private func subscribe(_ product: String = "garden.premium.monthly") async throws -> String {
        let bought = try garden.buy(product)
        _ = try await service.redeem(Array(try garden.store.signedTransaction(bought.identifier).utf8), for: alice)
        return try #require(bought.purchase?.transactionIdentifier)
    }

    private func request(
        _ kind: StoreAction.Kind, of reference: String, _ fields: [StoreActionField: JSONValue] = [:],
        as identifier: String = UUID().uuidString.lowercased(), isAdditional: Bool = false
    ) -> StoreActionRequest {
        StoreActionRequest(
            identifier, kind, of: reference, origin: nil, app: nil, reason: "An outage", fields,
            isAdditional: isAdditional)
    }

    private func end() async throws -> Timestamp {
        try #require(
            try await service.transactions(of: alice, before: nil, limit: 1).first?.expiresAt)
    }

    @Test func `a renewal date is extended, and the statement of the App Store confirms it`() async throws {
        let transaction = try await subscribe()
        let before = try await end()
        try await garden.withStore { client in
            let actions = actions(client)
            let request = request(.extend, of: transaction, [.days: .integer(30), .cause: "serviceIssue"])
            for _ in 0..<2 {
                let action = try await actions.perform(try await actions.request(request, by: "K"))
                #expect(action.state == .confirmed && action.answer?["effectiveDate"] != nil)
            }
            #expect(try await end() == before.adding(days: 30))
            // "You can extend the renewal date twice within a year (365 days) per customer."
            for (number, state) in [StoreAction.State.confirmed, .refused].enumerated() {
                let more = self.request(.extend, of: transaction, [.days: .integer(number + 1)], isAdditional: true)
                let action = try await actions.perform(try await actions.request(more, by: "K"))
                #expect(action.state == state)
            }
            #expect(try await end() == before.adding(days: 31))
        }
    }

    @Test(arguments: [StoreAction.Kind.extend, .extendAll])
    func `a request with another identifier extends nothing twice`(kind: StoreAction.Kind) async throws {
        let transaction = try await subscribe()
        let before = try await end()
        try await garden.withStore { client in
            let reference = kind == .extend ? transaction : "garden.premium.monthly"
            let slow = actions(client, looks: false)
            let asked = request(kind, of: reference, [.days: .integer(7)])
            let accepted = try await slow.perform(try await slow.request(asked, by: "K"))
            #expect(accepted.state == .accepted)
            // The store has it under way: the retry is about the same action, and other terms are refused.
            let retried = try await slow.request(request(kind, of: reference, [.days: .integer(7)]), by: "K")
            #expect(retried.identifier == accepted.identifier && retried.state == .accepted)
            for isAdditional in [false, true] {
                await #expect(throws: StoreActionError.underWay(accepted.identifier)) {
                    try await slow.request(
                        request(kind, of: reference, [.days: .integer(8)], isAdditional: isAdditional), by: "K")
                }
            }
            // The store has stated the effect, so another one would add to it.
            _ = try garden.store.advance(seconds: 1)
            let actions = actions(client)
            let confirmed = try await actions.perform(accepted)
            let answered = try #require(confirmed.answeredAt)
            #expect(confirmed.state == .confirmed)
            let again = request(kind, of: reference, [.days: .integer(7)])
            await #expect(throws: StoreActionError.repeated(accepted.identifier, at: answered)) {
                try await actions.request(again, by: "K")
            }
            for notification in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            }
            #expect(try await end() == before.adding(days: 7))
            _ = try garden.store.advance(seconds: 7 * 86_400)
            #expect(try await actions.request(again, by: "K").identifier == again.identifier)
        }
    }

    @Test(arguments: [false, true])
    func `a renewal date that nobody has redeemed is extended, by its transaction or order`(
        namesOrder: Bool
    ) async throws {
        let bought = try garden.buy("garden.premium.monthly")
        let transaction = try #require(bought.purchase?.transactionIdentifier)
        for notification in try garden.store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let parked = try await service.unclaimedPurchases(ofTransaction: transaction, after: nil, limit: 9)
        #expect(parked.map(\.transactionIdentifier) == [transaction])
        let sold = try #require(try garden.store.history(of: "alice").last)
        try await garden.withStore { client in
            let keys = service.ledger.apiKeys(clock: garden.store.clock)
            let key = try await keys.make(name: "desk", scopes: [.stores]).key
            var stores = StoreClients()
            stores.orders = [client]
            let made = actions(client)
            let till = Till(service, clock: garden.store.clock) { $0.storeActions = made }
            let routes = ServiceRoutes(till, stores: stores, RouteSettings(.apiKeys(keys)))
            let reference = namesOrder ? sold.orderIdentifier : transaction
            let body = ByteBuffer(
                string: #"{"kind":"extend","transaction":"\#(reference)","days":30,"reason":"An outage"}"#)
            try await Application(router: routes.router()).test(.router) { browser in
                let answer = try await browser.executeRequest(
                    uri: "/v1/store-actions/\(UUID().uuidString)", method: .put,
                    headers: [.authorization: "Bearer \(key)"], body: body)
                #expect(answer.status == .ok)
                #expect(String(buffer: answer.body).contains("\"confirmed\""), "\(String(buffer: answer.body))")
            }
        }
        let now = try #require(try garden.store.history(of: "alice").last)
        #expect(now.expiresDate == sold.expiresDate?.adding(days: 30))
    }

    @Test func `the notification of an extension confirms it`() async throws {
        let transaction = try await subscribe()
        try await garden.withStore { client in
            let actions = actions(client, looks: false)
            let request = request(.extend, of: transaction, [.days: .integer(3)])
            let accepted = try await actions.perform(try await actions.request(request, by: "K"))
            #expect(accepted.state == .accepted)
            let sent = try #require(try garden.store.notifications().last)
            _ = try await service.receive(notification: Array(sent.signedPayload.utf8))
            _ = try garden.store.advance(seconds: 1)
            #expect(try await actions.perform(accepted).state == .confirmed)
        }
    }

    @Test(arguments: InterruptedPerformer.Step.allCases)
    func `an extension happens once if the service ends at a step`(step: InterruptedPerformer.Step) async throws {
        let transaction = try await subscribe()
        let before = try await end()
        try await garden.withStore { client in
            let ended = actions(client, step: step)
            let action = try await ended.request(request(.extend, of: transaction, [.days: .integer(30)]), by: "K")
            await #expect(throws: InterruptedPerformer.Ended.self) { try await ended.perform(action) }
            _ = try garden.store.advance(seconds: 100)
            let actions = actions(client)
            let waiting = try await actions.action(action.identifier)
            #expect(waiting.state == .waiting)
            #expect(try await actions.perform(waiting).state == .confirmed)
            #expect(try await end() == before.adding(days: 30))
        }
    }

    @Test(arguments: [InterruptedPerformer.Step.begun, .prepared])
    func `a fault of the service ends at the deadline, and holds no other action back`(
        step: InterruptedPerformer.Step
    ) async throws {
        let broken = try await subscribe()
        try await garden.withStore { client in
            let faulty = actions(client, step: step)
            let action = try await faulty.request(request(.extend, of: broken, [.days: .integer(30)]), by: "K")
            for days in 1...3 {
                _ = try garden.store.advance(seconds: 86_400)
                await #expect(throws: InterruptedPerformer.Ended.self) { try await faulty.performDue() }
                let now = try await faulty.action(action.identifier)
                let rule = (step == .begun ? StoreActionError.failed : .uncertain(.appStore)).rule
                #expect(now.state == (days == 3 ? .refused : .waiting))
                #expect(now.lastError == (days == 3 ? rule : StoreActionError.failed.rule).detail)
            }
            // Nothing is due any more.
            try await faulty.performDue()
        }
    }

    @Test func `a store that is slow holds no other store back`() async throws {
        let transaction = try await subscribe()
        try await garden.withStore { client in
            let reconciler = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
            let (asked, askedOf) = AsyncStream<Void>.makeStream()
            let (letGo, goOn) = AsyncStream<Void>.makeStream()
            let slow = HeldStore(
                performer: AppStoreActions(by: reconciler), asked: askedOf, letGo: letGo)
            let actions = StoreActionService(
                service, at: [slow, UnaskedStore(app: "com.example.other", origins: [.localPlayProduction])])
            let action = try await actions.request(
                request(.extend, of: transaction, [.days: .integer(30)]), by: "K")
            let lanes = actions.work(logger: ServiceFixture.logger)
            // One lane for each app at a store, and one for the actions of other apps.
            #expect(lanes.count == 3)
            let work = Task { try await lanes[0].perform() }
            for await _ in asked { break }
            #expect(try await lanes[1].perform() == false)
            #expect(try await lanes[2].perform() == false)
            goOn.yield()
            #expect(try await work.value)
            #expect(try await actions.action(action.identifier).state == .confirmed)
        }
    }

    @Test func `an action whose store has no key any more is given up after three days`() async throws {
        let transaction = try await subscribe()
        try await garden.withStore { client in
            let asked = try await actions(client).request(
                request(.extend, of: transaction, [.days: .integer(30)]), by: "K")
            _ = try garden.store.advance(seconds: 3 * 86_400)
            let keyless = StoreActionService(
                service, at: [UnaskedStore(app: "com.example.other", origins: [.localSandbox])])
            try await keyless.performDue()
            let over = try await keyless.action(asked.identifier)
            #expect(
                over.state == .refused && over.lastError == StoreActionError.keyMissing(store: .appStore).rule.detail)
        }
    }

    @Test(arguments: [InterruptedPerformer.Step.begun, .sent])
    func `a store that is silent for three days leaves open what an attempt has done`(
        step: InterruptedPerformer.Step
    ) async throws {
        let transaction = try await subscribe()
        try await garden.withStore { client in
            let ended = actions(client, step: step)
            let action = try await ended.request(request(.extend, of: transaction, [.days: .integer(30)]), by: "K")
            await #expect(throws: InterruptedPerformer.Ended.self) { try await ended.perform(action) }
            _ = try garden.store.advance(seconds: 4 * 86_400)
            let silent = actions(client, isSilent: true)
            let over = try await silent.perform(try await silent.action(action.identifier))
            let reason: StoreActionError = step == .sent ? .uncertain(.appStore) : .keyMissing(store: .appStore)
            #expect(over.state == .refused && over.lastError == reason.rule.detail)
        }
    }

    @Test func `all subscribers of a product are extended, and the summary is told`() async throws {
        _ = try await subscribe()
        _ = try garden.buy("garden.premium.monthly", account: "bob")
        let before = try await end()
        try await garden.withStore { client in
            let actions = actions(client)
            let request = request(.extendAll, of: "garden.premium.monthly", [.days: .integer(7)])
            let action = try await actions.perform(try await actions.request(request, by: "member ada"))
            #expect(action.state == .confirmed && action.transactionIdentifier == nil)
            #expect(action.answer?["succeededCount"] == .integer(2) && action.answer?["failedCount"] == .integer(0))
            for notification in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            }
            #expect(try await end() == before.adding(days: 7))
        }
    }

    @Test func `the summary notification ends an extension of all subscribers`() async throws {
        _ = try await subscribe()
        try await garden.withStore { client in
            let actions = actions(client, looks: false)
            let request = request(
                .extendAll, of: "garden.premium.monthly", [.days: .integer(7), .storefronts: .array(["KOR"])])
            let accepted = try await actions.perform(try await actions.request(request, by: "K"))
            #expect(accepted.state == .accepted)
            for notification in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            }
            _ = try garden.store.advance(seconds: 1)
            let confirmed = try await actions.perform(accepted)
            #expect(confirmed.state == .confirmed)
            #expect(confirmed.answer?.text("productId") == "garden.premium.monthly")
        }
    }

    @Test(arguments: InterruptedPerformer.Step.allCases)
    func `all subscribers are extended once if the service ends at a step`(
        step: InterruptedPerformer.Step
    ) async throws {
        _ = try await subscribe()
        try await garden.withStore { client in
            let ended = actions(client, step: step)
            let request = request(.extendAll, of: "garden.premium.monthly", [.days: .integer(7)])
            let action = try await ended.request(request, by: "K")
            await #expect(throws: InterruptedPerformer.Ended.self) { try await ended.perform(action) }
            _ = try garden.store.advance(seconds: 100)
            let actions = actions(client)
            #expect(try await actions.perform(try await actions.action(action.identifier)).state == .confirmed)
            let summaries = try garden.notifications().filter { $0.subtype == "SUMMARY" }
            #expect(summaries.count == 1)
        }
    }

    @Test func `the document has the row of each action at each store`() throws {
        let page = try Project.text("Documentation/API.md")
        for kind in StoreAction.Kind.allCases {
            for endpoint in kind.rule.endpoints {
                let fields = endpoint.fields.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                let row = "| `\(kind.rawValue)` | \(endpoint.store.name) | \(endpoint.name) | \(fields) |"
                #expect(page.contains(row), "\(row)")
            }
        }
    }

    @Test func `Apple lets no server refund, cancel or revoke what no server has described`() async throws {
        let transaction = try await subscribe()
        try await garden.withStore { client in
            let actions = actions(client)
            for kind in [StoreAction.Kind.refund, .cancel, .revoke, .changePrice, .changeMetadata] {
                await #expect(throws: StoreActionError.notPossible(store: .appStore, kind)) {
                    try await actions.request(request(kind, of: transaction), by: "K")
                }
            }
            let offers = try await actions.offers(about: transaction, .localSandbox, in: TestGarden.bundleIdentifier)
            #expect(offers.map(\.kind) == [.extend, .migrate])
        }
    }

    @Test func `without a key of the store, nothing is recorded`() async throws {
        let transaction = try await subscribe()
        let none = StoreActionService(service)
        await #expect(throws: StoreActionError.keyMissing(store: .appStore)) {
            try await none.request(request(.extend, of: transaction, [.days: .integer(1)]), by: "K")
        }
        #expect(try await none.actions(limit: 9).isEmpty)
    }
}
