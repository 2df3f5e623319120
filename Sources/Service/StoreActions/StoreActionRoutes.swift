import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Synchronization
import Vocabulary

/// The routes of actions at stores. Their bodies follow from the table of actions.
struct StoreActionRoutes: OperationGroup {
    static let tag = OperationTag(
        "Store actions", "Refunds, cancellations and moved charges, for which the service asks the stores.",
        [.listStoreActions, .readStoreAction, .requestStoreAction, .decideStoreAction])
    static let errors: [any RuledError] = [
        StoreActionError.notOfSubscription, StoreActionError.orderMissing, StoreActionError.ambiguous,
        StoreActionError.differs, StoreActionError.unknown, StoreActionError.ownApproval,
        StoreActionError.personMissing,
    ]
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listStoreActions) { request, context in
            let state = try request.query("state", as: StoreAction.State.self)
            let reference = try request.query("reference")
            let keys = try await service.ledger.apiKeyNames()
            return try await RequestedPage(request).answer(naming: keys, at: \.position) { position, limit in
                try await actions(context).actions(in: state, about: reference, after: position, limit: limit)
            }
        }
        group.on(.readStoreAction) { _, context in
            try await answer(try await actions(context).action(try Self.identifier(context)))
        }
        group.on(.requestStoreAction) { request, context in
            let actions = actions(context)
            let requested = try await Self.request(request, context)
            let action = try await ask(requested, actions, by: try context.requiredCaller.name, context)
            return try await answer(try await perform(action, actions))
        }
        group.on(.decideStoreAction) { request, context in
            let actions = actions(context)
            let body = try await JSONBody(request, context, of: .decideStoreAction)
            guard body.object["isApproved"] != nil else {
                throw JSONBody.invalid("The field /isApproved is missing: it must be true or false.")
            }
            let action = try await actions.decide(
                try Self.identifier(context), approving: try body.flag("isApproved"),
                by: try context.requiredCaller.name)
            return try await answer(try await perform(action, actions))
        }
    }

    private func actions(_ context: ServiceContext) -> StoreActionService {
        till.storeActions.limited(to: context.caller?.limitingApp)
    }

    /// Records a request. The App Store is asked about an order, of which no proof tells. An order of a renewal leads to the first charge of
    /// its subscription, so it names no charge to pay back.
    private func ask(
        _ request: StoreActionRequest, _ actions: StoreActionService, by caller: String, _ context: ServiceContext
    ) async throws -> StoreAction {
        do { return try await actions.request(request, by: caller) } catch GrantError.transactionNotFound
            where request.kind.rule.object == .subscription
        {
            let originals = try await service.limited(to: context).originalTransactions(
                ofOrder: request.reference, asking: stores.orders)
            guard let original = originals.first else { throw GrantError.transactionNotFound }
            guard originals.count == 1 else { throw GrantError.transactionAmbiguous }
            return try await actions.request(request.naming(original), by: caller)
        }
    }

    /// The first attempt, so that the answer of the store is the answer to the request. The background work makes the others.
    private func perform(_ action: StoreAction, _ actions: StoreActionService) async throws -> StoreAction {
        action.state == .waiting && action.attempts == 0 ? try await actions.perform(action) : action
    }

    private func answer(_ action: StoreAction) async throws -> Response {
        try action.answer(naming: try await service.ledger.apiKeyNames())
    }

    private static func identifier(_ context: ServiceContext) throws -> String {
        guard let identifier = UUID(uuidString: try context.parameters.text("action")) else {
            throw Problem.parameter("action", "a UUID")
        }
        return identifier.lowercasedString
    }

    private static func request(_ request: Request, _ context: ServiceContext) async throws -> StoreActionRequest {
        let body = try await JSONBody(request, context, of: .requestStoreAction)
        guard let kind = StoreAction.Kind(rawValue: try body.text("kind")) else {
            let kinds = StoreAction.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONBody.invalid("The field /kind must be one of \(kinds).")
        }
        let (name, other) =
            kind.rule.object == .product ? ("product", "transaction") : ("transaction", "product")
        guard body.object[other] == nil else {
            throw JSONBody.invalid("The field /\(other) must be left out of \"\(kind.rawValue)\", which has /\(name).")
        }
        var fields: [StoreActionField: JSONValue] = [:]
        for field in StoreActionField.allCases {
            guard let value = body.object[field.rawValue] else { continue }
            fields[field] = value
        }
        return StoreActionRequest(
            try identifier(context), kind, of: try body.text(name),
            origin: try body.storeOrigin(), app: body.object["app"] == nil ? nil : try body.text("app"),
            reason: try Reason.read(body), fields,
            isAdditional: body.object["isAdditional"] == nil ? false : try body.flag("isAdditional"))
    }
}

