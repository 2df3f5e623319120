import Proofs

/// The last statement of a store about a transaction: its revocation, its end, and its place among all statements.
package struct TransactionStatus: Hashable, Sendable, Codable {
    /// Nil if the transaction is not revoked.
    package var revocationDate: Timestamp?
    /// The reason in Apple's numbers.
    package var revocationReason: Int?
    /// Nil for a purchase without an end.
    package var expiresAt: Timestamp?
    package var statedAt: Timestamp
    /// The number of the question that Google Play has answered; 0 for a signed statement.
    package var statementNumber: Int64 = 0

    package var order: StatementOrder { StatementOrder(number: statementNumber, date: statedAt) }

    package var isRevoked: Bool { revocationDate != nil }

    /// True if this statement supersedes another. The later one does. Of two signed in the same millisecond, the one that revokes
    /// does, otherwise the one that ends later.
    package func isLater(than other: TransactionStatus) -> Bool {
        if order != other.order { return order > other.order }
        if isRevoked != other.isRevoked { return isRevoked }
        return (expiresAt?.millisecondsSince1970 ?? 0) > (other.expiresAt?.millisecondsSince1970 ?? 0)
    }

    /// This statement with the end of an earlier one, unless the catalog has the product. Only then a claim has an end.
    func keepingEnd(of before: TransactionStatus, unless isKnown: Bool) -> TransactionStatus {
        guard !isKnown else { return self }
        var status = self
        status.expiresAt = before.expiresAt
        return status
    }
}

extension TransactionStatus {
    package init(_ claim: Claim) {
        self.init(
            revocationDate: claim.revocationDate, revocationReason: claim.revocationReason, expiresAt: claim.expiresAt,
            statedAt: claim.signedAt, statementNumber: claim.statementNumber)
    }
}

extension StatedRenewal {
    /// True if this statement supersedes another, because it is later.
    package func isLater(than other: StatedRenewal?) -> Bool {
        guard let other else { return true }
        if order != other.order { return order > other.order }
        return other.proofDigest.lexicographicallyPrecedes(proofDigest)
    }

    /// The last one of two statements, with the settings of both, in any order of the two.
    func joined(with other: StatedRenewal?) -> StatedRenewal {
        guard let other else { return self }
        var last = isLater(than: other) ? completed(by: other) : other
        last.settings = nil
        // Nothing before counts.
        guard last.willRenew != true else { return last }
        let known = other.knownSettings
        let all = knownSettings.map { own in known.map { own.joined(with: $0) } ?? own } ?? known
        if all != last.knownSettings { last.settings = all }
        return last
    }

    /// The settings by this statement and the ones before it; nil if none has told of one.
    private var knownSettings: RenewalSettings? { settings ?? willRenew.map { RenewalSettings($0, by: order) } }

    /// The time at which renewal was first seen off since it was last on; nil if it may be on.
    ///
    /// "Date when RevenueCat detected that auto-renewal was turned off for this subscription" (purchases-kmp, `unsubscribeDetectedAt`).
    ///
    /// - Parameter purchaseDate: The purchase date of the last period. It was renewed or bought, so renewal had been on before it.
    package func turnedOffAt(inPeriodFrom purchaseDate: Timestamp) -> Timestamp? {
        guard willRenew == false else { return nil }
        return knownSettings?.firstOff(from: purchaseDate.adding(days: -Self.renewalDays)) ?? statedAt
    }

    /// True if the customer lets the subscription renew; nil if the App Store has not stated it.
    ///
    /// The App Store charges all periods of a commitment, so `autoRenewStatus` stays on after a cancellation. The commitment has
    /// a setting of its own.
    package var willRenew: Bool? {
        let isCharged = facts.bool(.autoRenewStatus)
        guard isCharged != false, let status = facts.commitmentAutoRenewStatus else { return isCharged }
        return status != Int64(AutoRenewStatus.off.rawValue)
    }

    /// The longest time for which the App Store retries a charge, in days (App Store Server Notifications,
    /// `DID_FAIL_TO_RENEW`). It is longer under a commitment.
    var billingRetryDays: Int64 {
        facts[.commitmentInfo] == nil ? Self.billingRetryDays : Self.commitmentBillingRetryDays
    }

    /// The same without a commitment.
    static let billingRetryDays: Int64 = 60
    static let commitmentBillingRetryDays: Int64 = 90

    /// The longest time before the purchase date of a period in which a statement about its renewal is signed, in days: the App
    /// Store charges within a day before a period begins.
    private static let renewalDays: Int64 = 1

