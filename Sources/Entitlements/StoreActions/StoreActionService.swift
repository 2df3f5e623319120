import Foundation
import Ledger
import Proofs
import Vocabulary

/// The use cases of actions at stores: they are asked for, decided by a second person, performed, and confirmed by the store's statement.
///
/// The ledger has each request before the store is asked. An attempt whose answer is lost is followed by a question to the store, so nothing
/// is performed twice.
package struct StoreActionService: Sendable {
    package private(set) var entitlements: EntitlementService
    private let performers: [any StoreActionPerformer]
    /// The actions that a second person must approve.
    package let approved: Set<StoreAction.Kind>
    private let onOutcome: @Sendable (_ outcome: String, _ code: String) -> Void

    private var ledger: Ledger { entitlements.ledger }

    /// - Parameters:
    ///   - performers: The stores that the process can ask.
    ///   - approved: The actions that a second person must approve.
    ///   - onOutcome: Receives the outcome of each attempt, with the code of an error.
    package init(
        _ entitlements: EntitlementService, at performers: [any StoreActionPerformer] = [],
        approving approved: Set<StoreAction.Kind> = [],
        onOutcome: @escaping @Sendable (_ outcome: String, _ code: String) -> Void = { _, _ in }
    ) {
        (self.entitlements, self.performers, self.approved) = (entitlements, performers, approved)
        self.onOutcome = onOutcome
    }

    /// The same for a caller who sees and changes only what belongs to one app.
    ///
    /// - Parameter app: The bundle identifier; nil for a caller of all apps.
    package func limited(to app: String?) -> StoreActionService {
        var limited = self
        limited.entitlements = entitlements.limited(to: app)
        return limited
    }

    /// True if the process can ask the store of a purchase.
    package func canAsk(_ origin: Origin, of app: String) -> Bool {
        performers.contains { $0.app.hasSameBytes(as: app) && $0.origins.contains(origin) }
    }

    /// The actions about a purchase that `request` accepts with the right fields. What the App Store would refuse is left out: a second
    /// migration, and a request without an item that is left.
    package func offers(about reference: String, _ origin: Origin, in app: String) async throws -> [StoreActionOffer] {
        guard canAsk(origin, of: app) else { return [] }
        return try await ledger.read { transaction in
            let targets = try transaction.storeActionTargets(reference, from: origin, in: app)
            guard let target = targets.first, targets.count == 1 else { return [] }
            return StoreAction.Kind.allCases.compactMap { kind in
                guard kind.rule.object != .product, let endpoint = kind.rule.endpoint(at: origin.store) else {
                    return nil
                }
                do { try check(kind, endpoint, target) } catch { return nil }
                let facts = (kind.rule.object == .transaction ? target.transaction : target.last).facts
                let items = facts.describedItems
                let isOpen = kind == .migrate ? facts[.advancedCommerceInfo] == nil : !items.isEmpty
                return isOpen || !endpoint.isOfDescribed
                    ? StoreActionOffer(kind: kind, endpoint: endpoint, items: items) : nil
            }
        }
    }

    /// True if an item of a purchase that a server has described is in no offer, because it has another form than Apple documents.
    package func hasUnreadableItems(
        about reference: String, _ origin: Origin, in app: String
    ) async throws -> Bool {
        guard origin.store == .appStore, canAsk(origin, of: app) else { return false }
        return try await ledger.read { transaction in
            try transaction.storeActionTargets(reference, from: origin, in: app).contains {
                $0.transaction.facts.hasUnreadableItems || $0.last.facts.hasUnreadableItems
            }
        }
    }

    /// The apps and origins whose stores the process can ask for an action.
    package func places(for kind: StoreAction.Kind) -> [(app: String, origin: Origin)] {
        performers.flatMap { performer in
            performer.origins.filter {
                kind.rule.endpoint(at: $0.store) != nil && entitlements.accepted.all.contains($0)
            }
            .sorted { $0.rawValue < $1.rawValue }.map { (performer.app, $0) }
        }
    }
}

