import Features
import Foundation
import Proofs

extension UserName {
    init(_ user: User) {
        self.init(issuer: user.issuer, name: user.name)
    }
}

extension KnownUserResource {
    init(_ known: KnownUser) {
        self.init(
            user: UserName(known.user), appAccountToken: known.appAccountToken.lowercasedString,
            firstSeenAt: known.firstSeenAt.rfc3339)
    }
}

extension StatedNotificationResource {
    init(_ notification: StatedNotification) {
        self.init(
            notificationUUID: notification.notificationUUID, origin: notification.origin, type: notification.type,
            subtype: notification.subtype, transactionId: notification.transactionIdentifier,
            originalTransactionId: notification.originalTransactionIdentifier,
            signedAt: notification.signedAt.rfc3339, receivedAt: notification.receivedAt.rfc3339,
            outcome: notification.outcome.rawValue, content: notification.content.flatMap(JSONContent.init(json:)))
    }
}

extension KnownPurchaseResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ purchase: KnownPurchase, naming keys: [String: String]) {
        let status = purchase.status
        self.init(
            owner: purchase.owner.map { UserName($0) }, originalTransactionId: status.originalTransactionIdentifier,
            origin: status.origin, productId: status.productIdentifier, state: status.state.rawValue,
            since: status.since.rfc3339, until: status.until?.rfc3339, renews: status.renews,
            expirationReason: status.expirationReason?.rawValue, items: purchase.items,
            transactions: purchase.transactions.map { TransactionResource($0, naming: keys) },
            notifications: purchase.notifications.map { StatedNotificationResource($0) })
    }
}

extension UnclaimedPurchaseResource {
    init(_ purchase: UnclaimedPurchase) {
        self.init(
            transactionId: purchase.transactionIdentifier,
            originalTransactionId: purchase.originalTransactionIdentifier, origin: purchase.origin,
            bundleId: purchase.app, productId: purchase.productIdentifier,
            purchaseDate: purchase.purchaseDate.rfc3339, statedAt: purchase.statedAt.rfc3339,
            revocationDate: purchase.revocationDate?.rfc3339,
            appAccountToken: purchase.appAccountToken?.lowercasedString, item: purchase.item)
    }
}

extension UnrecordedTransactionResource {
    init(_ transaction: JWSTransactionDecodedPayload, from origin: Origin) {
        self.init(
            transactionId: transaction.transactionId, originalTransactionId: transaction.originalTransactionId,
            origin: origin, bundleId: transaction.bundleId, productId: transaction.productId,
            purchaseDate: transaction.purchaseDate.rfc3339, revocationDate: transaction.revocationDate?.rfc3339,
            appAccountToken: transaction.facts.text(.appAccountToken))
    }
}

extension ExplanationResource {
    init(_ explanation: ItemExplanation) {
        self.init(
            item: explanation.item, isOwned: explanation.isOwned, cause: explanation.cause.rawValue,
            text: explanation.sentence, remedy: explanation.remedy, since: explanation.since?.rfc3339,
            until: explanation.until?.rfc3339, reference: explanation.reference, origin: explanation.origin,
            otherOwner: explanation.otherOwner.map { UserName($0) })
    }
}

extension StoryEntryResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ entry: StoryEntry, naming keys: [String: String]) {
        switch entry.content {
        case .event(let event, _, let otherOwner):
            let remedy = event.event == .refused ? event.reason.flatMap { RefusalRemedy(code: $0) } : nil
            self.init(
                happenedAt: event.happenedAt.rfc3339, kind: event.event.rawValue, text: entry.sentence,
                actor: event.actor.description, actorName: event.actor.keyIdentifier.flatMap { keys[$0] },
                subject: event.subject, reference: event.reference,
                origin: event.origin, reason: event.reason, cause: remedy?.cause, remedy: remedy?.remedy,
                otherOwner: otherOwner.map { UserName($0) })
        case .notification(let notification):
            self.init(
                happenedAt: notification.signedAt.rfc3339, kind: "notification", text: entry.sentence,
                actor: "App Store", reference: notification.transactionIdentifier, origin: notification.origin,
                notification: StatedNotificationResource(notification))
        }
    }
}

extension BalanceAdditionResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ addition: BalanceAddition, naming keys: [String: String]) {
        self.init(
            id: addition.identifier, balance: addition.balance, amount: addition.amount, reason: addition.reason,
            addedBy: addition.addedBy, addedByName: keys[addition.addedBy], addedAt: addition.addedAt.rfc3339)
    }
}
