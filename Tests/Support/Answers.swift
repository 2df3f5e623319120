import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

// The service's answers with all their fields, as a client reads them. A missing field fails the test that reads the answer.

package struct GrantResource: Decodable, Listed, Sendable {
    package static let listName = "grants"

    package let grantId: String
    package let item: Item
    package let reason: String
    package let grantedBy: String
    package let grantedByName: String?
    package let grantedAt: String
    package let endsAt: String?
    package let revocation: RevocationResource?
}

package struct ExternalTransactionResource: Decodable, Listed, Sendable {
    package static let listName = "externalTransactions"

    package let externalTransactionId: String
    package let kind: String
    package let refundId: String?
    package let packageName: String
    package let program: String?
    package let linkType: String?
    package let content: JSONContent
    package let state: String
    package let attempts: Int
    package let lastError: String?
}

package struct ExternalPurchaseResource: Decodable, Listed, Sendable {
    package static let listName = "externalPurchases"

    package let externalPurchaseId: String
    package let origin: String
    package let tokenType: String?
    package let tokenExpirationDate: String?
    package let isAnnounced: Bool
    package let dueAt: String
    package let state: String
}

package struct ExternalPurchaseReportResource: Decodable, Listed, Sendable {
    package static let listName = "externalPurchaseReports"

    package let requestIdentifier: String
    package let bundleId: String
    package let lineItemIds: [String]
    package let state: String
    package let reportedBy: String?
    package let dueAt: String
    package let attempts: Int
    package let lastError: String?
    package let errors: [Mistake]?

    package struct Mistake: Decodable, Sendable {
        package let errorCode: Int
        package let fieldName: String?
        package let lineItemId: String?
    }
}

package struct StoreActionResource: Decodable, Listed, Sendable {
    package static let listName = "storeActions"

    package let actionId: String
    package let kind: String
    package let transaction: String?
    package let productId: String
    package let reason: String
    package let state: String
    package let requestedByName: String?
    package let decidedByName: String?
    package let attempts: Int
    package let nextAttemptAt: String?
    package let answer: JSONContent?
    package let lastError: String?
}

package struct RevocationResource: Decodable, Sendable {
    package let revokedAt: String
    package let reason: String
    package let revokedBy: String
    package let revokedByName: String?
}

package struct TransactionResource: Decodable, Listed, Sendable {
    package static let listName = "transactions"

    package let bundleId: String?
    package let transactionId: String
    package let originalTransactionId: String
    package let productId: String
    package let quantity: Int
    package let origin: Origin
    package let purchaseDate: String
    package let redeemedAt: String
    package let expiresDate: String?
    package let revocationDate: String?
    package let revocationReason: Int?
    package let revocation: RevocationResource?
    package let facts: [String: JSONContent]
}

package struct UserSubscriptionResource: Decodable, Listed, Sendable {
    package static let listName = "subscriptions"

    package let originalTransactionId: String
    package let origin: Origin
    package let productId: String
    package let state: String
    package let since: String
    package let until: String?
    package let renews: Bool?
    package let renewsAt: String?
    package let nextProductId: String?
    package let nextBasePlanId: String?
    package let nextPrice: Int64?
    package let nextCurrency: String?
    package let pausedUntil: String?
    package let cancelledBy: String?
    package let expirationReason: String?
}

package struct AppAccountTokenResource: Decodable, Sendable {
    package let appAccountToken: String
}

package struct SpendingResource: Decodable, Sendable {
    package let spendingId: String
    package let balance: String
    package let amount: Int
    package let left: Int
    package let reason: String
    package let spentBy: String
    package let spentByName: String?
    package let spentAt: String
}

package struct BalanceAdditionResource: Decodable, Sendable {
    package let id: String
    package let balance: String
    package let amount: Int
    package let reason: String
    package let addedBy: String
    package let addedByName: String?
    package let addedAt: String
}