/// Requests and decisions.
extension StoreActionService {
    /// Records a request. The store is asked by `perform`, at once or by the background work.
    ///
    /// - Parameter caller: The identifier of the API key, or the member of the team.
    /// - Returns: The action: the earlier one, if the request is repeated.
    /// - Throws: `StoreActionError`; `GrantError` for an unknown transaction.
    package func request(_ request: StoreActionRequest, by caller: String) async throws -> StoreAction {
        let now = entitlements.clock.now()
        return try await ledger.write { transaction in
            let (target, key, product) = try object(of: request, transaction)
            guard let endpoint = request.kind.rule.endpoint(at: key.origin.store) else {
                throw StoreActionError.notPossible(store: key.origin.store, request.kind)
            }
            guard canAsk(key.origin, of: key.app) else { throw StoreActionError.keyMissing(store: key.origin.store) }
            try check(request.kind, endpoint, target)
            let isDecided = !approved.contains(request.kind)
            let action = StoreAction(
                request.identifier, request.kind, of: key, product, try request.terms(at: endpoint),
                reason: request.reason, by: caller, at: now, isDecided ? .waiting : .awaitingApproval,
                nextAttemptAt: isDecided ? now : nil)
            try transaction.register(app: key.app)
            let records = try transaction.storeActions
            if let known = try records.action(request.identifier) ?? records.standing(request.kind, of: key) {
                guard known.isSame(as: action) else {
                    throw known.identifier == request.identifier
                        ? StoreActionError.differs : .underWay(known.identifier)
                }
                return known
            }
            if endpoint.repetition == .addsUp, !request.isAdditional,
                let earlier = try records.accepted(
                    request.kind, of: key, since: now.adding(days: -StoreAction.repetitionDays))
            {
                throw StoreActionError.repeated(earlier.identifier, at: earlier.answeredAt ?? earlier.requestedAt)
            }
            try records.add(action, of: target?.owner)
            try transaction.audit(.storeAsked, action, target, by: AuditActor(caller: caller), action.words, at: now)
            return action
        }
    }

    /// The purchase or the product of a request, with its key.
    private func object(
        of request: StoreActionRequest, _ transaction: LedgerTransaction
    ) throws -> (StoreActionTarget?, TransactionKey, product: String) {
        let app = entitlements.limitingApp ?? request.app
        if let app, let named = request.app, !named.hasSameBytes(as: app) { throw GrantError.transactionNotFound }
        guard request.kind.rule.object != .product else {
            let places = places(for: request.kind).filter {
                (app == nil || $0.app == app) && (request.origin == nil || $0.origin == request.origin)
                    && entitlements.apps[$0.app]?.catalog.product(request.reference)?.type
                        == .autoRenewableSubscription
            }
            guard let place = places.first else {
                guard !self.places(for: request.kind).isEmpty else {
                    throw StoreActionError.keyMissing(store: .appStore)
                }
                throw StoreActionError.termsInvalid(
                    "The field /product must be a subscription of an app whose store the service can ask.")
            }
            guard places.count == 1 else { throw StoreActionError.ambiguous }
            let key = TransactionKey(app: place.app, origin: place.origin, identifier: request.reference)
            return (nil, key, request.reference)
        }
        let targets = try transaction.storeActionTargets(request.reference, from: request.origin, in: app)
        guard let target = targets.first else { throw GrantError.transactionNotFound }
        guard targets.count == 1 else { throw GrantError.transactionAmbiguous }
        let stated = target.transaction
        let isCharge = request.kind.rule.object == .transaction
        // The newest renewal stands for a subscription that nobody has redeemed. It is not the charge that the request names.
        if isCharge, target.owner == nil, stated.isSubscription,
            ![stated.transactionIdentifier, stated.facts.text(.orderId)].compactMap(\.self).contains(where: {
                $0.hasSameBytes(as: request.reference)
            })
        {
            throw GrantError.transactionNotFound
        }
        let key = TransactionKey(
            app: try stated.seller, origin: stated.origin,
            identifier: isCharge ? stated.transactionIdentifier : stated.originalTransactionIdentifier)
        return (target, key, isCharge ? stated.productIdentifier : target.last.productIdentifier)
    }

    private func check(
        _ kind: StoreAction.Kind, _ endpoint: StoreActionRule.Endpoint, _ target: StoreActionTarget?
    ) throws(StoreActionError) {
        guard let target else { return }
        // A migration is what makes a subscription one that a server has described.
        if endpoint.isOfDescribed, kind != .migrate, target.last.facts[.advancedCommerceInfo] == nil {
            throw .notPossible(store: endpoint.store, kind)
        }
        switch kind.rule.object {
        case .transaction:
            if !endpoint.isOfDescribed, target.transaction.facts[.orderId] == nil { throw .orderMissing }
        case .subscription:
            let known = entitlements.apps.type(of: target.last.productIdentifier)
            guard target.last.productType(inCatalog: known) == .autoRenewableSubscription else {
                throw .notOfSubscription
            }
        case .product: break
        }
    }

