import Foundation
import Proofs

/// A notification that a tester brings about. Apple sends it after a purchase outside the App Store, a call of the Advanced Commerce API,
/// or the decision of a child's parents. Of these, the store has the Advanced Commerce API alone.
package struct NotificationOnDemand: Hashable, Sendable, CaseIterable {
    package let type: NotificationTypeV2
    /// One of the type's subtypes; nil if the type has none.
    package let subtype: Subtype?

    package enum Subject {
        case account
        case subscription
    }

    package static let types: [NotificationTypeV2] = [
        .externalPurchaseToken, .metadataUpdate, .migration, .priceChange, .rescindConsent,
    ]
    package static let allCases = types.flatMap { type in
        let subtypes = subtypes(of: type)
        return subtypes.isEmpty ? [Self(type, nil)] : subtypes.map { Self(type, $0) }
    }
    /// The age of an external purchase token when Apple tells that it was not reported, in days (External Purchase Server API,
    /// "Reporting unrecognized and transactionless tokens").
    private static let daysUntilReminder: Int64 = 10

    private init(_ type: NotificationTypeV2, _ subtype: Subtype?) { (self.type, self.subtype) = (type, subtype) }

    /// - Throws: `StoreError`, `notificationInvalid`, for another type, and for a subtype that the type does not have.
    package init(type: String, subtype: String?) throws(StoreError) {
        guard let type = Self.types.first(where: { $0.rawValue == type }) else {
            let names = Self.types.map(\.rawValue).joined(separator: ", ")
            throw .notificationInvalid("The store sends no \"\(type.prefix(100))\" on demand. Name one of \(names).")
        }
        guard let found = Self.allCases.first(where: { $0.type == type && $0.subtype?.rawValue == subtype }) else {
            let names = Self.subtypes(of: type).map(\.rawValue).joined(separator: ", ")
            throw .notificationInvalid(
                names.isEmpty
                    ? "\(type.rawValue) has no subtype. Leave the subtype out."
                    : "\(type.rawValue) has a subtype. Name one of \(names).")
        }
        self = found
    }

    /// The type and the subtype, such as `EXTERNAL_PURCHASE_TOKEN CREATED`.
    package var name: String { [type.rawValue, subtype?.rawValue].compactMap(\.self).joined(separator: " ") }

    /// Nil for a notification about the app alone.
    package var subject: Subject? {
        switch type {
        case .externalPurchaseToken: nil
        case .rescindConsent: .account
        default: .subscription
        }
    }

    fileprivate var subjectRule: String {
        switch subject {
        case nil: "\(type.rawValue) is about the app. Name neither a transaction nor an account."
        case .account: "\(type.rawValue) is about a customer. Name the account, and no transaction."
        case .subscription: "\(type.rawValue) is about a subscription. Name one of its transactions, and no account."
        }
    }

    private static func subtypes(of type: NotificationTypeV2) -> [Subtype] {
        Subtype.allCases.filter { $0.types.contains(type) }
    }

    /// The date at which the token of an external purchase was created.
    fileprivate func tokenCreationDate(at now: Timestamp) -> Timestamp {
        subtype == .unreported ? now.adding(days: -Self.daysUntilReminder) : now
    }
}

extension Books {
    /// Creates a notification on demand, which is sent like any other.
    ///
    /// - Parameters:
    ///   - transactionIdentifier: Any transaction of the subscription that it is about.
    ///   - account: The customer that it is about. One who has bought nothing has the app, too.
    /// - Throws: `StoreError`, `notificationInvalid`, if another subject is named than the type has.
    package func notify(
        _ demanded: NotificationOnDemand,
        transactionIdentifier: String? = nil,
        account: String? = nil
    ) throws -> StoreNotification {
        guard (transactionIdentifier != nil) == (demanded.subject == .subscription),
            (account != nil) == (demanded.subject == .account)
        else { throw StoreError.notificationInvalid(demanded.subjectRule) }
        let (type, subtype) = (demanded.type, demanded.subtype)
        if let transactionIdentifier {
            let subscription = try subscription(with: transactionIdentifier)
            guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
                throw StoreError.saleNotFound(transactionIdentifier)
            }
            return try notify(type, subtype, of: latest, in: subscription)
        }
        if let account {
            try Store.check(account: account)
            return try notify(type, subtype, .appData, try issuer.appData(of: account, at: now))
        }
        let token = issuer.externalPurchaseToken(createdAt: demanded.tokenCreationDate(at: now))
        return try notify(type, subtype, .externalPurchaseToken, token)
    }
}

extension ProofIssuer {
    /// The app as an account has it (App Store Server Notifications V2, `appData`).
    fileprivate func appData(of account: String, at moment: Timestamp) throws -> StatementFields {
        [
            "appAppleId": appAppleIdentifier, "bundleId": bundleIdentifier, "environment": environment.rawValue,
            "signedAppTransactionInfo": try signedAppTransaction(appTransactionIdentifier(of: account), at: moment),
        ]
    }

    /// A new token of a purchase outside the App Store (App Store Server Notifications V2, `externalPurchaseToken`). Only its
    /// identifier tells the environment.
    fileprivate func externalPurchaseToken(createdAt creationDate: Timestamp) -> StatementFields {
        let identifier = UUID(randomness: randomness).lowercasedString
        return [
            "externalPurchaseId": environment == .production ? identifier : "SANDBOX_" + identifier,
            "tokenCreationDate": creationDate, "appAppleId": appAppleIdentifier, "bundleId": bundleIdentifier,
        ]
    }
}
