import Entitlements
import Proofs
import Vocabulary

/// The actions of the team at Google Play, for one app there.
///
/// Google's methods have no idempotency key. So an attempt after one without an answer asks first: an order says if it was refunded, and a
/// subscription says its end. A charge is moved for one version (`etag`) of a subscription, of which Google Play moves it once.
package struct GooglePlayActions: StoreActionPerformer {
    private static let etag = "etag"
    private static let order = "latestSuccessfulOrderId"

    let play: GooglePlayApp

    package init(at play: GooglePlayApp) { self.play = play }

    package var app: String { play.purchases.app.bundleIdentifier }
    package var origins: Set<Origin> { play.purchases.origins }

    package func has(_ target: StoreActionTarget) async throws -> Bool {
        play.purchases.isOwn(try await place(of: target))
    }

    private func place(of target: StoreActionTarget?) async throws -> GooglePlace? {
        guard let target else { return nil }
        return try await play.purchases.place(ofPurchase: target.transaction.originalTransactionIdentifier)
    }

    /// The place of a subscription.
    private func subscription(_ target: StoreActionTarget?) async throws -> GooglePlace {
        guard let place = try await place(of: target) else {
            // Nothing but a purchase that Google Play was never asked about has no place, such as a signed one.
            throw StoreActionFailure(PlayDeveloperError.tokenUnknown.rule, isFinal: true)
        }
        return place
    }

    private func order(of target: StoreActionTarget?) throws -> String {
        guard let order = target?.transaction.facts.text(.orderId) else {
            throw StoreActionFailure(StoreActionError.orderMissing.rule, isFinal: true)
        }
        return order
    }

    package func prepare(
        _ action: StoreAction, _ target: StoreActionTarget?
    ) async throws -> StoreActionPreparation {
        try await asking {
            switch action.kind {
            case .refund:
                guard action.before != nil, let target else { return .due([:]) }
                let known = try await play.client.order(try order(of: target), within: PlayDeveloperClient.action)
                // A part may have been paid back before, without this action.
                return known?.isRefunded == true ? .done([:]) : .due([:])
            case .revoke, .cancel, .extend:
                let place = try await subscription(target)
                let now = try await play.client.facts(ofSubscription: place.token, item: place.productIdentifier)
                return try await preparation(of: action, now, target)
            case .extendAll, .changePrice, .changeMetadata, .migrate:
                throw StoreActionFailure(Self.notPossible(action), isFinal: true)
            }
        }
    }

    /// - Parameter now: The facts of the subscription now.
    private func preparation(
        of action: StoreAction, _ now: PlayDeveloperClient.SubscriptionFacts, _ target: StoreActionTarget?
    ) async throws -> StoreActionPreparation {
        let facts: JSONObject = [
            StoreAction.endBefore: now.expiryTime.map { .integer($0.millisecondsSince1970) },
            Self.etag: now.etag.map { .string($0) }, Self.order: now.order.map { .string($0) },
        ]
        guard let before = action.before else { return .due(facts) }
        switch action.kind {
        case .revoke:
            // A subscription that has ended by itself was not paid back.
            guard now.state == "SUBSCRIPTION_STATE_EXPIRED", let order = before.text(Self.order),
                let known = try await play.client.order(order, within: PlayDeveloperClient.action),
                known.refund(of: target?.last.productIdentifier ?? action.productIdentifier) != nil
            else { return .due(facts) }
            return .done([:])
        case .cancel: return now.state == "SUBSCRIPTION_STATE_CANCELED" ? .done([:]) : .due(facts)
        case .extend:
            // Without both ends, nothing tells what an earlier attempt has done.
            guard let end = before.moment(StoreAction.endBefore), let present = now.expiryTime else {
                throw StoreActionFailure(Self.uncertain(action), isFinal: true)
            }
            if now.etag == before.text(Self.etag) || present == end { return .due(facts) }
            if present == end.adding(days: try action.days) { return .done(Self.answer(end: present)) }
            // It has renewed since, with or without the days.
            throw StoreActionFailure(Self.uncertain(action), isFinal: true)
        case .refund, .extendAll, .changePrice, .changeMetadata, .migrate: return .due(facts)
        }
    }

    package func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject {
        try await asking {
            switch action.kind {
            case .refund:
                try await play.client.refund(order: try order(of: target), revoking: action.isOn(.takesGoods))
                return [:]
            case .revoke:
                let place = try await subscription(target)
                let share = try StoreActionField.share.stated(in: action.terms)
                guard case .string(let name) = share else { return [:] }
                let item: JSONObject = name == "itemBasedRefund" ? ["productId": .string(place.productIdentifier)] : [:]
                var context = JSONObject()
                _ = context.add(name, .object(item))
                return try await play.client.call(
                    "revoke", ofSubscription: place.token, ["revocationContext": .object(context)])
            case .cancel:
                let type = try StoreActionField.stops.stated(in: action.terms)
                return try await play.client.call(
                    "cancel", ofSubscription: try await subscription(target).token,
                    ["cancellationContext": .object(["cancellationType": type])])
            case .extend:
                let context: JSONObject = [
                    "deferDuration": .string("\(try action.days * 86_400)s"), Self.etag: before[Self.etag],
                ]
                return try await play.client.call(
                    "defer", ofSubscription: try await subscription(target).token,
                    ["deferralContext": .object(context)])
            case .extendAll, .changePrice, .changeMetadata, .migrate:
                throw StoreActionFailure(Self.notPossible(action), isFinal: true)
            }
        }
    }

    /// Asks about the token, as a notification does. A consumed purchase, whose token Google Play has forgotten, has its orders.
    package func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? {
        try await asking {
            // The ledger keeps no refund of a part of what nobody has redeemed.
            if let target, !target.isClaimed { return try await answer(about: action, target) }
            guard let place = try await place(of: target) else { return nil }
            do {
                _ = try await play.refresh(place.token, within: PlayDeveloperClient.action)
            } catch let error as PlayDeveloperError where error.isOfToken {
                guard let known = try await play.purchases.purchase(of: place.token) else { throw error }
                _ = try await play.refreshOrders(ofForgotten: known)
            }
            return nil
        }
    }

    /// Google Play's own words about the effect of an action; nil before it.
    private func answer(about action: StoreAction, _ target: StoreActionTarget) async throws -> JSONObject? {
        if action.kind == .refund {
            let order = try order(of: target)
            let known = try await play.client.order(order, within: PlayDeveloperClient.action)
            return known?.isRefunded == true ? ["orderId": .string(order), "state": "REFUNDED"] : nil
        }
        let place = try await subscription(target)
        let now = try await play.client.facts(ofSubscription: place.token, item: place.productIdentifier)
        let hasEffect =
            switch action.kind {
            case .revoke: now.state == "SUBSCRIPTION_STATE_EXPIRED"
            case .cancel: ["SUBSCRIPTION_STATE_CANCELED", "SUBSCRIPTION_STATE_EXPIRED"].contains(now.state)
            case .extend:
                if let end = now.expiryTime, let before = action.before?.moment(StoreAction.endBefore) {
                    end > before
                } else {
                    false
                }
            case .refund, .extendAll, .changePrice, .changeMetadata, .migrate: false
            }
        guard hasEffect else { return nil }
        return [
            "subscriptionState": .string(now.state), "expiryTime": now.expiryTime.map { .string($0.rfc3339) },
        ]
    }

    private static func answer(end: Timestamp) -> JSONObject { ["expiryTime": .string(end.rfc3339)] }

    private static func notPossible(_ action: StoreAction) -> ErrorRule {
        StoreActionError.notPossible(store: action.key.origin.store, action.kind).rule
    }

    private static func uncertain(_ action: StoreAction) -> ErrorRule { StoreActionError.uncertain(.playStore).rule }

    /// An error of Google Play as that of an action.
    private func asking<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as PlayDeveloperError {
            throw StoreActionFailure(error.rule, isFinal: error.isFinalForAction)
        }
    }
}

extension PlayDeveloperError {
    /// True if Google Play would refuse the same action again. A service account without rights, a limited rate and a server that fails mend.
    fileprivate var isFinalForAction: Bool {
        switch self {
        case .tokenUnknown, .tokenEnded, .notThisApp, .stateInvalid, .refused: true
        case .accountRefused, .limited, .unreachable, .failed, .answerInvalid, .cancelled: false
        }
    }
}
