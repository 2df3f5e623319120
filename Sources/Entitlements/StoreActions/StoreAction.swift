import Ledger
import Proofs
import Vocabulary

/// An action that the team asks a store for, such as the refund of an order: who has asked for it and why, and what the store has answered.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class StoreAction: Sendable {
    package enum State: String, CaseIterable, Sendable, SQLConvertible {
        /// A second person is to approve it.
        case awaitingApproval
        /// The store is to be asked, or its answer was lost.
        case waiting
        /// The store has agreed.
        case accepted
        /// The ledger has the store's statement of the effect.
        case confirmed
        /// The store has refused it for good.
        case refused
        /// The team has declined it.
        case declined
    }

    /// A decision of a second person, or of the one who takes the request back.
    package struct Decision: Hashable, Sendable {
        /// The identifier of the API key, or the member of the team.
        package let by: String
        package let at: Timestamp
    }

    /// The identifier, a UUID that the caller has made.
    package let identifier: String
    package let kind: Kind
    /// The transaction; of a subscription the original one; of all subscribers the product.
    package let key: TransactionKey
    package let productIdentifier: String
    /// The checked fields of the request.
    package let terms: JSONObject
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key, or the member of the team.
    package let requestedBy: String
    package let requestedAt: Timestamp
    package let state: State
    package let decision: Decision?
    package let attempts: Int
    /// The time of the next attempt, or of the next look for the store's statement; nil for none.
    package let nextAttemptAt: Timestamp?
    /// The facts at the store before the first attempt, by which a later one learns if it was performed; nil before.
    package let before: JSONObject?
    /// The answer of the store; nil without one.
    package let answer: JSONObject?
    package let answeredAt: Timestamp?
    package let confirmedAt: Timestamp?
    /// The sentence of the last attempt's error; nil if there is none.
    package let lastError: String?

    init(
        _ identifier: String, _ kind: Kind, of key: TransactionKey, _ productIdentifier: String, _ terms: JSONObject,
        reason: String, by requestedBy: String, at requestedAt: Timestamp, _ state: State,
        _ decision: Decision? = nil, attempts: Int = 0, nextAttemptAt: Timestamp?, before: JSONObject? = nil,
        answer: JSONObject? = nil, answeredAt: Timestamp? = nil, confirmedAt: Timestamp? = nil,
        lastError: String? = nil
    ) {
        (self.identifier, self.kind, self.key, self.terms) = (identifier, kind, key, terms)
        (self.productIdentifier, self.reason) = (productIdentifier, reason)
        (self.requestedBy, self.requestedAt) = (requestedBy, requestedAt)
        (self.state, self.decision) = (state, decision)
        (self.attempts, self.nextAttemptAt, self.before) = (attempts, nextAttemptAt, before)
        (self.answer, self.answeredAt) = (answer, answeredAt)
        (self.confirmedAt, self.lastError) = (confirmedAt, lastError)
    }

    /// The transaction that the request is about; nil for all subscribers.
    package var transactionIdentifier: String? { kind.rule.object == .product ? nil : key.identifier }

    /// The days by which a charge is moved.
    ///
    /// - Throws: `BrokenInvariant` for an action without days.
    package var days: Int64 {
        get throws(BrokenInvariant) {
            guard case .number(let number)? = terms[StoreActionField.days.rawValue], let days = Int64(number.text)
            else {
                throw BrokenInvariant("the terms of a store action are checked", identifier)
            }
            return days
        }
    }

    package func isOn(_ field: StoreActionField) -> Bool { terms[field.rawValue] == .bool(true) }

    /// The days after which an attempt without an answer is given up. The team can then ask again.
    private static let patienceDays: Int64 = 3
    /// The days after its answer in which the service looks for the store's statement.
    private static let confirmationDays: Int64 = 60

    /// The days after its answer in which another action that would add to it must be asked for by name.
    package static let repetitionDays: Int64 = 7

    /// The end of the attempts, or of the looks for the store's statement.
    var deadline: Timestamp {
        answeredAt?.adding(days: Self.confirmationDays)
            ?? (decision?.at ?? requestedAt).adding(days: Self.patienceDays)
    }

    /// The attempts and their pauses, which are those of acknowledgements.
    var retry: GooglePurchase.Acknowledgement? {
        nextAttemptAt.map { .init(deadline: deadline, attempts: attempts, nextAttemptAt: $0) }
    }

    /// The kind and the reason, for the audit log.
    var words: String { "\(kind.rawValue): \(reason)" }

    /// True if a repeated request asks for the same.
    func isSame(as other: StoreAction) -> Bool { kind == other.kind && key == other.key && terms == other.terms }
}