    /// Approves an action for which somebody else has asked, or declines one whose store was not asked yet.
    ///
    /// - Throws: `StoreActionError`.
    package func decide(_ identifier: String, approving isApproved: Bool, by caller: String) async throws -> StoreAction
    {
        let now = entitlements.clock.now()
        return try await ledger.write { transaction in
            let records = try transaction.storeActions
            guard let action = try records.action(identifier), sees(action) else { throw StoreActionError.unknown }
            if isApproved {
                guard action.state == .awaitingApproval else { throw StoreActionError.decided(action.state) }
                guard !action.requestedBy.hasSameBytes(as: caller) else { throw StoreActionError.ownApproval }
                guard let person = try transaction.person(of: caller) else { throw StoreActionError.personMissing }
                // A machine asks, too. Whoever holds its key as well is known by nobody but the operator (ThreatModel.md).
                if let asking = try transaction.person(of: action.requestedBy), asking.hasSameBytes(as: person) {
                    throw StoreActionError.ownApproval
                }
            } else {
                // The store may have performed an attempt.
                guard action.state == .awaitingApproval || action.state == .waiting && action.attempts == 0 else {
                    throw StoreActionError.decided(action.state)
                }
            }
            let next: Timestamp? = isApproved ? now : nil
            let isWritten = try records.write(
                [
                    "state": isApproved ? StoreAction.State.waiting : .declined, "decided_by": caller,
                    "decided_at": now,
                    "next_attempt_at": next,
                ], of: action, in: action.state)
            guard isWritten, let decided = try records.action(identifier) else {
                throw StoreActionError.decided(action.state)
            }
            try transaction.audit(
                .storeRequestDecided, action, try transaction.target(of: action), by: AuditActor(caller: caller),
                "\(isApproved ? "approved" : "declined") \(action.words)", at: now)
            return decided
        }
    }

    private func sees(_ action: StoreAction) -> Bool {
        entitlements.limitingApp.map { action.key.app.hasSameBytes(as: $0) } ?? true
    }

    /// - Throws: `StoreActionError.unknown`.
    package func action(_ identifier: String) async throws -> StoreAction {
        guard let action = try await recorded(identifier), sees(action) else { throw StoreActionError.unknown }
        return action
    }

    private func recorded(_ identifier: String) async throws -> StoreAction? {
        try await ledger.read { try $0.storeActions.action(identifier) }
    }

    /// The actions, the newest first.
    ///
    /// - Parameters:
    ///   - state: The only state; nil for all states.
    ///   - reference: The only transaction, original transaction or product; nil for all.
    package func actions(
        in state: StoreAction.State? = nil, about reference: String? = nil, after position: StoreAction.Position? = nil,
        limit: Int
    ) async throws -> [StoreAction] {
        try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: entitlements.limitingApp) else { return [] }
            return try transaction.storeActions.list(
                of: app.number, in: state, about: reference, after: position, limit: limit)
        }
    }
}

/// Attempts, and the looks for the store's statement.
extension StoreActionService {
    /// The actions of one app at one store. A store that answers slowly holds no other lane back.
    package struct Lane: Hashable, Sendable {
        /// The bundle identifier.
        let app: String
        let store: PurchaseStore
        fileprivate(set) var origins: [Origin]
    }

    /// The lanes of the stores that the process can ask, then nil for the actions of all others, whose deadlines pass, too.
    package var lanes: [Lane?] { asked + [nil] }

    private var asked: [Lane] {
        var lanes: [Lane] = []
        // An app may have several accounts at a store.
        for performer in performers {
            for origin in performer.origins.sorted(by: { $0.rawValue < $1.rawValue }) {
                let known = lanes.firstIndex {
                    $0.app.hasSameBytes(as: performer.app) && $0.store == origin.store
                }
                if let known {
                    if !lanes[known].origins.contains(origin) { lanes[known].origins.append(origin) }
                } else {
                    lanes.append(Lane(app: performer.app, store: origin.store, origins: [origin]))
                }
            }
        }
        return lanes
    }

    /// - Parameter lane: One of `lanes`.
    package func due(in lane: Lane?, limit: Int) async throws -> (due: [StoreAction], mayBeMore: Bool) {
        let (now, asked) = (entitlements.clock.now(), asked)
        let due = try await ledger.read { try $0.storeActions.due(at: now, in: lane, of: asked, limit: limit) }
        return (due, due.count == limit)
    }