package struct NotificationReceipt: Decodable, Sendable {
    package let outcome: String
}

package struct KnownUserResource: Decodable, Listed, Sendable {
    package static let listName = "users"

    package let user: UserName
    package let appAccountToken: String
    package let firstSeenAt: String
}

package struct PurchaseLookup: Decodable, Sendable {
    package let purchases: [KnownPurchaseResource]
    package let unclaimed: [UnclaimedPurchaseResource]
    package let charges: [String]
    package let orderId: String?
    package let unrecorded: [UnrecordedTransactionResource]?
}

package struct KnownPurchaseResource: Decodable, Sendable {
    package let owner: UserName?
    package let originalTransactionId: String
    package let origin: Origin
    package let productId: String
    package let state: String
    package let since: String
    package let until: String?
    package let renews: Bool?
    package let expirationReason: String?
    package let items: [Item]
    package let transactions: [TransactionResource]
    package let notifications: [StatedNotificationResource]
}

package struct StatedNotificationResource: Decodable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    package let type: String
    package let subtype: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let signedAt: String
    package let receivedAt: String
    package let outcome: String
    package let content: JSONContent?
}

package struct UnclaimedPurchaseResource: Decodable, Listed, Sendable {
    package static let listName = "purchases"

    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
    package let purchaseDate: String
    package let statedAt: String
    package let revocationDate: String?
    package let appAccountToken: String?
    package let item: Item?
}

package struct UnrecordedTransactionResource: Decodable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
    package let purchaseDate: String
    package let revocationDate: String?
    package let appAccountToken: String?
}

package struct AssignmentResource: Decodable, Sendable {
    package let transactionId: String
    package let user: UserName
    package let result: String
}

package struct ExplanationResource: Decodable, Sendable {
    package let item: Item
    package let isOwned: Bool
    package let isUserUnknown: Bool?
    package let cause: String
    package let text: String
    package let remedy: String?
    package let since: String?
    package let until: String?
    package let reference: String?
    package let origin: Origin?
    package let otherOwner: UserName?
}

package struct StoryEntryResource: Decodable, Listed, Sendable {
    package static let listName = "entries"

    package let happenedAt: String
    package let kind: String
    package let text: String
    package let actor: String
    package let actorName: String?
    package let subject: String?
    package let reference: String?
    package let origin: Origin?
    package let reason: String?
    package let cause: String?
    package let remedy: String?
    package let otherOwner: UserName?
    package let notification: StatedNotificationResource?
}

package struct AttributeResource: Decodable, Listed, Sendable {
    package static let listName = "attributes"

    package let name: String
    package let value: String
    package let statedAt: String
}

package struct AccountResource: Decodable, Sendable {
    package let accountId: String
    package let email: String?
    package let emailVerifiedAt: String?
    package let createdAt: String
}

package struct TokensResource: Decodable, Sendable {
    package let accessToken: String
    package let accessTokenExpiresAt: String
    package let refreshToken: String
    package let refreshTokenExpiresAt: String
}

package struct EntranceResource: Decodable, Sendable {
    package let account: AccountResource
    package let tokens: TokensResource
}

package struct RenewalResource: Decodable, Sendable {
    package let tokens: TokensResource
}

package struct ConfirmationResource: Decodable, Sendable {
    package let outcome: Confirmation
}

package struct AvailabilityResource: Decodable, Sendable {
    package let isAvailable: Bool
}

package struct WebhookResource: Decodable, Listed, Sendable {
    package static let listName = "webhooks"

    package let webhookId: String
    package let url: String
    package let format: String
    package let hasAuthorization: Bool
    package let createdAt: String
    package let createdBy: String
    package let createdByName: String?
    package let app: String?
    package let types: [String]?
    package let secret: String?
}

package struct WebhookSecretsResource: Decodable, Sendable {
    package let secret: String
    package let previousSecret: String?
    package let previousSecretEndsAt: String?
    package let authorization: String?
}