extension JSONBody {
    fileprivate func storeOrigin() throws(Problem) -> Origin? {
        guard object["origin"] != nil else { return nil }
        guard let origin = Origin(listed: try text("origin")) else {
            throw Self.invalid("The field /origin must be an origin, such as apple/Production.")
        }
        return origin
    }
}

extension APIOperation {
    private static let action = Parameter.path(
        "action", "The identifier of the action: a UUID that the caller makes.", .uuid(),
        example: "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")

    static let listStoreActions = APIOperation(
        .get, "/v1/store-actions", for: .backEnd(.stores), isPerApp: true,
        "listStoreActions", "The actions that stores were asked for, newest first",
        parameters: [
            .query("state", "Only those in this state.", .one(of: StoreAction.State.self)),
            .query(
                "reference", "Only those about this transaction, original transaction or product.",
                .text(length: 1...256)),
        ],
        answers: [.page("A page of actions, newest first.", of: StoreAction.self)])

    static let readStoreAction = APIOperation(
        .get, "/v1/store-actions/{action}", for: .backEnd(.stores), isPerApp: true,
        "readStoreAction", "An action, and what the store has answered",
        parameters: [action],
        answers: [.json("The action.", StoreAction.self)])

    static let requestStoreAction = APIOperation(
        .put, "/v1/store-actions/{action}", for: .backEnd(.stores), isPerApp: true,
        "requestStoreAction", "Asks the store of a purchase for an action, such as a refund",
        details:
            "The same request again has the same action, and nothing happens twice. If the store does not answer, the service asks "
            + "again, and finds out first if it was done. With `store-action-approval`, a second person approves it before.",
        parameters: [action],
        body: HTTPSupport.RequestBody.json(
            Schema.object("The action, what it is about, its fields and the reason.").fields(storeActionFields).closed),
        answers: [.json("The action after the first attempt.", StoreAction.self)],
        or: [.conflict, .refused, .badGateway])

    private static let storeActionFields: [(name: String, schema: Schema)] =
        [
            (
                "kind",
                .one(of: StoreAction.Kind.allCases.map(\.rawValue), "The action.").example(.string("refund"))
            ),
            (
                "transaction",
                Schema.text(
                    "The charge of a refund, or any transaction of a subscription, or an order; nobody need have redeemed it. Absent for `extendAll`.",
                    length: 1...256
                ).example("2000000000000001").optional
            ),
            ("product", Schema.text("The subscription of `extendAll`; absent for others.", length: 1...256).optional),
            ("origin", Schema.text("The origin, if several may be meant.").optional),
            ("app", Schema.text("The bundle identifier, if several may be meant.", length: 1...256).optional),
            ("reason", .text("The reason, in the team's own words.", length: 1...500)),
            (
                "isAdditional",
                Schema.flag(
                    "For a moved charge, true to add to an action of the last \(StoreAction.repetitionDays) days, without which it is refused."
                ).optional
            ),
        ] + StoreActionField.allCases.map { ($0.rawValue, $0.schema.optional) }

    static let decideStoreAction = APIOperation(
        .put, "/v1/store-actions/{action}/decision", for: .backEnd(.stores), isPerApp: true,
        "decideStoreAction", "Approves an action that another person has requested, or declines one",
        parameters: [action],
        body: .json([
            "isApproved": .flag("True to approve it; false to decline it, also one's own, before the store is asked.")
        ]).described("The decision."),
        answers: [.json("The action after the decision.", StoreAction.self)],
        or: [.conflict])
}