    /// Does what is due for an action: an attempt, or a look for the store's statement of its effect.
    ///
    /// - Returns: The action afterwards.
    /// - Throws: `StorageFault`, and faults of the service. An error of the store is recorded.
    @discardableResult package func perform(_ action: StoreAction) async throws -> StoreAction {
        if let begun = try await begin(action) {
            switch begun.state {
            case .waiting: try await attempt(begun)
            case .accepted: try await look(at: begun)
            default: break
            }
        }
        return try await self.action(action.identifier)
    }

    /// Begins an attempt or a look, after which the next one follows a pause. A service that ends before the result tries again, too.
    ///
    /// - Returns: Nil if another process has begun one, or nothing is due.
    private func begin(_ action: StoreAction) async throws -> StoreAction? {
        let now = entitlements.clock.now()
        guard let retry = action.retry, retry.nextAttemptAt <= now else { return nil }
        let next = retry.attempted(at: now)
        return try await ledger.writeInBackground { transaction in
            let records = try transaction.storeActions
            guard
                try records.replace(
                    retry.nextAttemptAt, with: next.nextAttemptAt, attempts: next.attempts, of: action)
            else { return nil }
            return try records.action(action.identifier)
        }
    }

    /// A time in which an attempt has its answer or fails, in seconds. The next one, of this or another process, begins later: two at the
    /// same time would not see each other.
    static let longestAttempt: Int64 = 60

    private func attempt(_ action: StoreAction) async throws {
        // An earlier attempt wrote its facts, and the store may have performed it.
        let isRepeated = action.before != nil
        var isSent = isRepeated
        do {
            let target = try await ledger.read { try $0.target(of: action) }
            guard let performer = try await performer(of: action, target) else {
                throw StoreActionFailure(
                    StoreActionError.keyMissing(store: action.key.origin.store).rule, isFinal: false)
            }
            let answer: JSONObject
            switch try await performer.prepare(action, target) {
            case .done(let known): answer = known
            case .due(let before):
                // The ledger has them before the store is asked. Without them, a later attempt could not tell what this one has done.
                let now = entitlements.clock.now()
                let next = max(action.nextAttemptAt ?? now, now.adding(seconds: Self.longestAttempt))
                let isWritten = try await ledger.writeInBackground {
                    try $0.storeActions.write(
                        ["facts_before": StoreActionRecords.value(before), "next_attempt_at": next], of: action,
                        in: .waiting)
                }
                guard isWritten else { return }
                isSent = true
                answer = try await performer.perform(action, target, after: before)
            }
            try await settle(action, as: .accepted, answer, nil)
            onOutcome("accepted", "")
            if let accepted = try await recorded(action.identifier) { try await look(at: accepted) }
        } catch {
            guard !Task.isCancelled else { return }
            let failure = try failure(error)
            let isOver = failure.isFinal || action.deadline <= entitlements.clock.now()
            onOutcome(isOver ? "refused" : "failed", failure.rule.code)
            if isOver {
                // A refusal of the first attempt is the store's answer. That of a later one may be due to the first, which was performed.
                let isKnown = !isSent || failure.isFinal && !isRepeated
                let reason = isKnown ? failure.rule : StoreActionError.uncertain(action.key.origin.store).rule
                try await settle(action, as: .refused, nil, reason.detail)
            } else {
                try await note(failure, about: action)
            }
            try Self.rethrow(error)
        }
    }

    /// An error as that of an action: a fault of the service must not outlast the deadline either.
    ///
    /// - Throws: `StorageFault`. Without the ledger, nothing can be recorded, and the next attempt finds out what this one has done.
    private func failure(_ error: any Error) throws -> StoreActionFailure {
        if let fault = error as? StorageFault { throw fault }
        return error as? StoreActionFailure ?? StoreActionFailure(StoreActionError.failed.rule, isFinal: false)
    }

    /// Throws a fault of the service, which the log must have.
    private static func rethrow(_ error: any Error) throws {
        guard !(error is StoreActionFailure) else { return }
        throw error
    }

    private func performer(
        of action: StoreAction, _ target: StoreActionTarget?
    ) async throws -> (any StoreActionPerformer)? {
        for performer in performers
        where performer.app.hasSameBytes(as: action.key.app) && performer.origins.contains(action.key.origin) {
            guard let target else { return performer }
            if try await performer.has(target) { return performer }
        }
        return nil
    }