/// A message to a webhook, of the form of Standard Webhooks.
package struct WebhookMessageResource: Decodable, Sendable {
    package struct Content: Decodable, Sendable {
        package let user: UserName
        package let number: Int64
        package let actor: String
        package let actorName: String?
        package let app: String?
        package let transactionId: String?
        package let originalTransactionId: String?
        package let productId: String?
        package let grantId: String?
        package let item: Item?
        package let reason: String?
        package let refundedAmount: Int64?
        package let currency: String?
        package let items: JSONContent?
        package let subscriptions: JSONContent?
    }

    package let type: String
    package let timestamp: String
    package let data: Content
}

package struct WebhookDeliveryResource: Decodable, Listed, Sendable {
    package static let listName = "deliveries"

    package struct Attempt: Decodable, Sendable {
        package let attemptedAt: String
        package let status: Int?
        package let error: String?
        package let durationMilliseconds: Int64?
        package let response: String?
    }

    package let messageId: String
    package let state: String
    package let attempts: Int
    package let lastAttempt: Attempt?
    package let nextAttemptAt: String?
    package let message: WebhookMessageResource?
    package let revenueCatMessage: JSONContent?
}

package struct UserArchiveResource: Decodable, Sendable {
    package struct Session: Decodable, Sendable {
        package let beganAt: String
        package let endsAt: String
    }

    package struct Mail: Decodable, Sendable {
        package let purpose: String
        package let email: String
        package let askedAt: String
        package let sentAt: String?
    }

    package struct Wish: Decodable, Sendable {
        package let productId: String
        package let wishedAt: String
    }

    package struct Member: Decodable, Sendable {
        package let phoneNumber: String
        package let email: String
        package let fcmToken: String
        package let birth: String
        package let gender: Int
        package let joinedAt: String
    }

    package struct Event: Decodable, Sendable {
        package let happenedAt: String
        package let event: String
        package let actor: String
        package let actorName: String?
        package let origin: Origin?
        package let reference: String
        package let subject: String
        package let reason: String?
    }

    package struct ExpectedPurchase: Decodable, Sendable {
        package let originalTransactionId: String
        package let origin: Origin
        package let bundleId: String
        package let productId: String
        package let purchaseDate: String
        package let expiresAt: String?
    }

    package struct RenewalInfo: Decodable, Sendable {
        package let originalTransactionId: String
        package let origin: Origin
        package let signedDate: String
        package let facts: [String: JSONContent]
    }

    package let exportedAt: String
    package let user: UserName
    package let firstSeenAt: String
    package let appAccountToken: String
    package let aliases: [UserName]?
    package let account: AccountResource?
    package let sessions: [Session]
    package let mails: [Mail]?
    package let member: Member?
    package let attributes: [AttributeResource]
    package let nickname: String?
    package let chosen: [Item]
    package let wishes: [Wish]
    package let items: [Item]
    package let transactions: [TransactionResource]
    package let expectedPurchases: [ExpectedPurchase]?
    package let renewalInfos: [RenewalInfo]
    package let grants: [GrantResource]
    package let balances: [Credit]
    package let events: [Event]
}

package struct FigureResource: Decodable, Listed, Sendable {
    package static let listName = "figures"

    package let figure: String
    package let kind: String
    package let isMoney: Bool
    package let definition: String
}

package struct FigureAnswerResource: Decodable, Sendable {
    package struct Period: Decodable, Sendable {
        package let from: String
        package let to: String
        package let isComplete: Bool
    }

    package struct Series: Decodable, Sendable {
        package let group: String?
        package let currency: String?
        package let values: [Int64]
        package let denominators: [Int64]?
        package let parts: [String: [Int64]]?
    }

    package let figure: String
    package let environment: String
    package let by: String
    package let group: String?
    package let periods: [Period]
    package let series: [Series]
    package let pendingUsers: Int
    package let isBackfilled: Bool
}