    /// Returns true if the statement is about the period or a later one.
    ///
    /// - Parameters:
    ///   - purchaseDate: The purchase date of the period.
    ///   - store: The store that has stated it.
    package func counts(forPeriodFrom purchaseDate: Timestamp, of store: PurchaseStore) -> Bool {
        // A subscription that had expired (App Store Server API, `expirationIntent`) had no next period. The one that begins later is
        // another purchase of the customer, whose own statement may follow it.
        let isOver = facts[.expirationIntent] != nil && !store.endsPeriodsToCome
        let days = isOver ? 0 : Self.renewalDays
        return statedAt >= purchaseDate.adding(days: -days)
    }
}

/// The rules of facts that several statements state of one transaction.
extension TransactionFacts {
    /// The facts after a further statement, in any order of the two.
    ///
    /// The later statement wins, and the earlier one completes it. An app receipt completes signed transactions. Of two
    /// receipts, or two statements of the same millisecond, each fact takes the greater value, and each object the longer text.
    ///
    /// - Parameter numbers: The numbers of these statements, and of the other one.
    package func completed(
        by other: TransactionFacts, numbered numbers: (own: Int64, other: Int64) = (0, 0)
    ) -> TransactionFacts {
        if isEmpty || other.isEmpty { return isEmpty ? other : self }
        let (place, otherPlace) = (order(numbers.own), other.order(numbers.other))
        let (earlier, later) = place < otherPlace ? (self, other) : (other, self)
        var facts = later
        for fact in TransactionFact.allCases {
            let (before, after) = (earlier[fact], later[fact])
            // Most facts are stated alike, or not at all, and each reading of a fact's row makes the row anew.
            guard !StatedValue.isSame(before, after) else { continue }
            let field = fact.field
            facts[fact] =
                switch field.source {
                // A refund only adds to an Advanced Commerce item.
                case _ where place == otherPlace && field.kind == .object:
                    [before, after].compactMap(\.self).max { ($0.length, $0) < ($1.length, $1) }
                case _ where place == otherPlace, .appReceipts: [before, after].compactMap(\.self).max()
                case .anyStatement, .googlePlay: after ?? before
                case .lastStatement: after
                }
        }
        return facts
    }

    private func order(_ number: Int64) -> StatementOrder {
        StatementOrder(number: number, date: date(.signedDate) ?? Timestamp(millisecondsSince1970: .min))
    }
}

extension StatedValue {
    /// The bytes of a text; 0 for a number.
    fileprivate var length: Int { if case .text(let text) = self { text.utf8.count } else { 0 } }

    /// True if both are absent, or have the same number or the same bytes.
    fileprivate static func isSame(_ value: StatedValue?, _ other: StatedValue?) -> Bool {
        switch (value, other) {
        case (nil, nil): true
        case (.integer(let number), .integer(let other)): number == other
        case (.text(let text), .text(let other)): text.hasSameBytes(as: other)
        default: false
        }
    }
}

/// The identity of a transaction: its identifier within its app and origin, compared by bytes.
///
/// Xcode's identifiers begin at "0" in every app.
package struct TransactionKey: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    private let bytes: ByteKey

    package init(app: String, origin: Origin, identifier: String) {
        self.app = app
        self.origin = origin
        bytes = ByteKey(identifier)
    }

    package var identifier: String { bytes.text }

    /// Hashes only the identifier, because two apps or origins rarely share one.
    package func hash(into hasher: inout Hasher) {
        bytes.hash(into: &hasher)
    }
}

extension TransactionKey: Comparable {
    /// Orders by the bytes of the identifiers, like databases.
    package static func < (left: TransactionKey, right: TransactionKey) -> Bool {
        if left.bytes != right.bytes { return left.bytes < right.bytes }
        return (left.origin.rawValue, left.app) < (right.origin.rawValue, right.app)
    }
}

extension Claim {
    package var key: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: transactionIdentifier)
    }

    package var originalKey: TransactionKey {
        TransactionKey(app: app, origin: origin, identifier: originalTransactionIdentifier)
    }

    /// A purchase whose owner has this one, too, unless somebody else owns it: another line under the same token of Google Play, or the
    /// subscription of the App Store before it was migrated. Nil if there is none.
    package var chain: TransactionKey? {
        chainTransactionIdentifier.map { TransactionKey(app: app, origin: origin, identifier: $0) }
    }

    /// The purchase as which the subscription was sold before it moved; nil if it has not moved.
    var previous: TransactionKey? {
        facts?.text(.previousOriginalTransactionId).map { TransactionKey(app: app, origin: origin, identifier: $0) }
    }
}