/// The request for an action.
package struct StoreActionRequest: Sendable {
    /// A UUID that the caller makes, so that a repeated request is about the same action.
    package let identifier: String
    package let kind: StoreAction.Kind
    /// The transaction, or the product of an action about all subscribers.
    package let reference: String
    /// Nil if only one origin is meant.
    package let origin: Origin?
    /// The bundle identifier; nil if only one app is meant.
    package let app: String?
    package let reason: String
    /// The fields of the request, which are not checked.
    package let fields: [StoreActionField: JSONValue]
    /// True if its effect is to add to that of an earlier action. Otherwise a lately repeated one is refused.
    package let isAdditional: Bool

    package init(
        _ identifier: String, _ kind: StoreAction.Kind, of reference: String, origin: Origin?, app: String?,
        reason: String, _ fields: [StoreActionField: JSONValue], isAdditional: Bool = false
    ) {
        (self.identifier, self.kind, self.reference) = (identifier, kind, reference)
        (self.origin, self.app, self.reason, self.fields) = (origin, app, reason, fields)
        self.isAdditional = isAdditional
    }

    /// The same request about another name of its purchase.
    package func naming(_ reference: String) -> StoreActionRequest {
        StoreActionRequest(
            identifier, kind, of: reference, origin: origin, app: app, reason: reason, fields,
            isAdditional: isAdditional)
    }

    /// The fields in the form that the ledger keeps, with those that are left out.
    ///
    /// - Throws: `StoreActionError.termsInvalid`.
    func terms(at endpoint: StoreActionRule.Endpoint) throws(StoreActionError) -> JSONObject {
        if let other = fields.keys.filter({ !endpoint.fields.contains($0) }).map(\.rawValue).min() {
            let names = endpoint.fields.map(\.rawValue).joined(separator: ", ")
            throw .termsInvalid(
                "The field /\(other) is not one of \"\(kind.rawValue)\" at \(endpoint.store.nameInSentence): leave it out. It has \(names)."
            )
        }
        var terms = JSONObject()
        for field in endpoint.fields {
            guard let value = field.checked(fields[field], at: endpoint) else {
                throw .termsInvalid("The field /\(field.rawValue) must be \(field.expected(at: endpoint)).")
            }
            _ = terms.add(field.rawValue, value)
        }
        return terms
    }
}

/// An action about a purchase for which the service can ask its store.
package struct StoreActionOffer: Sendable {
    package let kind: StoreAction.Kind
    package let endpoint: StoreActionRule.Endpoint
    /// The items of a purchase that a server has described; none of another one.
    package let items: [DescribedItem]
}

/// The purchase of an action in the ledger.
package struct StoreActionTarget: Sendable {
    /// The number of the owner; nil for a purchase that nobody has redeemed.
    let owner: Int64?
    /// The transaction of the action.
    package let transaction: RedeemedTransaction
    /// The last transaction of its purchase.
    package let last: RedeemedTransaction
    /// The statement about the renewal of a purchase that nobody has redeemed; nil without one.
    var unclaimedRenewal: StatedRenewal?

    package var isClaimed: Bool { owner != nil }
}

/// The error of a store about an action.
package struct StoreActionFailure: Error {
    /// The code and the sentence.
    package let rule: ErrorRule
    /// True if the store would refuse a retry.
    package let isFinal: Bool

    package init(_ rule: ErrorRule, isFinal: Bool) {
        (self.rule, self.isFinal) = (rule, isFinal)
    }
}

/// The result of a question to a store before an attempt.
package enum StoreActionPreparation: Sendable {
    /// An earlier attempt, whose answer was lost, was performed.
    case done(JSONObject)
    /// The facts before the action, by which a later attempt learns if it was performed.
    case due(JSONObject)
}

/// A store that performs actions for one app.
package protocol StoreActionPerformer: Sendable {
    /// The bundle identifier.
    var app: String { get }
    var origins: Set<Origin> { get }

    /// True if the store's account has the purchase: an app of the catalog may have several there.
    func has(_ target: StoreActionTarget) async throws -> Bool

    /// Asks for the facts before an attempt. If there was one, it asks first if that was performed.
    ///
    /// - Throws: `StoreActionFailure`; `StorageFault`.
    func prepare(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> StoreActionPreparation

    /// Performs an action, once.
    ///
    /// - Parameter before: The facts, which the ledger has.
    /// - Returns: The answer of the store.
    /// - Throws: `StoreActionFailure`; `StorageFault`.
    func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject

    /// Asks the store about an accepted action, and records what it states.
    ///
    /// - Returns: The final answer about all subscribers, or about a purchase that nobody has redeemed; nil if the ledger says if the action
    ///   has taken effect.
    /// - Throws: `StoreActionFailure`; `StorageFault`.
    func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject?
}
