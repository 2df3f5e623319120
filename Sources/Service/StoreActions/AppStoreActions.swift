import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The actions of the team at the App Store, for one app: renewal dates that are extended, and purchases that a server has described.
///
/// An extension of one subscription has no idempotency key, so an attempt after one without an answer asks first for the end of the period.
/// An extension of all subscribers has one, its request identifier.
package struct AppStoreActions: StoreActionPerformer {
    private static let transaction = "transactionId"

    let reconciler: Reconciler

    package init(by reconciler: Reconciler) { self.reconciler = reconciler }

    package var app: String { reconciler.app.bundleIdentifier }
    package var origins: Set<Origin> { reconciler.origins }

    private var client: AppStoreServerClient { reconciler.client }

    package func has(_ target: StoreActionTarget) async throws -> Bool { true }

    package func prepare(
        _ action: StoreAction, _ target: StoreActionTarget?
    ) async throws -> StoreActionPreparation {
        try await asking {
            if AdvancedCommerceOperation(action) != nil { return try await preparation(ofDescribed: action, target) }
            guard action.kind == .extend else {
                guard action.before != nil, let status = try await client.extensionStatus(of: action) else {
                    return .due([:])
                }
                return .done(status.json)
            }
            try await reconciler.recordStatuses(of: [action.key], within: .action)
            let last = try await last(of: action)
            // The store's own end: the ledger keeps an earlier one of a product that the catalog does not have.
            let stated = last.facts.date(.expiresDate) ?? last.expiresAt
            let facts: JSONObject = [
                StoreAction.endBefore: stated.map { .integer($0.millisecondsSince1970) },
                Self.transaction: .string(last.transactionIdentifier),
            ]
            guard let before = action.before else { return .due(facts) }
            let uncertain = StoreActionFailure(StoreActionError.uncertain(.appStore).rule, isFinal: true)
            guard let end = before.moment(StoreAction.endBefore), let present = stated else { throw uncertain }
            guard present > end else { return .due(facts) }
            // A renewal since then has moved the end, with or without the days.
            guard before.text(Self.transaction) == last.transactionIdentifier else { throw uncertain }
            return .done(["effectiveDate": .integer(present.millisecondsSince1970)])
        }
    }

    private func preparation(
        ofDescribed action: StoreAction, _ target: StoreActionTarget?
    ) async throws -> StoreActionPreparation {
        guard let before = action.before else {
            let paid = target?.transaction.paidBack?.amount
            return .due([StoreAction.paidBefore: paid.map { .integer($0) }])
        }
        guard action.kind == .revoke else { return .due(before) }
        // The App Store refuses to end again what an earlier attempt has ended.
        try await reconciler.recordStatuses(of: [action.key], within: .action)
        return try await last(of: action).revocationDate == nil ? .due(before) : .done([:])
    }

    private func last(of action: StoreAction) async throws -> RedeemedTransaction {
        let target = try await reconciler.service.ledger.read { try $0.target(of: action) }
        guard let last = target?.last else {
            throw StoreActionFailure(GrantError.transactionNotFound.rule, isFinal: true)
        }
        return last
    }

    package func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject {
        try await asking {
            switch action.kind {
            case .extend: try await client.extendRenewalDate(by: action)
            case .extendAll: try await client.extendRenewalDates(by: action)
            case .refund, .revoke, .cancel, .changePrice, .changeMetadata, .migrate:
                try await advancedCommerce(action, target)
            }
        }
    }

    /// The errors by which the App Store tells that it has taken an earlier request with the same identifier: RepeatedRequestReferenceIdError,
    /// and PendingRefundError and AlreadyRefundedError, which it may answer before it looks at the identifier.
    private static let taken: Set<Int64> = [4_000_097, 4_000_181, 4_030_021]

    /// Sends a request of the Advanced Commerce API. The App Store takes its identifier, which is the action's, once. Cancellations and
    /// prices change nothing twice.
    private func advancedCommerce(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject {
        guard let operation = AdvancedCommerceOperation(action), let target else {
            throw StoreActionFailure(GrantError.transactionNotFound.rule, isFinal: true)
        }
        guard case .object(let request)? = action.terms[StoreActionField.request.rawValue] else {
            throw BrokenInvariant("the terms of a store action are checked", action.identifier)
        }
        do {
            let answer = try await client.advancedCommerce(
                operation.path, of: target.transaction.transactionIdentifier,
                operation.request(request, identifiedBy: action.identifier))
            for signed in [answer.signedTransactionInfo, answer.signedRenewalInfo].compactMap(\.self) {
                try await reconciler.service.checkAnswer(signed, from: action.key.origin, of: action.key.app)
            }
            return [
                "signedTransactionInfo": .string(answer.signedTransactionInfo),
                "signedRenewalInfo": answer.signedRenewalInfo.map { .string($0) },
            ]
        } catch ReconciliationError.refused(let status, let number?) where [400, 403, 404].contains(status) {
            // The facts of an earlier attempt are in the ledger.
            if Self.taken.contains(number), action.before != nil { return [:] }
            throw StoreActionFailure(AdvancedCommerceRefusal.refused(number).rule, isFinal: true)
        }
    }

    package func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? {
        try await asking {
            // The ledger states nothing of a price or a description: the answer does.
            if [.changePrice, .changeMetadata, .migrate].contains(action.kind) { return action.answer ?? [:] }
            // Its notification tells of a refund, which the App Store may take days to decide.
            if action.kind == .refund { return nil }
            guard action.kind == .extendAll else {
                try await reconciler.recordStatuses(of: [action.key], within: .action)
                return nil
            }
            guard let status = try await client.extensionStatus(of: action), status.complete == true else { return nil }
            return status.json
        }
    }

    /// An error of the App Store as that of an action.
    private func asking<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as ReconciliationError {
            throw StoreActionFailure(error.rule, isFinal: error.isFinal || error.isIneligible)
        }
    }
}

extension ReconciliationError {
    /// True if the subscription does not qualify (403 with a code, such as `SubscriptionExtensionIneligibleError`).
    fileprivate var isIneligible: Bool { if case .refused(403, .some) = self { true } else { false } }
}