extension StoreActionField {
    fileprivate var schema: Schema {
        let rule = rule
        return switch rule.value {
        case .flag: .flag(rule.meaning)
        case .choice(let choices): .one(of: choices.map(\.word), rule.meaning)
        case .number(let range): .integer(rule.meaning, in: range)
        case .countries(let limit): .array(of: .text(length: 3...3), rule.meaning, count: 1...limit)
        case .request: .anyObject.described(rule.meaning)
        }
    }
}

extension StoreAction: AnswerObject, Listed {
    package static let listName = "storeActions"
    package static let answerFields = AnswerFields<StoreAction>(
        "An action that a store was asked for.", named: "StoreAction"
    ) {
        $0.field("actionId", .uuid("Its identifier."), \.identifier)
        $0.field("kind", \.kind)
        $0.field("store", "The store.", \.key.origin.store.name)
        $0.field("origin", \.key.origin)
        $0.field("app", "The bundle identifier.", \.key.app)
        $0.field(
            "transaction", "The charge, or the original transaction of the subscription; absent for all subscribers.",
            \.transactionIdentifier)
        $0.field("productId", "The product.", \.productIdentifier)
        $0.field("terms", "The fields of the request.") { JSONContent(json: JSONValue.object($0.terms).compactText) }
        $0.field("reason", "The reason, in the team's own words.", \.reason)
        $0.field("state", "The state.", \.state)
        $0.field("requestedBy", "The identifier of the API key, or `member` and a name.", \.requestedBy)
        $0.keyName("requestedByName", \.requestedBy)
        $0.field("requestedAt", "When.", \.requestedAt)
        $0.field("decidedBy", "Who has approved or declined it; absent for nobody.", \.decision?.by)
        $0.keyName("decidedByName", \.decision?.by)
        $0.field("decidedAt", "When it was approved or declined.", \.decision?.at)
        $0.field("attempts", "The attempts, or after the answer the looks for its effect.", \.attempts)
        $0.field("nextAttemptAt", "The time of the next one; absent for none.", \.nextAttemptAt)
        $0.field("answer", "The answer of the store, in its words; absent before.") {
            $0.answer.flatMap { JSONContent(json: JSONValue.object($0).compactText) }
        }
        $0.field("answeredAt", "When the store has accepted or refused it.", \.answeredAt)
        $0.field("confirmedAt", "When the ledger had the store's statement of the effect.", \.confirmedAt)
        $0.field("lastError", "The error of the last attempt; absent if none.", \.lastError)
    }
}

extension StoreAction.Kind: AnswerValue {}
extension StoreAction.State: AnswerValue {}

/// The first fault of several pieces of work.
private final class FirstFault: Sendable {
    private let fault = Mutex<(any Error)?>(nil)

    func keep(_ error: any Error) { fault.withLock { $0 = $0 ?? error } }

    /// - Throws: The fault, if there was one.
    func check() throws { if let error = fault.withLock({ $0 }) { throw error } }
}

extension StoreActionService {
    /// The largest number of actions of one lane at the same time.
    private static let maximumAtOnce = 4

    /// The attempts that are due, and the looks for the stores' statements, while the service runs: one for each lane.
    package func work(logger: Logger) -> [DurableWork] {
        let actions = self
        return lanes.map { lane in
            DurableWork("store actions failed", in: entitlements.ledger, logger: logger) {
                let faults = FirstFault()
                let found = try await DurableWork.each(
                    of: { try await actions.due(in: lane, limit: DurableWork.pageSize) }, atOnce: Self.maximumAtOnce
                ) { action in
                    do { try await actions.perform(action) } catch let fault as StorageFault { throw fault } catch {
                        // The fault of one action must not end the attempts of the others.
                        faults.keep(error)
                    }
                }
                try faults.check()
                return found
            }
        }
    }
}
