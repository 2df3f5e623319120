/// A sale outside Google's billing that a developer reports (`ExternalTransaction`). Google omits fields without a value.
package struct ExternalTransaction: Codable, Hashable, Sendable {
    /// A price in the older form of the API (`Price`).
    package struct Amount: Codable, Hashable, Sendable {
        package var currency: String?
        package var priceMicros: Int64Text?

        package init(currency: String?, micros: Int64) {
            (self.currency, priceMicros) = (currency, Int64Text(value: micros))
        }
    }

    package struct Address: Codable, Hashable, Sendable {
        package var regionCode: String?
        /// The state, for sales in India alone.
        package var administrativeArea: String?
    }

    package struct OneTime: Codable, Hashable, Sendable {
        /// The token that the app got, which no answer has.
        package var externalTransactionToken: String?
    }

    package struct Recurring: Codable, Hashable, Sendable {
        package var externalTransactionToken: String?
        /// The first transaction of the series.
        package var initialExternalTransactionId: String?
        package var migratedTransactionProgram: String?
        package var externalSubscription: Subscription?
        package var otherRecurringProduct: EmptyObject?
    }

    package struct Subscription: Codable, Hashable, Sendable {
        /// `RECURRING` or `PREPAID`.
        package var subscriptionType: String?
    }

    package struct OfferDetails: Codable, Hashable, Sendable {
        package var appDownloadEventExternalTransactionId: String?
        package var installedAppPackage: String?
        package var installedAppCategory: String?
        package var linkType: String?
    }

    package struct ContentLinkDetails: Codable, Hashable, Sendable {
        package var installedAppPackage: String?
        package var externalAppCategory: String?
        package var linkType: String?
    }

    package enum State: String, Codable, Sendable {
        case reported = "TRANSACTION_REPORTED"
        case canceled = "TRANSACTION_CANCELED"
    }

    package var packageName: String?
    package var externalTransactionId: String?
    package var createTime: DateTimeText?
    package var transactionTime: DateTimeText?
    package var transactionState: State?
    package var originalPreTaxAmount: Amount?
    package var originalTaxAmount: Amount?
    package var currentPreTaxAmount: Amount?
    package var currentTaxAmount: Amount?
    package var userTaxAddress: Address?
    package var transactionProgramCode: Int32?
    package var oneTimeTransaction: OneTime?
    package var recurringTransaction: Recurring?
    package var externalOfferDetails: OfferDetails?
    package var externalContentLinkDetails: ContentLinkDetails?
}

/// The body of a refund of an external transaction (`RefundExternalTransactionRequest`).
package struct ExternalRefund: Codable, Hashable, Sendable {
    package struct Partial: Codable, Hashable, Sendable {
        package var refundId: String?
        package var refundPreTaxAmount: ExternalTransaction.Amount?
    }

    package var refundTime: DateTimeText?
    package var fullRefund: EmptyObject?
    package var partialRefund: Partial?
}