    private func note(_ failure: StoreActionFailure, about action: StoreAction) async throws {
        _ = try await ledger.writeInBackground {
            try $0.storeActions.write(["last_error": failure.rule.detail], of: action, in: action.state)
        }
    }

    /// Records the answer of the store. Who has asked, and why, is in the audit log already.
    private func settle(
        _ action: StoreAction, as state: StoreAction.State, _ answer: JSONObject?, _ error: String?,
        from former: StoreAction.State = .waiting
    ) async throws {
        let now = entitlements.clock.now()
        try await ledger.writeInBackground { transaction in
            let next: Timestamp? = state == .accepted ? now : nil
            let isWritten = try transaction.storeActions.write(
                [
                    "state": state, "answer": answer.map(StoreActionRecords.value), "answered_at": now,
                    "next_attempt_at": next, "attempts": state == .accepted ? 0 : action.attempts, "last_error": error,
                ], of: action, in: former)
            guard isWritten else { return }
            try transaction.audit(
                .storeAnswered, action, try transaction.target(of: action), by: .store(action.key.origin.store),
                "\(action.kind.rawValue) \(state.rawValue)" + (error.map { ": \($0)" } ?? ""), at: now)
        }
    }

    /// Looks for the store's statement of the effect of an accepted action. If the ledger has none, the store is asked.
    private func look(at action: StoreAction) async throws {
        if try await confirm(action, nil) { return }
        let isDeclined = try await ledger.read { try $0.isDeclined(action) }
        if isDeclined {
            return try await settle(
                action, as: .refused, action.answer, "The App Store declined the refund.", from: .accepted)
        }
        do {
            let target = try await ledger.read { try $0.target(of: action) }
            // Without a key for the store, only its notification confirms the action.
            if let performer = try await performer(of: action, target),
                try await confirm(action, try await performer.look(at: action, target))
            {
                return
            }
        } catch {
            guard !Task.isCancelled else { return }
            try await note(try failure(error), about: action)
            try await endLooks(at: action)
            return try Self.rethrow(error)
        }
        try await endLooks(at: action)
    }

    /// Ends the looks after the deadline. The action stays as the store has answered it.
    private func endLooks(at action: StoreAction) async throws {
        guard action.deadline <= entitlements.clock.now() else { return }
        let never: Timestamp? = nil
        _ = try await ledger.writeInBackground {
            try $0.storeActions.write(["next_attempt_at": never], of: action, in: .accepted)
        }
    }

    /// Confirms an action if the ledger has the store's statement of its effect.
    ///
    /// - Parameter final: The store's final answer, for an action about which the ledger has no statement; nil for none.
    private func confirm(_ action: StoreAction, _ final: JSONObject?) async throws -> Bool {
        let now = entitlements.clock.now()
        return try await ledger.writeInBackground { transaction in
            var answer = final
            if action.kind.rule.object == .product {
                answer = try answer ?? transaction.summary(of: action)
                guard answer != nil else { return false }
            } else if answer == nil {
                guard let target = try transaction.target(of: action), try transaction.isStated(action, of: target)
                else { return false }
            }
            let (never, text): (Timestamp?, String?) = (nil, (answer ?? action.answer).map(StoreActionRecords.value))
            return try transaction.storeActions.write(
                [
                    "state": StoreAction.State.confirmed, "confirmed_at": now, "next_attempt_at": never, "answer": text,
                    "last_error": String?.none,
                ], of: action, in: .accepted)
        }
    }
}

extension LedgerTransaction {
    /// The person behind a caller; nil for an API key that names none.
    fileprivate func person(of caller: String) throws -> String? {
        switch AuditActor(caller: caller) {
        case .member(let name): return name
        case .apiKey(let identifier):
            return try database.row("SELECT person FROM api_key WHERE key_id = $1", [identifier]) {
                try $0.next() as String?
            } ?? nil
        case .user, .store, .till: return nil
        }
    }

    /// Adds an event about an action to the audit log of the owner. All subscribers of a product have none, nor has a purchase that nobody
    /// has redeemed: the action itself names who has asked.
    fileprivate func audit(
        _ event: AuditEntry.Event, _ action: StoreAction, _ target: StoreActionTarget?, by actor: AuditActor,
        _ words: String, at moment: Timestamp
    ) throws {
        guard let target, let owner = target.owner else { return }
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: event, actor: actor, origin: action.key.origin, app: action.key.app,
                reference: target.transaction.transactionIdentifier, subject: target.transaction.productIdentifier,
                reason: words),
            to: owner)
    }
}
