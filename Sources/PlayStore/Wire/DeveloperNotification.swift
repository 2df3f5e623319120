/// A real-time developer notification, as the data of a Pub/Sub message.
package struct DeveloperNotification: Codable, Hashable, Sendable {
    package static let version = "1.0"

    package struct Subscription: Codable, Hashable, Sendable {
        package var version: String?
        package var notificationType: Int32?
        package var purchaseToken: String?
        /// Google has deprecated it.
        package var subscriptionId: String?
    }

    package struct OneTimeProduct: Codable, Hashable, Sendable {
        package var version: String?
        package var notificationType: Int32?
        package var purchaseToken: String?
        package var sku: String?
    }

    package struct VoidedPurchase: Codable, Hashable, Sendable {
        package var purchaseToken: String?
        package var orderId: String?
        /// 1 a subscription, 2 a one-time product.
        package var productType: Int32?
        /// 1 all, 2 some units.
        package var refundType: Int32?
    }

    /// A question about a payment that the customer's bank disputes.
    package struct PendingRefundReview: Codable, Hashable, Sendable {
        package var version: String?
        package var pendingRefundToken: String?
        package var orderId: String?
        /// 7, a chargeback.
        package var refundReason: Int32?
        package var obfuscatedAccountId: String?
        package var obfuscatedProfileId: String?
    }

    package struct Test: Codable, Hashable, Sendable {
        package var version: String?
    }

    package var version: String?
    package var packageName: String?
    package var eventTimeMillis: Int64Text?
    package var subscriptionNotification: Subscription?
    package var oneTimeProductNotification: OneTimeProduct?
    package var voidedPurchaseNotification: VoidedPurchase?
    package var pendingRefundReviewNotification: PendingRefundReview?
    package var testNotification: Test?
}

/// The types of notifications about subscriptions.
package enum SubscriptionNotificationType: Int32, Codable, Sendable, CaseIterable {
    case recovered = 1
    case renewed = 2
    case canceled = 3
    case purchased = 4
    case onHold = 5
    case inGracePeriod = 6
    case restarted = 7
    case priceChangeConfirmed = 8
    case deferred = 9
    case paused = 10
    case pauseScheduleChanged = 11
    case revoked = 12
    case expired = 13
    case itemsChanged = 17
    case cancellationScheduled = 18
    case priceChangeUpdated = 19
    case pendingPurchaseCanceled = 20
    case priceStepUpConsentUpdated = 22
}

package enum OneTimeNotificationType: Int32, Codable, Sendable {
    case purchased = 1
    case canceled = 2
}

/// The body of a push by Pub/Sub.
package struct PushedMessage: Codable, Hashable, Sendable {
    package struct Message: Codable, Hashable, Sendable {
        /// The notification in base64.
        package let data: String
        package let messageId: String
        package let publishTime: DateTimeText

        private enum CodingKeys: String, CodingKey {
            case data
            case messageId
            case messageIdOfOldLibraries = "message_id"
            case publishTime
            case publishTimeOfOldLibraries = "publish_time"
        }

        package init(data: String, messageId: String, publishTime: DateTimeText) {
            (self.data, self.messageId, self.publishTime) = (data, messageId, publishTime)
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            data = try container.decode(String.self, forKey: .data)
            messageId = try container.decode(String.self, forKey: .messageId)
            publishTime = try container.decode(DateTimeText.self, forKey: .publishTime)
        }

        /// Pub/Sub sends both spellings of two names.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(data, forKey: .data)
            try container.encode(messageId, forKey: .messageId)
            try container.encode(messageId, forKey: .messageIdOfOldLibraries)
            try container.encode(publishTime, forKey: .publishTime)
            try container.encode(publishTime, forKey: .publishTimeOfOldLibraries)
        }
    }

    package let message: Message
    package let subscription: String
}
